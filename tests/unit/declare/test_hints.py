"""A type hint and its schema accept the same values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from typing import Annotated, Any, Literal, NewType, NotRequired, Optional, Required, TypedDict
from uuid import UUID

import pytest

from interlock.core.canonical import Json
from interlock.core.errors import SpecInvalid
from interlock.core.schema import compile_schema
from interlock.declare.arg import Arg
from interlock.declare.hints import Hints


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1


@dataclass
class Node:
    name: str
    children: "list[Node]" = field(default_factory=list)
    weight: float = 1.5


class Draft(TypedDict):
    id: Required[str]
    note: NotRequired[Annotated[str, "A remark."]]


class Loose(TypedDict, total=False):
    id: str


class Model:
    @staticmethod
    def model_json_schema() -> dict[str, object]:
        return {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "string"}}}


DraftId = NewType("DraftId", str)


@pytest.mark.requirement("TOOL-5")
@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (None, {"type": "null"}),
        (Any, {}),
        (int | None, {"type": ["integer", "null"]}),
        (Optional[str], {"type": ["string", "null"]}),  # noqa: UP045 - the old spelling is what is tested
        (list[int] | str, {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "string"}]}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal[1, "b", None], {"enum": [1, "b", None]}),
        (Color, {"type": "string", "enum": ["red", "blue"]}),
        (Level, {"type": "integer", "enum": [1]}),
        (list, {"type": "array"}),
        (list[str], {"type": "array", "items": {"type": "string"}}),
        (Sequence[str], {"type": "array", "items": {"type": "string"}}),
        (list[Any], {"type": "array"}),
        (set[int], {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}),
        (frozenset[int], {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (dict, {"type": "object"}),
        (dict[str, Any], {"type": "object"}),
        (Mapping[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (datetime, {"type": "string", "format": "date-time"}),
        (date, {"type": "string", "format": "date"}),
        (time, {"type": "string", "format": "time"}),
        (UUID, {"type": "string", "format": "uuid"}),
        (Decimal, {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]+)?$"}),
        (Path, {"type": "string"}),
        (DraftId, {"type": "string"}),
        (Annotated[str, "A name."], {"type": "string", "description": "A name."}),
        (Annotated[int, Arg(ge=1, lt=9, multiple_of=2)],
         {"type": "integer", "minimum": 1, "exclusiveMaximum": 9, "multipleOf": 2}),
        (Annotated[list[str], Arg(min_length=1, max_length=3)],
         {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3}),
        (list[Annotated[str, Arg(max_length=5)]], {"type": "array", "items": {"type": "string", "maxLength": 5}}),
    ],
)  # fmt: skip
def test_hints_of_json_types_have_the_schema_that_says_the_same(hint: object, schema: dict[str, Json]) -> None:
    assert Hints().schema(hint) == schema


def test_a_tuple_of_fixed_length_accepts_just_that() -> None:
    compiled = compile_schema(Hints().schema(tuple[int, str]))
    assert compiled.is_valid([1, "a"])
    wrong: list[Json] = [[1], [1, "a", 2], ["a", 1]]
    assert not any(map(compiled.is_valid, wrong))


def test_typed_dicts_are_closed_objects_with_their_required_keys() -> None:
    assert Hints().schema(Draft) == {
        "type": "object",
        "properties": {"id": {"type": "string"}, "note": {"type": "string", "description": "A remark."}},
        "required": ["id"],
        "additionalProperties": False,
    }
    assert Hints().schema(Loose)["required"] == []
    assert "additionalProperties" not in Hints(closed=False).schema(Draft)


def test_a_type_that_holds_itself_becomes_a_definition() -> None:
    reading = Hints()
    schema = {**reading.schema(Node), "$defs": reading.definitions}
    compiled = compile_schema(schema)
    assert compiled.is_valid({"name": "a", "children": [{"name": "b", "children": [], "weight": 2}]})
    assert not compiled.is_valid({"name": "a", "children": [{"nome": "b"}]})
    assert reading.definitions["Node"]["required"] == ["name"]  # type: ignore[index, call-overload]


def test_a_model_that_describes_itself_is_taken_at_its_word_and_closed() -> None:
    reading = Hints()
    found = reading.schema(Model)
    assert found == {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "additionalProperties": False}
    assert reading.definitions == {"A": {"type": "string"}}


@pytest.mark.parametrize("hint", [object(), dict[int, str], complex, bytes, "Nowhere"])
def test_a_hint_without_a_schema_is_refused(hint: object) -> None:
    with pytest.raises(SpecInvalid):
        Hints().schema(hint)
