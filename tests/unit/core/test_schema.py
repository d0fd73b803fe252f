"""Compiling and checking: exact numbers, asserted formats, defaults judged, nothing fetched, nothing escaping."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.schema import CompiledSchema, FormatMode, SchemaInvalid, SchemaLimits, compile_schema
from tests.unit.core.test_canonical import VALUES

KEYWORDS = st.sampled_from(
    "type $ref $id $anchor $schema properties items allOf anyOf pattern default enum required minimum format".split()
)
SCHEMAS = st.recursive(VALUES, lambda inner: st.dictionaries(KEYWORDS, inner), max_leaves=8)


@pytest.mark.requirement("CALL-6")
@given(SCHEMAS, VALUES)
def test_a_schema_compiles_or_is_invalid_and_then_judges_any_value(schema: Any, value: Any) -> None:
    try:
        compiled = compile_schema(schema)
    except SchemaInvalid:
        return
    assert compiled.is_valid(value) is not bool(compiled.violations(value))


@pytest.mark.requirement("CALL-6")
@pytest.mark.parametrize("schema", [None, [], 1, "{}", {"a": {1}}, {1: 2}, {"const": float("nan")}, {"$schema": 5}])
def test_what_is_no_schema_is_invalid(schema: Any) -> None:
    with pytest.raises(SchemaInvalid):
        compile_schema(schema)


@pytest.mark.requirement("CALL-6")
@pytest.mark.parametrize("reference", ["file:///etc/passwd", "http://localhost/x", "other.json", "//host/x"])
@pytest.mark.parametrize("place", [lambda ref: ref, lambda ref: {"$defs": {"unused": ref}}])
def test_a_reference_that_leads_outside_is_refused(reference: str, place: Callable[[Any], Any]) -> None:
    with pytest.raises(SchemaInvalid, match="outside the schema"):
        compile_schema(place({"$ref": reference}))


@pytest.mark.requirement("CALL-6")
def test_a_reference_to_a_document_given_with_the_schema_is_followed() -> None:
    schema = compile_schema({"$ref": "http://example.com/id"}, documents={"http://example.com/id": {"type": "integer"}})
    assert (schema.is_valid(1), schema.is_valid("1")) == (True, False)


@pytest.mark.requirement("CALL-6")
@pytest.mark.parametrize("pattern", ["(?=a)b", r"(a)\1", "(", "(a{1000}){1000}"])
def test_a_pattern_that_the_linear_engine_does_not_take_is_refused(pattern: str) -> None:
    with pytest.raises(SchemaInvalid, match="linear-time"):
        compile_schema({"properties": {"a": {"pattern": pattern}}})


@pytest.mark.requirement("CALL-6")
@pytest.mark.timeout(4)
def test_the_largest_pattern_answers_soon_on_a_long_text() -> None:
    assert not compile_schema({"pattern": "(a{100}){40}b"}).is_valid("a" * 200_000)


@pytest.mark.requirement("CALL-6")
def test_formats_are_asserted_unless_they_are_asked_to_be_annotations() -> None:
    assert not compile_schema({"format": "date"}).is_valid("tomorrow")
    assert compile_schema({"format": "date"}, formats=FormatMode.ANNOTATE).is_valid("tomorrow")


@pytest.mark.requirement("CALL-3")
@pytest.mark.parametrize("base", [2**53, 2**63, 2**64, 10**25, -(2**53), -(2**64), 10**400])
def test_integers_past_the_doubles_are_compared_exactly(base: int) -> None:
    refusing: list[dict[str, Any]] = [
        {"const": base},
        {"enum": [base, "a"]},
        {"maximum": base},
        {"exclusiveMaximum": base + 1},
        {"minimum": base + 2},
        {"exclusiveMinimum": base + 1},
        {"multipleOf": abs(base)},
        {"items": {"const": base}},
    ]
    for schema in refusing[:-1]:
        assert not compile_schema(schema).is_valid(base + 1), schema
    assert not compile_schema(refusing[-1]).is_valid([base, base + 1])
    assert compile_schema({"uniqueItems": True}).is_valid([base, base + 1])
    assert compile_schema({"type": "integer", "multipleOf": abs(base), "const": base}).is_valid(base)


@pytest.mark.requirement("CALL-6")
@pytest.mark.parametrize("value", ["\ud800", {"\ud800": 1}, [[]] * 3, {1: 2}, {"a": {1}}, object()])
def test_a_value_that_the_library_cannot_take_is_a_value_that_does_not_fit(value: Any) -> None:
    schema = compile_schema({"type": "string"})
    assert not schema.is_valid(value)
    assert schema.violations(value)


@pytest.mark.requirement("CALL-6")
def test_a_schema_larger_than_its_limit_in_bytes_is_refused() -> None:
    schema: Any = {"description": "é" * 30}
    assert isinstance(compile_schema(schema, limits=SchemaLimits(bytes_max=78)), CompiledSchema)
    with pytest.raises(SchemaInvalid, match="larger than 77 bytes"):
        compile_schema(schema, limits=SchemaLimits(bytes_max=77))


@pytest.mark.requirement("CALL-6")
def test_a_compiled_schema_is_a_copy() -> None:
    schema: Any = {"properties": {"a": {"type": "string"}}}
    compiled = compile_schema(schema)
    schema["properties"]["a"]["type"] = "integer"
    assert compiled.violations({"a": 1})[0].expected == "a string"
    assert compiled.schema == {"properties": {"a": {"type": "string"}}}


@pytest.mark.requirement("CALL-5")
def test_a_default_that_its_property_refuses_makes_the_schema_invalid_where_formats_are_asserted() -> None:
    schema: Any = {"properties": {"n": {"type": "integer", "default": "x"}}}
    with pytest.raises(SchemaInvalid, match="default of 'n'"):
        compile_schema(schema)
    assert isinstance(compile_schema(schema, formats=FormatMode.ANNOTATE), CompiledSchema)


@pytest.mark.requirement("CALL-5")
def test_a_schema_without_defaults_gives_back_the_same_object() -> None:
    value: Any = {"a": {}}
    assert compile_schema({"properties": {"a": {"properties": {"b": {}}}}}).with_defaults(value) is value


def test_a_deep_ordinary_schema_compiles_and_explains() -> None:
    schema: Any = {"type": "integer"}
    value: Any = "x"
    for _ in range(30):
        schema = {"type": "object", "properties": {"a": {"anyOf": [schema, {"type": "null"}]}}, "required": ["a"]}
        value = {"a": value}
    assert [each.path for each in compile_schema(schema).violations(value)] == ["/a" * 30]
