"""The arguments of a compensating call are made of what was done, and a declaration that leads nowhere is refused."""

from typing import Any

import pytest

from interlock.core.compensation import Original, Unmade, compensating, wrong_with
from interlock.core.effect import Effect
from interlock.core.tool import Document, Entrypoint, Parameter, ParameterSource, ToolSpec

pytestmark = pytest.mark.requirement("IDEM-6")

CANCEL = {"order_id": {"type": "string"}, "why": {"type": "string", "minLength": 3}, "count": {"type": "number"}}
ORDER = {"item": {"type": "string"}, "ids": {"type": "array"}, "count": {"type": "integer"}}
RESULT: Any = {"id": {"type": "string"}, "lines": {"type": "array"}, "price": {"type": "number"}}


def spec(name: str, properties: Any, *, required: tuple[str, ...] = (), **changed: Any) -> ToolSpec:
    schema = Document.of({"type": "object", "properties": properties, "required": [*required]})
    python = Entrypoint("python", "m:f", "0" * 64)
    given = {"name": name, "description": name, "input_schema": schema, "handler": python, "effect": Effect.WRITE}
    return ToolSpec(**{**given, **changed})


def order(template: Any = None) -> ToolSpec:
    arguments = None if template is None else Document.of(template)
    results = Document.of({"type": "object", "properties": RESULT})
    return spec("order", ORDER, compensate="cancel", compensate_arguments=arguments, output_schema=results)


def cancel(**changed: Any) -> ToolSpec:
    return spec("cancel", CANCEL, **{"required": ("order_id",), **changed})


IDS: list[Any] = ["a", "b", 3]
DONE = Original("op-1", {"item": "x", "ids": IDS, "count": 2}, {"id": "o1", "lines": [{"n": 7}], "none": None})


@pytest.mark.parametrize(
    ("template", "made"),
    [
        ({"order_id": "$result.id"}, {"order_id": "o1"}),
        ({"order_id": "$operation", "why": "$$5 back"}, {"order_id": "op-1", "why": "$5 back"}),
        ({"order_id": "$arguments.item", "count": "$arguments.count"}, {"order_id": "x", "count": 2}),
        ({"a": {"b": ["$result.lines.0.n", "fix"]}}, {"a": {"b": [7, "fix"]}}),
        ({"all": "$done.ids", "whole": "$result"}, {"all": IDS, "whole": DONE.result}),
        ({}, {}),
    ],
)
def test_places_hold_what_was_done(template: Any, made: Any) -> None:
    assert compensating(order(template), DONE, other=cancel()) == made


def test_without_a_template_the_arguments_of_the_same_names_are_given() -> None:
    assert compensating(order(), DONE, other=cancel()) == {"count": 2}


@pytest.mark.parametrize("place", ["$result.gone", "$result.lines.9", "$result.none", "$arguments.item.deeper"])
def test_a_place_where_nothing_stands_makes_no_call(place: str) -> None:
    found = compensating(order({"order_id": place}), DONE, other=cancel())
    assert isinstance(found, Unmade)
    assert place in found.why


@pytest.mark.requirement("EXEC-9")
def test_of_what_was_done_in_part_only_that_part_is_undone() -> None:
    partly = Original("op-1", DONE.arguments, DONE.result, frozenset({"b", "3"}))
    assert compensating(order({"all": "$done.ids"}), partly, other=cancel()) == {"all": ["a"]}
    found = compensating(order({"order_id": "$arguments.item"}), partly, other=cancel())
    assert found == Unmade("It was done in part, and its compensation does not say which items to undo.")
    assert isinstance(compensating(order(), partly, other=cancel()), Unmade)


@pytest.mark.parametrize(
    ("template", "other", "says"),
    [
        ({"order_id": "$result.id"}, None, "there is no tool of that name"),
        ({"order_id": "$result.id"}, cancel(effect=Effect.READ), "which only reads"),
        ({"order": "$result.id"}, cancel(), "does not take (is it order_id?)"),
        ({"why": "because"}, cancel(), "lacks 'order_id', which cancel needs"),
        ({"order_id": "$results.id"}, cancel(), "is no place"),
        ({"order_id": "$arguments.itm"}, cancel(), "the input schema lacks (is it item?)"),
        ({"order_id": "$arguments"}, cancel(), "the input schema lacks"),
        ({"order_id": "$result.idd"}, cancel(), "the output schema lacks (is it id?)"),
        ({"order_id": "$result.price"}, cancel(), "gives order_id a number; it takes a string"),
        ({"order_id": "$result.id", "why": "x"}, cancel(), "does not fit cancel"),
        (None, cancel(), "lacks 'order_id'"),
        ([], cancel(), "must be an object"),
    ],
)
def test_a_compensation_that_could_never_be_called_is_refused(template: Any, other: ToolSpec | None, says: str) -> None:
    assert says in "; ".join(wrong_with(order(template), other))


def test_a_sound_one_is_not() -> None:
    for template in (
        {"order_id": "$result.id", "why": "undone", "count": "$arguments.count"},
        {"order_id": "$operation"},
    ):
        assert list(wrong_with(order(template), cancel())) == []


def test_what_is_injected_into_the_other_tool_is_not_given() -> None:
    who = Parameter("why", source=ParameterSource.CONTEXT, inject="principal")
    other = cancel(parameters=(who,), required=("order_id", "why"))
    assert list(wrong_with(order({"order_id": "$result.id"}), other)) == []
    assert "does not take" in "; ".join(wrong_with(order({"order_id": "$result.id", "why": "because"}), other))


def test_a_tool_does_not_undo_itself() -> None:
    itself = spec("cancel", CANCEL, compensate="cancel", required=("order_id",))
    assert "which is itself" in "; ".join(wrong_with(itself, cancel()))
