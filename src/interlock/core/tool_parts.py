"""What follows from a spec that calls need: schemas, sensitive places and the model's schema."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, cast

from interlock.core.canonical import Json, kept
from interlock.core.errors import SpecInvalid
from interlock.core.frozen import frozen
from interlock.core.redaction import marked_pointers
from interlock.core.schema import CompiledSchema, compile_schema
from interlock.core.tool import Document, Parameter, ParameterSource, ToolSpec

COMPILED_MAX: Final = 16_384
"""How many schemas are kept compiled beside those of the tools that are in use."""


@frozen
class Parts:
    """All of it. `sensitive` are JSON pointers; see `core.catalogue.Tool`."""

    input: CompiledSchema
    output: CompiledSchema | None
    sensitive: frozenset[str]
    injected: tuple[Parameter, ...]
    model_schema: bytes
    users: frozenset[str]


def parts_of(spec: ToolSpec) -> Parts:
    """The parts of this spec. Raises `SchemaInvalid` or `SpecInvalid` where it describes no tool."""
    schema = spec.input_schema.value
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise SpecInvalid(f"{spec.name}: the input schema must be an object schema with type: object")
    injected = tuple(each for each in spec.parameters if each.source is ParameterSource.CONTEXT)
    marked = {f"/{each.name}" for each in spec.parameters if each.sensitive}
    return Parts(
        input=_compiled(spec.input_schema),
        output=None if spec.output_schema is None else _output(spec, spec.output_schema),
        sensitive=marked_pointers(schema) | marked,
        injected=injected,
        model_schema=kept(without(schema, names=frozenset(each.name for each in injected))),
        users=frozenset(each.name for each in spec.parameters if each.source is ParameterSource.USER),
    )


def _output(spec: ToolSpec, schema: Document) -> CompiledSchema:
    if not isinstance(schema.value, dict | bool):
        raise SpecInvalid(f"{spec.name}: the output schema must be a JSON Schema")
    return _compiled(schema)


@lru_cache(COMPILED_MAX)
def _compiled(schema: Document) -> CompiledSchema:
    """A schema is compiled once, whoever has it and however often that is published, moved or looked at anew."""
    return compile_schema(cast("dict[str, Json] | bool", schema.value))


def without(schema: dict[str, Json], *, names: frozenset[str]) -> dict[str, Json]:
    """The object schema as if the named top-level properties did not exist."""
    if not names:
        return schema
    properties, required = schema.get("properties"), schema.get("required")
    shown = dict(schema)
    if isinstance(properties, dict):
        shown["properties"] = {name: each for name, each in properties.items() if name not in names}
    if isinstance(required, list):
        shown["required"] = [name for name in required if name not in names]
    return shown
