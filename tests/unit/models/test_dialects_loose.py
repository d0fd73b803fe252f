"""A provider that takes JSON Schema as it is gets it as it is, but for what it refuses everywhere."""

from typing import Any

import pytest

from interlock.models.dialects import Dialect, Projection, Unfit, project

LOOSE = pytest.mark.parametrize("dialect", [Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES, Dialect.ANTHROPIC])


@LOOSE
def test_nothing_is_left_out_below_the_root(dialect: Dialect) -> None:
    part: dict[str, Any] = {
        "oneOf": [{"type": "string", "minLength": 2}, {"type": "object", "patternProperties": {"^x": {"not": {}}}}],
        "if": {"type": "string"},
        "then": {"pattern": "a"},
        "default": "ab",
    }
    found = project({"type": "object", "properties": {"a": part}}, dialect=dialect)
    assert isinstance(found, Projection)
    assert found.schema == {"type": "object", "properties": {"a": part}}
    assert found.losses == ()


@LOOSE
def test_lists_get_elements_and_schemas_are_no_booleans(dialect: Dialect) -> None:
    found = project({"properties": {"a": {"type": "array"}, "b": True, "c": False}}, dialect=dialect)
    assert isinstance(found, Projection)
    assert found.schema["properties"] == {"a": {"type": "array", "items": {}}, "b": {}, "c": {"not": {}}}


def test_an_argument_whose_name_the_provider_refuses_is_left_out_or_sets_the_tool_aside() -> None:
    schema: dict[str, Any] = {"properties": {"a b": {"type": "string"}, "c": {}}}
    found = project(schema, dialect=Dialect.ANTHROPIC)
    assert isinstance(found, Projection)
    assert found.schema["properties"] == {"c": {}}
    assert [(loss.pointer, loss.narrows) for loss in found.losses] == [("/properties/a b", True)]
    assert isinstance(project(schema | {"required": ["a b"]}, dialect=Dialect.ANTHROPIC), Unfit)
    assert isinstance(project(schema | {"required": ["a b"]}, dialect=Dialect.OPENAI_CHAT), Projection)
