"""Each part of a schema is said in the words that a dialect has, and told where it has none."""

from typing import Any

import pytest

from interlock.models.dialects import Dialect, Projection, project
from interlock.models.dialects_parts import hinted, or_null


def part_of(schema: Any, dialect: Dialect) -> tuple[Any, list[str]]:
    found = project({"type": "object", "properties": {"a": schema}, "required": ["a"]}, dialect=dialect)
    assert isinstance(found, Projection)
    members: Any = found.schema["properties"]
    return members["a"], [loss.words for loss in found.losses if loss.pointer]


@pytest.mark.parametrize(
    ("schema", "dialect", "part"),
    [
        (
            {"type": "string", "minLength": 2},
            Dialect.ANTHROPIC_STRICT,
            {"type": "string", "description": "(minLength: 2)"},
        ),
        ({"type": "string", "pattern": "a"}, Dialect.OPENAI_CHAT_STRICT, {"type": "string", "pattern": "a"}),
        (
            {"type": "string", "format": "uri", "description": "Where."},
            Dialect.OPENAI_CHAT_STRICT,
            {"type": "string", "description": 'Where. (format: "uri")'},
        ),
        (
            {"type": "integer", "default": 10},
            Dialect.OPENAI_CHAT_STRICT,
            {"type": "integer", "description": "(default: 10)"},
        ),
        ({"const": "x"}, Dialect.GEMINI_OPENAPI, {"type": "STRING", "enum": ["x"]}),
        ({"enum": [1, 2]}, Dialect.GEMINI_OPENAPI, {"type": "INTEGER", "description": "(enum: [1, 2])"}),
        ({"enum": [1, 2]}, Dialect.GEMINI, {"type": "integer", "enum": [1, 2]}),
        (
            {"type": ["string", "integer"], "minimum": 1, "minLength": 2},
            Dialect.OPENAI_CHAT_STRICT,
            {"anyOf": [{"type": "string", "description": "(minLength: 2)"}, {"type": "integer", "minimum": 1}]},
        ),
        (
            {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
            Dialect.OPENAI_CHAT_STRICT,
            {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}, "maxItems": 2},
        ),
        (
            {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "boolean"}},
            Dialect.GEMINI,
            {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "boolean"}},
        ),
    ],
)
def test_a_part_is_said_as_near_as_the_dialect_comes(schema: Any, dialect: Dialect, part: Any) -> None:
    assert part_of(schema, dialect)[0] == part


def test_an_object_is_not_closed_where_members_by_pattern_cannot_be_named() -> None:
    schema = {"type": "object", "patternProperties": {"^x": {}}, "additionalProperties": False}
    part, words = part_of(schema, Dialect.GEMINI)
    assert "additionalProperties" not in part
    assert "what other members may be is not said" in words


def test_bounds_of_another_type_are_no_loss() -> None:
    assert part_of({"type": "integer", "minLength": 3}, Dialect.ANTHROPIC_STRICT) == ({"type": "integer"}, [])


def test_null_is_added_to_a_schema_in_the_form_that_it_has() -> None:
    assert or_null({"type": "string", "enum": ["x"]}) == {"type": ["string", "null"], "enum": ["x", None]}
    assert or_null({"anyOf": [{"type": "string"}]}) == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert or_null({"type": "string", "const": "x"}) == {"anyOf": [{"type": "string", "const": "x"}, {"type": "null"}]}


def test_a_hint_is_short_or_not_there() -> None:
    assert hinted("Words.", told={"pattern": "a"}) == 'Words. (pattern: "a")'
    assert hinted(None, told={"pattern": "a" * 200}) == ""
