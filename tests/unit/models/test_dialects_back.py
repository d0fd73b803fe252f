"""Null goes where something was not sent, and back, and nothing else changes."""

from typing import Any

from interlock.models.dialects_back import Form, without_marks
from interlock.models.dialects_parts import OPTIONAL_MARK

OBJECT: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": ["string", "null"]}, "b": {"type": "integer"}},
    "required": ["a", "b"],
    OPTIONAL_MARK: ["a"],
}


def form_of(schema: dict[str, Any]) -> Form:
    return Form(*without_marks(schema))


def test_the_marks_are_taken_out_and_kept_by_where_they_were() -> None:
    root: dict[str, Any] = {"properties": {"x/y": {"items": {"anyOf": [OBJECT]}}}, "$defs": {"d": OBJECT}}
    sent, marks = without_marks(root)
    assert OPTIONAL_MARK not in str(sent)
    assert marks == {"/properties/x~1y/items/anyOf/0": frozenset("a"), "/$defs/d": frozenset("a")}


def test_null_is_taken_away_only_where_it_stands_for_nothing() -> None:
    form = form_of(OBJECT)
    assert form.back({"a": None, "b": None, "c": None}) == {"b": None, "c": None}
    assert form.there({"b": 1}) == {"a": None, "b": 1}


def test_the_first_alternative_that_fits_counts() -> None:
    other = OBJECT | {
        "properties": {"a": {"type": ["string", "null"]}, "k": {"const": "other"}},
        "required": ["a", "k"],
    }
    kept = {name: value for name, value in other.items() if name != OPTIONAL_MARK}
    form = form_of({"type": "object", "properties": {"x": {"anyOf": [kept, OBJECT]}}})
    assert form.back({"x": {"a": None, "k": "other"}}) == {"x": {"a": None, "k": "other"}}
    assert form.back({"x": {"a": None, "b": 1}}) == {"x": {"b": 1}}
    assert form.there({"x": {"b": 1}}) == {"x": {"a": None, "b": 1}}


def test_references_are_followed() -> None:
    form = form_of({"properties": {"x": {"type": "array", "items": {"$ref": "#/$defs/d"}}}, "$defs": {"d": OBJECT}})
    assert form.back({"x": [{"a": None, "b": 1}, 5]}) == {"x": [{"b": 1}, 5]}


def test_what_is_no_such_value_stays_as_it_is() -> None:
    values: list[Any] = [None, 5, "x", [None], {"x": 1}]
    for value in values:
        assert form_of({"properties": {"x": OBJECT}}).back(value) == value
    assert Form({}).back({"a": None}) == {"a": None}
