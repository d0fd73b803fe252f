"""Steps of a claimed call: what may follow what, and that nothing else may."""

import pytest

from interlock.core.approval import APPROVAL_TRANSITIONS, ApprovalState
from interlock.core.effect import TRANSITIONS, CallEvent, CallState, Effect
from tests.golden import check_golden


def test_the_states_of_calls_and_approvals_are_those_a_reviewer_has_seen() -> None:
    lines = ["A claimed call", ""]
    lines += [f"  {state:10} + {event:24} -> {to}" for (state, event), to in TRANSITIONS.items()]
    lines += [f"  {state:10} is final" for state in CallState if state.is_final]
    lines += ["", "An approval", ""]
    lines += [f"  {asked:10} + {vote:24} -> {to}" for (asked, vote), to in APPROVAL_TRANSITIONS.items()]
    left = {state for state, _ in APPROVAL_TRANSITIONS}
    lines += [f"  {asked:10} is final" for asked in ApprovalState if asked not in left]
    check_golden("effect_states.txt", "\n".join(lines) + "\n")


def test_nothing_leaves_a_final_state_and_everything_leaves_the_others() -> None:
    left = {state for state, event in TRANSITIONS if event is not CallEvent.GO_ON}
    assert left == {state for state in CallState if not state.is_final}


@pytest.mark.requirement("EXEC-9")
def test_of_what_has_ended_only_what_was_done_in_part_may_go_on() -> None:
    assert [step for step in TRANSITIONS if step[1] is CallEvent.GO_ON] == [(CallState.PARTIAL, CallEvent.GO_ON)]


def test_only_proof_or_a_new_claim_leaves_unknown() -> None:
    leaves = {event for state, event in TRANSITIONS if state is CallState.UNKNOWN}
    assert CallEvent.LOSE_OUTCOME not in leaves
    assert leaves == set(CallEvent) - {CallEvent.LOSE_OUTCOME, CallEvent.GO_ON}


@pytest.mark.requirement("TOOL-2")
def test_only_reads_change_nothing_and_only_reads_and_idempotent_writes_may_be_repeated() -> None:
    assert {each for each in Effect if not each.is_effect} == {Effect.READ}
    assert {each for each in Effect if each.repeatable} == {Effect.READ, Effect.IDEMPOTENT_WRITE}
    assert [each.value for each in Effect] == ["read", "idempotent_write", "write", "destructive"]


def test_what_was_done_in_full_or_in_part_was_done() -> None:
    assert {state for state in CallState if state.was_done} == {CallState.SUCCEEDED, CallState.PARTIAL}
