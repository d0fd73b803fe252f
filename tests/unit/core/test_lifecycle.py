"""The tables of the lifecycle: total, closed where they must be, and never a way back from retired."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.lifecycle import (
    ALLOWED,
    CLOSED,
    MOVES,
    OPEN,
    Lifecycle,
    Need,
    Use,
    drains,
    precedence,
    refusal,
)

pytestmark = pytest.mark.requirement("REG-2")

STATES = st.sampled_from(Lifecycle)


def test_every_state_says_of_every_use_whether_it_is_allowed() -> None:
    assert {*ALLOWED} == {*MOVES} == {*Lifecycle}
    assert all({*row} == {*Use} for row in ALLOWED.values())


def test_what_takes_no_calls_takes_none_of_a_bound_run_that_does_not_drain() -> None:
    for state in CLOSED:
        assert refusal(state, Use.BOUND_RUN) is not None
        assert not drains(state, Use.BOUND_RUN, until_us=None, now_us=0)
        assert not drains(state, Use.CALL, until_us=10, now_us=0)
    assert {state for state in Lifecycle if drains(state, Use.BOUND_RUN, until_us=10, now_us=9)} == {Lifecycle.RETIRED}
    assert not drains(Lifecycle.RETIRED, Use.BOUND_RUN, until_us=10, now_us=10)


def test_nothing_of_what_is_frozen_or_quarantined_runs() -> None:
    for state in (Lifecycle.FROZEN, Lifecycle.QUARANTINED):
        for use in (Use.NEW_PIN, Use.BOUND_RUN, Use.CALL, Use.CODE):
            assert refusal(state, use) is not None


def test_a_name_means_what_was_closed_by_a_person_before_it_falls_back_on_what_is_open_to_few() -> None:
    order = sorted(Lifecycle, key=precedence)
    assert order[:3] == [Lifecycle.CANDIDATE, Lifecycle.RETIRED, Lifecycle.RESTRICTED]
    assert precedence(Lifecycle.FROZEN) == precedence(Lifecycle.AVAILABLE) == precedence(Lifecycle.QUARANTINED)


def test_what_closes_needs_a_reason_and_nothing_else() -> None:
    for moves in MOVES.values():
        for to in (Lifecycle.FROZEN, Lifecycle.QUARANTINED):
            if to in moves:
                assert moves[to].needs == (Need.REASON,)


def test_every_move_needs_a_reason_that_nobody_can_waive() -> None:
    assert all(Need.REASON in gate.firm for moves in MOVES.values() for gate in moves.values())
    assert not [gate for moves in MOVES.values() for gate in moves.values() if gate.firm & gate.waivable]


def test_what_opens_more_needs_no_less() -> None:
    for state in MOVES:
        if {Lifecycle.RESTRICTED, Lifecycle.AVAILABLE} <= {*MOVES[state]} and state is not Lifecycle.QUARANTINED:
            few, all_ = MOVES[state][Lifecycle.RESTRICTED], MOVES[state][Lifecycle.AVAILABLE]
            assert {*few.needs} < {*all_.needs}


@given(STATES, st.lists(STATES))
def test_retired_is_for_good_whatever_is_asked_for(state: Lifecycle, asked: list[Lifecycle]) -> None:
    path = [state]
    for each in asked:
        if each in MOVES[path[-1]]:
            path.append(each)
    if Lifecycle.RETIRED in path:
        assert path.index(Lifecycle.RETIRED) == len(path) - 1
    assert Lifecycle.CANDIDATE not in path[1:]


def test_a_quarantined_version_opens_only_by_a_review_that_nobody_waives() -> None:
    for to in OPEN & {*MOVES[Lifecycle.QUARANTINED]}:
        assert Need.REVIEW in MOVES[Lifecycle.QUARANTINED][to].firm
    assert Lifecycle.FROZEN not in MOVES[Lifecycle.QUARANTINED]
