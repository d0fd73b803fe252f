"""Every step of both tables is legal and every other is refused; nothing leads out of an end, all lead to one."""

import pytest

from interlock.loop.machine import CALL, OVER, RUN, CallCause, CallStage, Cause, IllegalStep, State, after

LEGAL = [(state, cause) for state, steps in RUN.items() for cause in steps]
ILLEGAL = [(state, cause) for state in State for cause in Cause if cause not in RUN[state]]
ALWAYS = {
    Cause.STOPPED: State.STOPPED,
    Cause.GAVE_UP: State.FAILED,
    Cause.CANCELLED: State.CANCELLED,
    Cause.OVER_LIMIT: State.ABORTED,
}

pytestmark = pytest.mark.requirement("LOOP-1")


@pytest.mark.parametrize(("state", "cause"), LEGAL)
def test_a_step_of_the_table_leads_where_the_table_says(state: State, cause: Cause) -> None:
    assert after(state, (cause,)) is RUN[state][cause]


def test_every_other_step_is_refused_with_both_words() -> None:
    for state, cause in ILLEGAL:
        with pytest.raises(IllegalStep, match=f"{state.value} cannot be {cause.value}"):
            after(state, (cause,))
    assert len(LEGAL) + len(ILLEGAL) == len(State) * len(Cause)


def test_the_table_is_whole_and_an_end_is_an_end() -> None:
    assert RUN.keys() == set(State)
    assert {state for state in State if not RUN[state]} == OVER == {state for state in State if state.is_over}


@pytest.mark.parametrize("state", [state for state in State if not state.is_over])
def test_whatever_is_not_over_can_be_cancelled_stopped_fail_and_run_into_a_limit(state: State) -> None:
    assert {cause: RUN[state][cause] for cause in ALWAYS} == ALWAYS


def test_every_state_can_be_reached_and_every_cause_moves_something() -> None:
    assert _reached(State.START) == set(State)
    assert {cause for _, cause in LEGAL} == set(Cause)


@pytest.mark.parametrize("state", [state for state in State if not state.is_over])
def test_a_run_can_complete_from_wherever_it_is(state: State) -> None:
    assert State.COMPLETE in _reached(state)


def test_calls_run_only_behind_a_response_that_called_or_a_rest_among_calls() -> None:
    """Nothing but a turn that may call, a decision, and coming back leads to the calls."""
    into = {(state, cause) for state, cause in LEGAL if RUN[state][cause] is State.TOOLS and state is not State.TOOLS}
    assert into == {
        (State.MODEL_RESPONSE, Cause.CALLED),
        (State.WAITING_APPROVAL, Cause.DECIDED),
        (State.PAUSED, Cause.BACK_TO_TOOLS),
        (State.WAITING_HUMAN, Cause.BACK_TO_TOOLS),
    }


def test_the_machine_of_calls_is_whole_and_each_way_ends() -> None:
    ends = {stage for stage in CallStage if not CALL[stage]}
    assert CALL.keys() == set(CallStage)
    assert ends == {CallStage.RECORD_RESULT, CallStage.TOOL_ERROR_RESULT}
    assert {cause for steps in CALL.values() for cause in steps} == set(CallCause)
    assert {to for steps in CALL.values() for to in steps.values()} == set(CallStage) - {CallStage.VALIDATE}


def test_a_call_executes_only_behind_a_claim_and_is_claimed_only_where_it_was_allowed() -> None:
    steps = [(stage, cause, to) for stage, each in CALL.items() for cause, to in each.items()]
    assert [(stage, cause) for stage, cause, to in steps if to is CallStage.EXECUTE] == [
        (CallStage.CLAIM, CallCause.CLAIMED)
    ]
    assert [(stage, cause) for stage, cause, to in steps if to is CallStage.CLAIM] == [
        (CallStage.AUTHORIZE, CallCause.ALLOWED)
    ]


def test_a_decision_is_judged_anew_before_anything_is_claimed() -> None:
    assert CALL[CallStage.WAIT_APPROVAL][CallCause.DECIDED] is CallStage.AUTHORIZE
    assert CALL[CallStage.CLAIM][CallCause.CHANGED] is CallStage.AUTHORIZE


def _reached(start: State) -> set[State]:
    found, open_ = {start}, [start]
    while open_:
        following = set(RUN[open_.pop()].values()) - found
        found |= following
        open_ += following
    return found
