"""Whoever cannot move a version is told of what stands in the way, and of nothing else."""

import pytest

from interlock.core.lifecycle import MOVES, Lifecycle, Need
from interlock.core.move_gates import Halt
from interlock.doors.cli.move_steps import OTHERWISE, step_of

WAYS = [(state, to) for state, ways in MOVES.items() for to in ways]


@pytest.mark.requirement("DOOR-6")
@pytest.mark.parametrize(("state", "to"), WAYS)
@pytest.mark.parametrize("need", Need)
def test_each_need_of_a_gate_has_a_step_which_says_whether_it_may_be_waived(
    state: Lifecycle, to: Lifecycle, need: Need
) -> None:
    if need not in MOVES[state][to].needs:
        return
    step = step_of(Halt("save draft", "1", state, to, (need,)))
    assert "{" not in step
    assert ("--waive" in step) == (need in MOVES[state][to].waivable)
    assert "save draft" not in step.replace("'save draft'", "")
    others = step_of(Halt("save draft", "1", state, to, tuple(each for each in Need if each is not need)))
    assert step.split(". ")[0].rstrip(".") not in others


def test_a_retirement_before_its_day_is_told_the_day() -> None:
    halt = Halt("pay", "2", Lifecycle.AVAILABLE, Lifecycle.RETIRED, (Need.NOTICE,), retires_us=86_400_000_000)
    assert step_of(halt).startswith("Give the command again on 1970-01-02; `interlock tools keep pay --reason WHY`")


@pytest.mark.parametrize(
    ("state", "to", "says"),
    [
        (Lifecycle.RETIRED, Lifecycle.AVAILABLE, "Retired is for good: publish a new version."),
        (Lifecycle.CANDIDATE, Lifecycle.FROZEN, "from candidate to restricted, available, quarantined."),
        (Lifecycle.QUARANTINED, None, "from quarantined to restricted, available."),
    ],
)
def test_where_no_way_leads_there_it_says_which_do(state: Lifecycle, to: Lifecycle | None, says: str) -> None:
    assert says in step_of(Halt("pay", "2", state, to))


def test_what_is_there_already_is_shown_with_the_stops_that_close_it() -> None:
    there = Halt("pay", "2", Lifecycle.FROZEN, Lifecycle.FROZEN)
    assert step_of(there) == "`interlock tools show pay` says where its versions stand."
    stopped = step_of(Halt("pay", "2", Lifecycle.AVAILABLE, stops=("s1",)))
    assert stopped.startswith("`interlock tools release --stop s1 --reason WHY` lifts a stop. `interlock tools show")
    assert step_of(None) == OTHERWISE
