"""Counts what providers limit in a schema that is sent."""

from __future__ import annotations

import json
from dataclasses import dataclass

from interlock.core.canonical import Json
from interlock.core.schema_references import subschemas


@dataclass(frozen=True, slots=True)
class Size:
    """`levels`: objects and lists within each other. `characters`: of member names and listed values.

    `optional`: members that need not be sent. `unions`: parts with several types.
    """

    members: int = 0
    levels: int = 0
    values: int = 0
    characters: int = 0
    optional: int = 0
    unions: int = 0


def size_of(schema: dict[str, Json]) -> Size:
    """The size of a schema, each definition counted once."""
    members = values = characters = optional = unions = deepest = 0
    waiting: list[tuple[Json, int]] = [(schema, 0)]
    while waiting:
        node, level = waiting.pop()
        if not isinstance(node, dict):
            continue
        level += not node.keys().isdisjoint({"properties", "items", "prefixItems"})
        deepest = max(deepest, level)
        waiting.extend((below, 0 if keyword == "$defs" else level) for keyword, _, below in subschemas(node))
        named, listed = _named(node), _listed(node)
        members, values = members + len(named), values + len(listed)
        characters += sum(map(len, named)) + sum(len(json.dumps(value)) for value in listed)
        optional += len(named - _required(node))
        unions += isinstance(node.get("type"), list) or "anyOf" in node
    return Size(members, deepest, values, characters, optional, unions)


def _named(node: dict[str, Json]) -> frozenset[str]:
    named = node.get("properties")
    return frozenset(named) if isinstance(named, dict) else frozenset()


def _required(node: dict[str, Json]) -> frozenset[str]:
    listed = node.get("required")
    return frozenset(name for name in listed if isinstance(name, str)) if isinstance(listed, list) else frozenset()


def _listed(node: dict[str, Json]) -> list[Json]:
    listed = node.get("enum")
    return [*(listed if isinstance(listed, list) else ()), *([node["const"]] if "const" in node else ())]
