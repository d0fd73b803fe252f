"""Bounds: a schema that would cost too much is refused before it is compiled."""

from typing import Any

import pytest

from interlock.core.schema import CompiledSchema, SchemaInvalid, SchemaLimits, compile_schema


def doubled(levels: int) -> dict[str, Any]:
    """Each definition names the one before twice: 2^levels evaluations for one value."""
    definitions: dict[str, Any] = {"d0": {"type": "string"}}
    for level in range(1, levels + 1):
        definitions[f"d{level}"] = {"anyOf": [{"$ref": f"#/$defs/d{level - 1}"}] * 2}
    return {"$defs": definitions, "$ref": f"#/$defs/d{levels}"}


@pytest.mark.requirement("CALL-6")
def test_definitions_that_double_are_refused_over_the_limit() -> None:
    assert isinstance(compile_schema(doubled(10)), CompiledSchema)
    for levels in (13, 40, 100):
        with pytest.raises(SchemaInvalid, match="10000 evaluations"):
            compile_schema(doubled(levels))


@pytest.mark.requirement("CALL-6")
def test_shared_python_parts_do_not_hide_their_size() -> None:
    schema: Any = {"type": "string"}
    for _ in range(60):
        schema = {"anyOf": [schema, schema]}
    with pytest.raises(SchemaInvalid, match="larger than"):
        compile_schema(schema)


@pytest.mark.requirement("CALL-6")
def test_nested_unevaluated_keywords_count_what_they_evaluate_again() -> None:
    schema: Any = {"properties": {"a": True}}
    for _ in range(12):
        schema = {"allOf": [schema], "unevaluatedProperties": False}
    with pytest.raises(SchemaInvalid, match="evaluations"):
        compile_schema(schema)


@pytest.mark.requirement("CALL-6")
def test_a_circular_or_bottomless_schema_is_refused() -> None:
    circular: dict[str, Any] = {}
    circular["properties"] = {"a": circular}
    with pytest.raises(SchemaInvalid, match="nests deeper"):
        compile_schema(circular)


@pytest.mark.requirement("CALL-6")
def test_subschemas_nest_up_to_the_limit() -> None:
    schema: Any = {"not": {"not": {}}}
    assert isinstance(compile_schema(schema, limits=SchemaLimits(depth_max=2)), CompiledSchema)
    with pytest.raises(SchemaInvalid, match="deeper than 1 levels"):
        compile_schema(schema, limits=SchemaLimits(depth_max=1))


@pytest.mark.requirement("CALL-6")
def test_a_long_chain_of_references_is_refused() -> None:
    chain: dict[str, Any] = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(2000)}
    with pytest.raises(SchemaInvalid, match="in a row"):
        compile_schema({"$ref": "#/$defs/d0", "$defs": {**chain, "d2000": {}}})


@pytest.mark.requirement("CALL-6")
def test_a_recursive_schema_counts_once() -> None:
    node: Any = {"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}}
    assert isinstance(compile_schema(node, limits=SchemaLimits(keywords_max=5)), CompiledSchema)
