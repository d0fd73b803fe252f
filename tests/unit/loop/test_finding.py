"""What is offered of too many tools follows from the journal alone, in one order, and within a bound."""

import dataclasses

import pytest

from interlock.core.observation import Observation, Status
from interlock.loop.entries import Begun
from interlock.loop.finding import FIND_TOOLS, Touched, found_in, offered_names, touched
from tests.unit.loop.journal import Journal, seen

pytestmark = pytest.mark.requirement("REG-10")


def searched(data: bytes, *, tool: str = FIND_TOOLS, status: Status = Status.OK) -> Observation:
    return dataclasses.replace(seen(status, tool=tool), data_json=data)


def over(kept: tuple[str, ...] = ("a", "b"), found_max: int = 3) -> Begun:
    return dataclasses.replace(Journal().view.begun, kept={"a": kept}, found_max=found_max)


def names(*touches: Touched, turn: int = 9, agent: str = "a", found_max: int = 3) -> tuple[str, ...] | None:
    return offered_names(over(found_max=found_max), touches, agent=agent, turn=turn)


def found(turn: int, *tools: str, agent: str = "a") -> Touched:
    return Touched(agent, turn, tools, is_found=True)


def called(turn: int, tool: str) -> Touched:
    return Touched("a", turn, (tool,), is_found=False)


def test_what_was_found_stands_behind_what_was_there_each_once() -> None:
    assert names() == ("a", "b")
    assert names(found(1, "x", "b"), found(2, "y", "x")) == ("a", "b", "x", "y")


def test_what_is_found_in_a_turn_is_offered_in_the_next() -> None:
    assert names(found(3, "x"), turn=3) == ("a", "b")
    assert names(found(3, "x"), turn=4) == ("a", "b", "x")


def test_what_was_used_longest_ago_makes_room_and_the_others_keep_their_places() -> None:
    touches = [found(1, "x", "y"), found(2, "z"), called(3, "x")]
    assert names(*touches, found(4, "v")) == ("a", "b", "x", "z", "v")
    assert names(*touches, found(4, "v"), found(5, "y")) == ("a", "b", "x", "v", "y")


def test_of_one_search_what_fitted_least_makes_room() -> None:
    assert names(found(1, "best", "good", "poor"), found_max=2) == ("a", "b", "best", "good")


def test_a_call_finds_nothing() -> None:
    assert names(called(1, "x")) == ("a", "b")


def test_each_agent_has_what_it_found_itself() -> None:
    assert names(found(1, "x", agent="b")) == ("a", "b")
    assert names(found(1, "x"), agent="b") is None


def test_only_a_search_that_ended_well_finds_something() -> None:
    data = b'{"tools": [{"name": "x"}, {"name": 7}, "y", {"name": "z"}]}'
    assert found_in(searched(data)) == ("x", "z")
    assert found_in(searched(data, tool="search")) == ()
    assert found_in(searched(data, status=Status.FAILED)) == ()


@pytest.mark.parametrize("data", [b"null", b"[]", b'{"tools": "x"}', b'{"tools": {"name": "x"}}', b"{}"])
def test_a_result_that_is_none_of_ours_finds_nothing(data: bytes) -> None:
    assert found_in(searched(data)) == ()


def test_a_call_counts_for_agents_that_have_too_many_tools() -> None:
    data = b'{"tools": [{"name": "x"}]}'
    assert touched(over(), searched(data), agent="a", turn=2) == found(2, "x")
    assert touched(over(), searched(b"1", tool="x"), agent="a", turn=2) == called(2, "x")
    assert touched(over(), searched(data), agent="b", turn=2) is None
