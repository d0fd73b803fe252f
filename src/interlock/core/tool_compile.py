"""From a spec to the compiled tool that a decision reads: schemas, digest, sensitive places and the model's schema."""

from __future__ import annotations

from interlock.core.canonical import Json, canonical
from interlock.core.catalogue import Lifecycle, Tool
from interlock.core.errors import SpecInvalid
from interlock.core.redaction import marked_pointers
from interlock.core.schema import compile_schema
from interlock.core.tool import ParameterSource, ToolSpec, spec_digest


def compile_tool(spec: ToolSpec, *, state: Lifecycle = Lifecycle.AVAILABLE, replacement: str = "") -> Tool:
    """The tool that this spec describes. Raises `SchemaInvalid` or `SpecInvalid` where it describes none."""
    schema = spec.input_schema.value
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise SpecInvalid(f"{spec.name}: the input schema must be an object schema with type: object")
    injected = tuple(each for each in spec.parameters if each.source is ParameterSource.CONTEXT)
    marked = {f"/{each.name}" for each in spec.parameters if each.sensitive}
    return Tool(
        spec=spec,
        digest=spec_digest(spec),
        input=compile_schema(schema),
        output=None if spec.output_schema is None else compile_schema(_output(spec)),
        sensitive=marked_pointers(schema) | marked,
        injected=injected,
        model_schema=canonical(without(schema, names=frozenset(each.name for each in injected))),
        state=state,
        replacement=replacement,
        users=frozenset(each.name for each in spec.parameters if each.source is ParameterSource.USER),
        evidence=spec.evidence.plain,
    )


def _output(spec: ToolSpec) -> dict[str, Json] | bool:
    schema = None if spec.output_schema is None else spec.output_schema.value
    if not isinstance(schema, dict | bool):
        raise SpecInvalid(f"{spec.name}: the output schema must be a JSON Schema")
    return schema


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
