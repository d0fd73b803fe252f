"""What a turn does to its run, and which limit a run has run into: from the turn and the view alone."""

import pytest

from interlock.core.observation import Status
from interlock.core.refusals import Code
from interlock.loop.entries import Faulted
from interlock.loop.limits import RunLimits
from interlock.loop.machine import RUN, Cause, State
from interlock.loop.verdict import LastTurn, calls_over, judged, last_turn, over
from interlock.models.turn import Ended, Proposed, Turn
from interlock.testing.models import Call
from tests.unit.loop.journal import READ, Journal, seen

CALL = Proposed(0, "w", "w", "search", "{}")
OPEN_CALL = Proposed(0, "w", "w", "search", "{}", closed=False)


@pytest.mark.requirement("LOOP-3")
@pytest.mark.parametrize("ended", Ended)
@pytest.mark.parametrize("last", [None, LastTurn("rounds", "rounds (at most 2)", "It is your last turn.")])
def test_every_end_of_a_turn_does_something_that_the_machine_allows_and_one_alone_runs_calls(
    ended: Ended, last: LastTurn | None
) -> None:
    cause, why = judged(Turn("text", (CALL,), ended), last=last)
    assert cause in RUN[State.MODEL_RESPONSE]
    assert (cause is Cause.CALLED) is (ended is Ended.CALLS_ALLOWED and last is None)
    if cause is Cause.NOTHING_RAN and ended is not Ended.PAUSED:
        assert why.endswith(".")


@pytest.mark.requirement("LOOP-3")
def test_a_turn_none_of_whose_calls_was_closed_runs_nothing() -> None:
    assert judged(Turn("", (OPEN_CALL,), Ended.CALLS_ALLOWED), last=None)[0] is Cause.NOTHING_RAN


@pytest.mark.requirement("LOOP-1", "BUD-1")
@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (RunLimits(rounds=1), "rounds"),
        (RunLimits(tokens=30), "tokens"),
        (RunLimits(cost_micros=0), "cost_micros"),
        (RunLimits(working_s=0.005), "working_s"),
        (RunLimits(repeats=1), "repeats"),
    ],
)
def test_whatever_is_used_up_ends_a_run_before_it_is_asked_again(limits: RunLimits, reason: str) -> None:
    journal = Journal(limits)
    journal.responds(READ)
    journal.observes(seen(Status.FAILED, Code.TOOL_ERROR))
    broken = over(journal.view, now_us=1)
    assert broken is not None
    assert (broken[0], broken[1].reason) == (Cause.OVER_LIMIT, reason)
    assert broken[1].why


@pytest.mark.requirement("BUD-1")
def test_time_that_was_spent_on_a_model_that_did_not_answer_ends_a_run_too() -> None:
    journal = Journal(RunLimits(working_s=5))
    journal.write(Faulted("busy", 503, 9, 6_000), Cause.FAULTED)
    broken = over(journal.view, now_us=1)
    assert broken is not None
    assert broken[1].reason == "working_s"


@pytest.mark.requirement("LOOP-8")
@pytest.mark.parametrize("cause", [Cause.PAUSED, Cause.HANDED_OVER])
def test_a_run_that_rests_runs_into_its_calendar_and_into_its_wait_whichever_is_first(cause: Cause) -> None:
    journal = Journal(RunLimits(waits_s=1), expires_us=10_000_000)
    journal.moves(cause, at_us=1_000_000)
    assert over(journal.view, now_us=2_000_000) is None
    assert over(journal.view, now_us=2_000_001)[1].reason == "waits_s"  # type: ignore[index]
    assert over(journal.view, now_us=10_000_000)[1].reason == "expired"  # type: ignore[index]


@pytest.mark.requirement("BUD-1")
def test_the_last_turn_is_told_what_is_left() -> None:
    journal = Journal(RunLimits(rounds=2, tokens=100, calls=1))
    assert last_turn(journal.view) is None
    journal.responds(READ)
    journal.observes(seen())
    last = last_turn(journal.view)
    assert last is not None
    assert (last.limit, last.limits) == ("rounds", "rounds (at most 2), calls (at most 1)")
    assert "(no further turn, no further call)" in last.note
    journal = Journal(RunLimits(tokens=80))
    journal.responds(READ)
    journal.observes(seen())
    last = last_turn(journal.view)
    assert last is not None
    assert (last.limit, "(50 of 80 tokens left)" in last.note) == ("tokens", True)


@pytest.mark.requirement("BUD-1")
def test_calls_past_the_limit_are_those_that_stand_last_and_past_that_of_their_tool() -> None:
    journal = Journal(RunLimits(calls=4, calls_per_tool={"save": 1}))
    calls: list[Call] = [("search", {}), ("save", {}), ("save", {}), ("search", {}), ("search", {})]
    journal.responds(calls)
    placed = [(place, name) for place, (name, _) in enumerate(calls)]
    assert calls_over(journal.view, placed) == {2: "calls of save: 1 of 1", 4: "calls: 4 of 4"}
