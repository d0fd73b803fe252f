"""A listed schema is shown with its words cleaned, holds arguments to what it names, and hides nothing."""

from typing import Any

import pytest

from interlock.core.errors import SpecInvalid
from interlock.importers.mcp_schema import closed, readable

pytestmark = pytest.mark.requirement("REG-9")


def of(schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema}}


def test_words_are_cleaned_and_bounded_and_all_else_is_left() -> None:
    found = readable(of({"type": "string", "description": "A\u200b" + "b" * 2_000, "enum": ["x", "y"], "default": "x"}))
    a: Any = found["properties"]
    assert (len(a["a"]["description"]), a["a"]["description"][:2]) == (1_000, "Ab")
    assert (a["a"]["enum"], a["a"]["default"]) == (["x", "y"], "x")


def test_a_property_may_be_called_as_a_keyword() -> None:
    schema = {"type": "object", "properties": {"description": {"type": "string"}, "enum": {"description": "E\u200b"}}}
    assert readable(schema)["properties"] == {"description": {"type": "string"}, "enum": {"description": "E"}}


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        (of({"enum": ["a\u200b"]}), "nobody sees"),
        (of({"default": "\u202e"}), "nobody sees"),
        ({"type": "object", "properties": {"a\u200b": {}}}, "nobody sees"),
        (of({"$ref": "file:///etc/passwd"}), "does not hold"),
        (of({"$ref": "https://evil.test/x.json"}), "does not hold"),
        (of({"type": "strnig"}), "does not hold"),
        (of({"type": "integer", "default": "x"}), "does not hold"),
    ],
)
def test_what_hides_something_or_does_not_hold_is_refused(schema: Any, says: str) -> None:
    with pytest.raises(SpecInvalid, match=says):
        readable(schema)


def test_a_bomb_of_references_is_refused_at_once() -> None:
    bomb: Any = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)} | {"d40": {}}
    with pytest.raises(SpecInvalid, match="does not hold"):
        readable({"type": "object", "$defs": bomb, "properties": {"a": {"$ref": "#/$defs/d0"}}})


def test_a_default_of_null_that_does_not_fit_is_no_default() -> None:
    found: Any = readable(of({"type": "string", "default": None}))
    assert found["properties"]["a"] == {"type": "string"}
    kept: Any = readable(of({"type": ["string", "null"], "default": None}))
    assert kept["properties"]["a"]["default"] is None


@pytest.mark.parametrize(
    ("schema", "is_closed"),
    [
        ({"type": "object", "properties": {}}, True),
        ({"type": "object"}, False),
        ({"properties": {}, "additionalProperties": True}, False),
        ({"properties": {}, "anyOf": [{"properties": {"x": {}}}]}, False),
    ],
)
def test_arguments_that_are_not_named_are_not_taken_where_that_was_left_open(schema: Any, is_closed: bool) -> None:
    assert (closed(schema) == {**schema, "additionalProperties": False}) is is_closed
