"""The guards that every store shares, as tables."""

from dataclasses import replace

import pytest

from interlock.core.approval import ApprovalState
from interlock.core.effect import CallEvent, CallState
from interlock.core.errors import VersionExists
from interlock.ports import ApprovalChange
from interlock.store.rules import (
    checked_version,
    denied_in_run,
    is_key_over,
    is_same_question,
    is_usable,
    may_fuse,
    settled_state,
    still_as_expected,
)
from interlock.testing.store_values import DAY_US, NOW_US, Values

values = Values()


TAKES = ({"fused": False}, {"approval": "a"}, {"continues": "c"}, {"event": values.event()})


@pytest.mark.parametrize("changed", TAKES)
def test_only_what_takes_nothing_that_outlives_the_process_may_be_held_in_memory(changed: dict[str, object]) -> None:
    read = values.read()
    assert may_fuse(read)
    assert not may_fuse(replace(read, **changed))  # type: ignore[arg-type]  # each value fits its own name
    assert not may_fuse(replace(read, operation=values.operation("k")))


@pytest.mark.requirement("IDEM-2", "IDEM-3")
@pytest.mark.parametrize("state", CallState)
def test_a_key_is_over_by_proof_or_by_the_lifetime_of_what_has_ended(state: CallState) -> None:
    ended = state in (CallState.SUCCEEDED, CallState.PARTIAL, CallState.FAILED)
    released = state is CallState.RELEASED
    assert is_key_over(state, until_us=5, at_us=4) is released
    assert is_key_over(state, until_us=5, at_us=5) is (ended or released)


def test_taking_over_is_not_settling() -> None:
    assert settled_state(CallState.CLAIMED, what=CallEvent.TAKE_OVER) is None
    assert settled_state(CallState.UNKNOWN, what=CallEvent.FAIL) is CallState.FAILED


@pytest.mark.requirement("APR-4")
@pytest.mark.parametrize("state", ApprovalState)
def test_an_approval_is_usable_while_it_is_granted(state: ApprovalState) -> None:
    asking = values.asking("k")
    approval = replace(asking.approval, state=state)
    intent = values.resumed(asking)
    assert is_usable(approval, intent=intent) is (state is ApprovalState.GRANTED)
    assert not is_usable(approval, intent=replace(intent, at_us=NOW_US + DAY_US))
    assert not is_usable(approval, intent=replace(intent, operation=values.operation("k")))
    assert not is_usable(None, intent=intent)


def test_a_change_needs_state_and_votes_as_expected() -> None:
    approval = values.asking().approval
    change = ApprovalChange(approval, approval, values.event())
    assert still_as_expected(approval, change=change)
    assert not still_as_expected(replace(approval, state=ApprovalState.VOID), change=change)
    assert not still_as_expected(None, change=change)


def test_only_a_denial_within_a_run_is_remembered_by_it() -> None:
    approval = replace(values.asking().approval, state=ApprovalState.DENIED)
    event = values.event()
    assert denied_in_run(ApprovalChange(approval, approval, event)) == ("run-1", approval.binding.operation_digest)
    assert denied_in_run(ApprovalChange(approval, replace(approval, run=None), event)) is None
    assert denied_in_run(ApprovalChange(approval, replace(approval, state=ApprovalState.EXPIRED), event)) is None


@pytest.mark.requirement("APR-5")
def test_the_same_question_has_the_same_key_and_tenant() -> None:
    asked = values.asking("k").approval
    assert is_same_question(asked, pending=asked)
    assert not is_same_question(asked, pending=replace(asked, tenant="globex"))
    assert not is_same_question(replace(asked, key=None), pending=replace(asked, key=None))


def test_a_version_changes_its_state_and_never_its_digest() -> None:
    found = values.registered("a")
    assert checked_version(found, stored=None)
    assert not checked_version(found, stored=found)
    assert checked_version(found, stored=replace(found, replacement="b"))
    with pytest.raises(VersionExists):
        checked_version(found, stored=replace(found, digest="2" * 64))
