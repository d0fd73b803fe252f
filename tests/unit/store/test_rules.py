"""The guards that every store shares, as tables."""

from dataclasses import fields, replace

import pytest

from interlock.core.approval import ApprovalState, Binding
from interlock.core.effect import CallEvent, CallState
from interlock.core.errors import VersionExists
from interlock.core.recovery import NO_LOOKS, Looks
from interlock.ports import ApprovalChange, OpenCall
from interlock.store.rules import (
    checked_version,
    denied_in_run,
    is_key_over,
    is_same_question,
    is_unknown_still,
    is_usable,
    may_fuse,
    may_look_up,
    may_take_over,
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


def test_what_claims_a_call_anew_is_not_settling() -> None:
    assert settled_state(CallState.CLAIMED, what=CallEvent.TAKE_OVER) is None
    assert settled_state(CallState.PARTIAL, what=CallEvent.GO_ON) is None
    assert settled_state(CallState.UNKNOWN, what=CallEvent.FAIL) is CallState.FAILED


@pytest.mark.requirement("APR-4")
@pytest.mark.parametrize("state", ApprovalState)
def test_an_approval_is_usable_while_it_is_granted(state: ApprovalState) -> None:
    asking = values.asking("k")
    granted = values.granted(asking).changed
    approval = replace(granted, state=state)
    intent = values.resumed(asking)
    assert is_usable(approval, intent=intent) is (state is ApprovalState.GRANTED)
    assert not is_usable(approval, intent=replace(intent, at_us=NOW_US + DAY_US))
    assert not is_usable(approval, intent=replace(intent, operation=values.operation("k")))
    assert not is_usable(None, intent=intent)


@pytest.mark.requirement("APR-2")
def test_an_approval_that_nobody_voted_for_is_not_usable_whatever_its_state_says() -> None:
    asking = values.asking("k")
    forged = replace(asking.approval, state=ApprovalState.GRANTED)
    assert not is_usable(forged, intent=values.resumed(asking))
    assert is_usable(values.granted(asking).changed, intent=values.resumed(asking))


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
    assert is_same_question(asked, standing=asked)
    assert not is_same_question(asked, standing=replace(asked, tenant="globex"))
    assert not is_same_question(replace(asked, key=None), standing=replace(asked, key=None))


@pytest.mark.requirement("APR-2")
@pytest.mark.parametrize("differs", [each.name for each in fields(Binding)])
def test_the_same_question_is_bound_to_the_same_in_all_respects(differs: str) -> None:
    asked = values.asking("k").approval
    other = replace(asked, binding=replace(asked.binding, **{differs: "another"}))
    assert not is_same_question(other, standing=asked)


@pytest.mark.requirement("APR-3")
def test_the_same_question_keeps_from_deciding_all_who_asked_it() -> None:
    asked = values.asking("k").approval
    edited = replace(asked, requesters=asked.requesters | {"bob"})
    assert not is_same_question(edited, standing=asked)
    assert is_same_question(asked, standing=edited)


def test_a_version_changes_its_state_and_never_its_digest() -> None:
    found = values.registered("a")
    assert checked_version(found, stored=None)
    assert not checked_version(found, stored=found)
    assert checked_version(found, stored=replace(found, retirement="{}"))
    with pytest.raises(VersionExists):
        checked_version(found, stored=replace(found, digest="2" * 64))


def found(state: CallState) -> OpenCall:
    """A call as recovery has found it."""
    return OpenCall(values.operation("k"), state, 3, NOW_US, orphaned=True, taken_over=False)


@pytest.mark.requirement("IDEM-4")
@pytest.mark.parametrize("state", CallState)
def test_a_call_is_taken_over_as_it_was_found_and_from_nobody_at_work_on_a_claim(state: CallState) -> None:
    is_open = state in (CallState.CLAIMED, CallState.UNKNOWN)
    call = found(state)
    assert may_take_over(call, state=state, fence=3, at_work=False) is is_open
    assert may_take_over(call, state=state, fence=3, at_work=True) is (state is CallState.UNKNOWN)
    assert not may_take_over(call, state=state, fence=4, at_work=False)
    for other in set(CallState) - {state}:
        assert not may_take_over(call, state=other, fence=3, at_work=False)


@pytest.mark.parametrize("state", CallState)
def test_something_is_said_of_an_unknown_call_only_as_it_was_found(state: CallState) -> None:
    call = found(CallState.UNKNOWN)
    assert is_unknown_still(call, state=state, fence=3) is (state is CallState.UNKNOWN)
    assert not is_unknown_still(call, state=state, fence=4)


def test_of_those_who_would_look_a_call_up_one_counts_and_nobody_while_work_on_it_goes_on() -> None:
    call, unknown = found(CallState.UNKNOWN), CallState.UNKNOWN
    assert may_look_up(call, state=unknown, fence=3, at_work=False, looks=NO_LOOKS)
    assert not may_look_up(call, state=unknown, fence=3, at_work=True, looks=NO_LOOKS)
    assert not may_look_up(call, state=unknown, fence=3, at_work=False, looks=Looks(1))
    assert not may_look_up(call, state=unknown, fence=4, at_work=False, looks=NO_LOOKS)
    assert not may_look_up(call, state=CallState.CLAIMED, fence=3, at_work=False, looks=NO_LOOKS)


@pytest.mark.requirement("APR-3", "APR-4")
def test_a_grant_stands_for_the_same_question_while_its_votes_meet_what_is_required_now() -> None:
    first = values.asking("k")
    asked, granted = first.approval, values.granted(first).changed
    assert is_same_question(asked, standing=granted)
    assert not is_same_question(asked, standing=replace(granted, votes=()))
    assert not is_same_question(replace(asked, requirement=replace(asked.requirement, quorum=2)), standing=granted)
    assert not is_same_question(replace(asked, asked_at_us=granted.expires_at_us), standing=granted)
    for state in set(ApprovalState) - {ApprovalState.PENDING, ApprovalState.GRANTED}:
        assert not is_same_question(asked, standing=replace(granted, state=state))
