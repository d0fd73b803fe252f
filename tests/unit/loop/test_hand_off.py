"""To whom a task was handed is read from what the tool gave back, and is one of those whom its agent may hand it to."""

import dataclasses

import pytest

from interlock.core.observation import Status
from interlock.loop.agent import Agent
from interlock.loop.hand_off import HAND_OFF, handed_to, is_tool_of, narrowed
from tests.unit.loop.journal import AGENTS, seen

pytestmark = pytest.mark.requirement("LOOP-10")


def handed(data: bytes, *, tool: str = HAND_OFF, status: Status = Status.OK) -> tuple[str, str] | None:
    return handed_to(dataclasses.replace(seen(status, tool=tool), data_json=data), AGENTS[0])


def test_it_is_handed_to_one_that_the_tool_names() -> None:
    assert handed(b'{"agent": "b", "message": "go on"}') == ("b", "go on")


@pytest.mark.parametrize("data", [b'{"agent": "a", "message": "x"}', b'{"agent": 7}', b"[]", b'"b"', b"null"])
def test_nothing_else_hands_it_over(data: bytes) -> None:
    assert handed(data) is None


def test_no_other_tool_and_no_call_that_went_wrong_hands_it_over() -> None:
    data = b'{"agent": "b", "message": "go on"}'
    assert handed(data, tool="search") is None
    assert handed(data, status=Status.REFUSED) is None


def test_an_agent_is_told_those_whom_it_may_hand_it_to_and_what_for() -> None:
    agents = {"a": Agent("a", hand_offs=("b", "c")), "b": Agent("b", description="bakes"), "c": Agent("c")}
    schema = narrowed({"type": "object", "properties": {"message": {"type": "string"}}}, agents["a"], agents)
    properties = schema["properties"]
    assert isinstance(properties, dict)
    assert properties["agent"] == {"type": "string", "enum": ["b", "c"], "description": "who takes over: b: bakes; c"}
    assert properties["message"] == {"type": "string"}


def test_an_agent_has_what_it_names_and_hands_off_where_there_is_somebody_to_hand_to() -> None:
    names = ("search", "save", HAND_OFF)
    for agent, has in (
        (Agent("a"), [True, True, False]),
        (Agent("a", tools=("save",), hand_offs=("b",)), [False, True, True]),
        (Agent("a", tools=(HAND_OFF,)), [False, False, False]),
    ):
        assert [is_tool_of(agent, name) for name in names] == has
