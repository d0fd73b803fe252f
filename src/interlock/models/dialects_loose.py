"""Copies a schema for a provider that takes JSON Schema as it is: references kept or written out, nothing left out."""

from __future__ import annotations

from typing import Final

from interlock.core.canonical import Json
from interlock.core.schema_references import escaped
from interlock.models.dialects_parts import Inexpressible, Walk

_ONE: Final = frozenset(
    "additionalProperties contains else if items not propertyNames then unevaluatedItems unevaluatedProperties".split()
)
_LIST: Final = frozenset("allOf anyOf oneOf prefixItems".split())
_NAMED: Final = frozenset("dependentSchemas patternProperties properties".split())


def loose(walk: Walk, schema: dict[str, Json], *, at: str) -> dict[str, Json]:
    """The schema with each subschema in the dialect. Providers demand `items` of every list."""
    schema = _with_members_that_fit(walk, schema, at=at)
    result = {keyword: _copied(walk, keyword, value, at=f"{at}/{keyword}") for keyword, value in schema.items()}
    if result.get("type") == "array" and "items" not in result:
        result["items"] = {}
        if "unevaluatedItems" in result:
            walk.lose(f"{at}/unevaluatedItems", words="unevaluatedItems is not enforced")
    return result


def _copied(walk: Walk, keyword: str, value: Json, *, at: str) -> Json:
    if keyword in _ONE:
        return value if isinstance(value, bool) else _below(walk, value, at=at)
    if keyword in _LIST and isinstance(value, list):
        return [_below(walk, one, at=f"{at}/{index}") for index, one in enumerate(value)]
    if keyword in _NAMED and isinstance(value, dict):
        return {name: _below(walk, one, at=f"{at}/{escaped(name)}") for name, one in value.items()}
    return value


def _below(walk: Walk, schema: Json, *, at: str) -> Json:
    """Some providers take no booleans for schemas."""
    part = walk.node(schema, at=at)
    return {"not": {}} if part is None else part


def _with_members_that_fit(walk: Walk, schema: dict[str, Json], *, at: str) -> dict[str, Json]:
    named, required = schema.get("properties"), schema.get("required")
    if at or not isinstance(named, dict) or all(map(walk.rules.members.fullmatch, named)):
        return schema
    foreign = [name for name in named if not walk.rules.members.fullmatch(name)]
    for name in foreign:
        below = f"{at}/properties/{escaped(name)}"
        if isinstance(required, list) and name in required:
            raise Inexpressible(f"{below} is required, and its name is not one that the provider takes.")
        walk.lose(below, words="left out: its name is not one that the provider takes", narrows=True)
    return schema | {"properties": {name: value for name, value in named.items() if name not in foreign}}
