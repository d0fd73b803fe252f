"""Explanations: in the schema's words, ordered, bounded, and never a word of the value."""

from typing import Any

import pytest
from hypothesis import given

from interlock.core.schema import Violation, compile_schema
from interlock.core.schema_violations import VIOLATIONS_MAX
from tests.unit.core.test_canonical import VALUES

pytestmark = pytest.mark.requirement("CALL-5")

SECRET = "hunter2-is-the-value"


def told(schema: Any, value: Any) -> list[tuple[str, str]]:
    return [(each.path, each.keyword) for each in compile_schema(schema).violations(value)]


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"type": "object"}, [], [("", "type")]),
        ({"required": ["a", "b"]}, {"a": 1}, [("", "required")]),
        ({"properties": {"a": {"minimum": 3}}}, {"a": 1}, [("/a", "minimum")]),
        ({"properties": {"a~/b": False}}, {"a~/b": 1}, [("/a~0~1b", "false")]),
        ({"additionalProperties": False}, {"x": 1}, [("/x", "additionalProperties")]),
        (
            {"additionalProperties": False},
            {"y": 1, "x": 1},
            [("/x", "additionalProperties"), ("/y", "additionalProperties")],
        ),
        ({"additionalProperties": {"type": "string"}}, {"x": 1}, [("/x", "type")]),
        ({"patternProperties": {"^x": {"type": "string"}}}, {"x1": 1}, [("", "patternProperties")]),
        ({"items": {"type": "string"}}, ["a", 1], [("/1", "type")]),
        ({"prefixItems": [True], "items": {"type": "string"}}, [1, "a", 1], [("/2", "type")]),
        ({"prefixItems": [{"type": "string"}]}, [1], [("/0", "type")]),
        ({"allOf": [{"minimum": 3}, {"maximum": 0}]}, 1, [("", "minimum"), ("", "maximum")]),
        ({"anyOf": [{"type": "array", "minItems": 2}, {"type": "null"}]}, [1], [("", "minItems")]),
        ({"anyOf": [{"type": "array"}, {"type": "null"}]}, 1, [("", "anyOf")]),
        ({"oneOf": [{}, {}]}, 1, [("", "oneOf")]),
        ({"not": {}}, 1, [("", "not")]),
        ({"if": {"minimum": 0}, "then": {"maximum": 5}, "else": {"maximum": -5}}, 7, [("", "maximum")]),
        ({"contains": {"const": 1}, "minContains": 2}, [1], [("", "contains")]),
        ({"dependentSchemas": {"a": {"required": ["b"]}}}, {"a": 1}, [("", "required")]),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, [("", "dependentRequired")]),
        ({"properties": {"a": {}}, "unevaluatedProperties": False}, {"b": 1}, [("", "unevaluatedProperties")]),
        ({"$ref": "#/$defs/a%20b%25", "$defs": {"a b%": {"items": {"$ref": "#/$defs/c"}}, "c": {"const": 1}}}, [2], []),
        ({"properties": {"t": {"$id": "http://x/t", "$ref": "#/$defs/u", "$defs": {"u": {"const": 1}}}}}, {"t": 2}, []),
    ],
)
def test_each_keyword_is_told_at_the_place_that_fails(schema: Any, value: Any, expected: list[tuple[str, str]]) -> None:
    assert told(schema, value) == (expected or [("/0" if isinstance(value, list) else "/t", "const")])


def test_a_string_that_holds_json_is_told_apart_but_never_unwrapped() -> None:
    schema = compile_schema({"properties": {"files": {"anyOf": [{"type": "array"}, {"type": "null"}]}}})
    (violation,) = schema.violations({"files": '[{"path":"a"}]'})
    assert violation.hint == "files is a string holding JSON; send the array itself"


@given(VALUES)
def test_a_value_that_does_not_fit_always_has_a_violation(value: Any) -> None:
    compiled = compile_schema({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]})
    assert bool(compiled.violations(value)) is not compiled.is_valid(value)


@pytest.mark.parametrize(
    "schema",
    [
        {"const": 1},
        {"enum": ["a"]},
        {"type": "integer"},
        {"maxLength": 3},
        {"pattern": "^a$"},
        {"format": "date"},
        {"not": {"type": "string"}},
        {"anyOf": [{"type": "integer"}, {"maxLength": 1}]},
    ],
)
def test_nothing_of_the_value_is_repeated(schema: Any) -> None:
    shapes: list[tuple[Any, Any]] = [
        (schema, SECRET),
        ({"properties": {"a": schema}}, {"a": SECRET}),
        ({"items": schema}, [SECRET]),
    ]
    for shape, value in shapes:
        violations = compile_schema(shape).violations(value)
        assert violations
        assert SECRET not in repr(violations)


def test_unknown_property_names_are_cut_and_cleaned() -> None:
    (violation,) = compile_schema({"additionalProperties": False}).violations({"a\n\x1b" + "b" * 500: 1})
    assert violation.path == "/a??" + "b" * 61
    assert violation.hint.isprintable()


def test_violations_are_bounded_and_in_the_same_order_each_time() -> None:
    compiled = compile_schema({"items": {"type": "string"}})
    violations = compiled.violations(list(range(1000)))
    assert [each.path for each in violations] == [f"/{index}" for index in range(VIOLATIONS_MAX)]
    assert compiled.violations(list(range(1000))) == violations


def test_a_recursive_schema_with_alternatives_is_explained_at_once() -> None:
    branch: Any = {"type": "object", "properties": {"a": {"$ref": "#"}}}
    value: Any = 1
    for _ in range(60):
        value = {"a": value}
    assert told({"anyOf": [{**branch, "required": ["b"]}, branch]}, value) == [("", "anyOf")]
    assert told({"allOf": [branch, branch]}, value)


def test_a_violation_says_what_is_expected_and_what_to_do() -> None:
    schema: Any = {"properties": {"n": {"type": ["integer", "null"], "minimum": 3}}, "required": ["q"]}
    assert compile_schema(schema).violations({"n": 1}) == (
        Violation("", "required", "the property q", "q is missing; add it"),
        Violation("/n", "minimum", "at least 3", "n must be at least 3"),
    )
    assert compile_schema(schema).violations({"n": "1", "q": 1}) == (
        Violation("/n", "type", "an integer or null", "n must be an integer or null, not a string"),
    )


def test_a_property_that_fails_is_not_told_as_a_property_too_many() -> None:
    compiled = compile_schema(
        {"type": "object", "properties": {"query": {"type": "string"}}, "additionalProperties": False}
    )
    assert [(each.path, each.keyword) for each in compiled.violations({"query": 1})] == [("/query", "type")]


def test_an_item_that_fails_at_its_place_is_not_told_as_an_item_too_many() -> None:
    compiled = compile_schema({"prefixItems": [{"type": "string"}], "items": {"type": "integer"}})
    assert [(each.path, each.keyword) for each in compiled.violations([1, 2])] == [("/0", "type")]
