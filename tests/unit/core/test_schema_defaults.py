"""Defaults: one stated rule for where they are put in, bounded, never changing the input."""

from typing import Any

import pytest

from interlock.core.schema import CompiledSchema, SchemaInvalid, compile_schema

pytestmark = pytest.mark.requirement("CALL-5")

N: dict[str, Any] = {"properties": {"n": {"type": "integer", "default": 1}}}


@pytest.mark.parametrize(
    ("schema", "before", "after"),
    [
        (N, {}, {"n": 1}),
        (N, {"n": None}, {"n": None}),
        ({"properties": {"o": N}}, {"o": {}}, {"o": {"n": 1}}),
        ({"properties": {"o": N}}, {}, {}),
        ({"properties": {"o": {**N, "default": {}}}}, {}, {"o": {"n": 1}}),
        ({"properties": {"l": {"items": N}}}, {"l": [{}, 5, {"n": 2}]}, {"l": [{"n": 1}, 5, {"n": 2}]}),
        ({"properties": {"l": {"prefixItems": [True], "items": N}}}, {"l": [{}, {}]}, {"l": [{}, {"n": 1}]}),
        ({"properties": {"l": {"prefixItems": [N]}}}, {"l": [{}, {}]}, {"l": [{"n": 1}, {}]}),
        ({"$ref": "#/$defs/n", "$defs": {"n": N}}, {}, {"n": 1}),
        ({"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"default": 2}}}, {}, {"a": 2}),
        ({"properties": {"a": {"$ref": "#/$defs/a", "default": 3}}, "$defs": {"a": {"default": 2}}}, {}, {"a": 3}),
        ({"allOf": [N]}, {}, {"n": 1}),
        ({"anyOf": [N]}, {}, {}),
        ({"oneOf": [N]}, {}, {}),
        ({"if": N, "then": N, "else": N}, {}, {}),
        ({"properties": {"a": {"default": 1.0}}}, {}, {"a": 1}),
        ({"properties": {"a": {"default": None}}}, {}, {"a": None}),
    ],
)
def test_a_default_is_put_in_where_the_rule_says(schema: Any, before: Any, after: Any) -> None:
    filled = compile_schema(schema).with_defaults(before)
    assert repr(filled) == repr(after)


def test_a_recursive_schema_fills_every_level_that_is_there() -> None:
    schema: Any = {"properties": {"child": {"$ref": "#"}, "n": {"default": 1}}}
    assert compile_schema(schema).with_defaults({"child": {"child": {}}}) == {
        "n": 1,
        "child": {"n": 1, "child": {"n": 1}},
    }


def test_the_input_is_not_changed_and_defaults_are_not_shared_between_calls() -> None:
    schema = compile_schema({"properties": {"o": {"properties": {"l": {"default": []}}}}})
    value: Any = {"o": {}}
    first: Any = schema.with_defaults(value)
    first["o"]["l"].append(1)
    assert value == {"o": {}}
    assert schema.with_defaults(value) == {"o": {"l": []}}


def test_a_default_that_contains_itself_is_invalid() -> None:
    with pytest.raises(SchemaInvalid, match="without end"):
        compile_schema({"properties": {"child": {"$ref": "#", "default": {}}}})


def test_a_default_is_judged_with_what_is_filled_in() -> None:
    inner: Any = {**N, "required": ["n"], "default": {}}
    assert isinstance(compile_schema({"properties": {"o": inner}}), CompiledSchema)
    with pytest.raises(SchemaInvalid, match="default of 'o'"):
        compile_schema({"properties": {"o": {**inner, "required": ["n", "m"]}}})


def test_defaults_that_would_multiply_without_bound_are_refused() -> None:
    schema = compile_schema({"properties": {"l": {"items": {"properties": {"x": {"default": "y" * 100_000}}}}}})
    assert schema.with_defaults({"l": [{}]})
    with pytest.raises(SchemaInvalid, match="add more than"):
        schema.with_defaults({"l": [{} for _ in range(50)]})
