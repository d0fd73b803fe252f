"""What came of an example is held against what it expects, place by place."""

from typing import Any

import pytest

from interlock.core.canonical import canonical
from interlock.core.example import Answer, ExampleKind, ExampleWorld, Expected
from interlock.core.example_check import Came, contradictions, differences
from interlock.core.observation import Observation, Problem, Status
from interlock.core.refusals import Code
from interlock.core.tool import Document
from tests.library import example


def seen(data: Any = None, status: Status = Status.OK, **more: Any) -> Observation:
    return Observation("c", "look", "1", status, canonical(data), **more)


def paths(expected: Expected, came: Came, kind: ExampleKind = ExampleKind.TYPICAL) -> list[str]:
    return [each.path for each in differences(example(expected=expected, kind=kind), came)]


def wants(data: Any, **more: Any) -> Expected:
    return Expected(status=Status.OK, data=Document.of(data), **more)


@pytest.mark.parametrize(
    ("wanted", "got", "found"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, []),
        ({"a": 1}, {"a": True}, ["data/a"]),
        ({"a": {"b": 1}}, {"a": {}}, ["data/a/b"]),
        ([1, {"a": 1}], [1, {"a": 1, "c": 3}], []),
        ([1], [1, 2], ["data"]),
        ({"a/b": 1}, {"a/b": 2}, ["data/a~1b"]),
        ("x", "y", ["data"]),
    ],
)
def test_data_is_matched_in_part_and_each_difference_has_its_place(wanted: Any, got: Any, found: list[str]) -> None:
    assert paths(wants(wanted), Came(seen(got))) == found


def test_data_may_be_held_against_a_schema() -> None:
    expected = Expected(status=Status.OK, data_schema=Document.of({"type": "string"}))
    assert paths(expected, Came(seen("x"))) == []
    assert paths(expected, Came(seen(1))) == ["data"]


def test_a_code_that_nobody_expected_is_a_difference() -> None:
    came = Came(seen(status=Status.FAILED, error=Problem(Code.TOOL_ERROR, "no", {"tool_code": "GONE"})))
    assert paths(Expected(status=Status.FAILED), came, ExampleKind.WRONG) == ["code"]
    right = Expected(status=Status.FAILED, code="TOOL_ERROR", tool_code="GONE")
    assert paths(right, came, ExampleKind.WRONG) == []
    other = Expected(status=Status.FAILED, code="TOOL_ERROR", tool_code="AWAY")
    assert paths(other, came, ExampleKind.WRONG) == ["tool_code"]


def test_effects_roles_and_replays_are_counted_where_they_are_expected() -> None:
    came = Came(seen(), effects=2, roles=("approver",))
    assert paths(Expected(status=Status.OK, effects=1), came) == ["effects"]
    assert paths(Expected(status=Status.OK, effects=0), came) == ["effects"]
    assert paths(Expected(status=Status.OK, roles=("approver", "lead")), came) == ["roles"]
    assert paths(Expected(status=Status.OK, replayed=True), came) == ["replayed"]
    assert paths(Expected(status=Status.OK, effects=2, roles=("approver",), replayed=False), came) == []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"kind": ExampleKind.PERMISSION_DENIED}, "permission_denied ends refused, not ok"),
        ({"world": ExampleWorld(answers=(Answer(hangs=True, lost=True),))}, "either fails, hangs or is lost"),
        ({"world": ExampleWorld(answers=(Answer(),), fixture="m:f")}, "answers and a fixture"),
        ({"world": ExampleWorld(answers=(Answer(),), real=True)}, "is real and says"),
        ({"raw": "{", "arguments": Document.of({"a": 1})}, "arguments and raw text"),
        ({"expected": Expected(status=Status.OK, data_schema=Document.of(3))}, "no JSON Schema"),
    ],
)
def test_an_example_that_contradicts_itself_says_where(changes: dict[str, Any], says: str) -> None:
    assert says in "; ".join(contradictions(example(**changes)))


def test_an_example_that_means_one_thing_contradicts_nothing() -> None:
    assert contradictions(example(world=ExampleWorld(answers=(Answer(fails="GONE"),)))) == ()
