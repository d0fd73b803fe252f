"""Reads a schema as people publish it: where its references lead, and what older drafts and slips stand for.

Schemas come from anyone. Nothing here raises on one, and nothing is fetched.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import unquote

from interlock.core.canonical import Json
from interlock.core.schema_references import subschemas
from interlock.models.dialects_merge import types_of
from interlock.models.dialects_rules import ALL_KEYWORDS, SILENT

TYPES: Final = ("object", "array", "string", "integer", "number", "boolean", "null")
_LISTS: Final = frozenset("required enum anyOf oneOf allOf prefixItems".split())
_MAPS: Final = frozenset("properties patternProperties dependentSchemas dependentRequired".split())
_NODES_MAX: Final = 20_000
_IMPLIED: Final = {
    "object": "properties required additionalProperties patternProperties propertyNames minProperties maxProperties "
    "dependentRequired dependentSchemas dependencies unevaluatedProperties",
    "array": "items prefixItems minItems maxItems uniqueItems contains unevaluatedItems",
    "string": "pattern minLength maxLength format",
    "number": "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
}


class Source:
    """One schema and its references, found once."""

    def __init__(self, root: dict[str, Json]) -> None:
        self._root = root
        self._anchors: dict[str, Json] = {}
        self._cyclic: dict[str, bool] = {}
        for node in _nodes(root):
            for keyword in ("$anchor", "$dynamicAnchor"):
                self._anchors.setdefault(f"#{node.get(keyword)}", node)

    def target(self, reference: Json) -> Json:
        """What a reference leads to; None for one that leads nowhere within the schema."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        if reference in self._anchors:
            return self._anchors[reference]
        node: Json = self._root
        for token in unquote(reference[1:]).split("/")[1:]:
            name = token.replace("~1", "/").replace("~0", "~")
            if isinstance(node, list) and name.isascii() and name.isdigit() and int(name[:9]) < len(node):
                node = node[int(name[:9])]
            elif isinstance(node, dict) and name in node:
                node = node[name]
            else:
                return None
        return node if reference == "#" or reference.startswith("#/") else None

    def is_cyclic(self, reference: str) -> bool:
        """Whether what it leads to leads back to it."""
        if reference not in self._cyclic:
            self._cyclic[reference] = self._leads_back(reference)
        return self._cyclic[reference]

    def _leads_back(self, reference: str) -> bool:
        seen: set[str] = set()
        waiting = [reference]
        while waiting:
            for node in _nodes(self.target(waiting.pop())):
                found = reference_of(node)
                if found == reference:
                    return True
                if found is not None and found not in seen:
                    seen.add(found)
                    waiting.append(found)
        return False


def reference_of(node: dict[str, Json]) -> str | None:
    """The reference of a schema, of whatever draft."""
    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        if isinstance(found := node.get(keyword), str):
            return found
    return None


def modern(node: dict[str, Json]) -> tuple[dict[str, Json], list[str]]:
    """The schema in the words of draft 2020-12, without what constrains nothing, and the keywords that make none."""
    result = {name: value for name, value in node.items() if name in ALL_KEYWORDS and name not in SILENT}
    _draft_bounds(result)
    if isinstance(result.get("items"), list):
        result["prefixItems"] = result.pop("items")
        if "additionalItems" in result:
            result["items"] = result["additionalItems"]
    result.pop("additionalItems", None)
    broken = [name for name in result if _is_broken(name, result[name])]
    for name in broken:
        del result[name]
    if "type" in result:
        named = list(dict.fromkeys(types_of(result["type"])))
        result["type"] = named[0] if len(named) == 1 else list[Json](named)
    if "if" not in result:
        result = {name: value for name, value in result.items() if name not in {"then", "else"}}
    return result, broken


def implied_type(node: dict[str, Json]) -> str:
    """The type that a schema without one is about; empty where nothing tells."""
    for name, keywords in _IMPLIED.items():
        if not node.keys().isdisjoint(keywords.split()):
            return name
    return ""


def type_of_value(value: Json) -> str:
    """The narrowest type of a value."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    if isinstance(value, int | float):
        return "integer" if value == value // 1 else "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"


def of_type(value: Json, kind: str) -> bool:
    """Whether a value is of a type. Every integer is a number."""
    found = type_of_value(value)
    return found == kind or (found == "integer" and kind == "number")


def _draft_bounds(node: dict[str, Json]) -> None:
    """In draft 4 an exclusive bound is a remark beside the bound."""
    for exclusive, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(node.get(exclusive), bool) and node.pop(exclusive) and bound in node:
            node[exclusive] = node.pop(bound)


def _is_broken(keyword: str, value: Json) -> bool:
    if keyword == "type":
        return not types_of(value) or any(name not in TYPES for name in types_of(value))
    if keyword in _LISTS:
        return not isinstance(value, list) or (not value and keyword in {"anyOf", "oneOf", "allOf"})
    if keyword in _MAPS:
        return not isinstance(value, dict)
    return keyword in {"description", "title", "format", "pattern"} and not isinstance(value, str)


def _nodes(root: Json) -> list[dict[str, Json]]:
    """Every schema below, itself included, up to a number that no schema of use has."""
    found: list[dict[str, Json]] = []
    waiting = [root]
    while waiting and len(found) < _NODES_MAX:
        node = waiting.pop()
        if isinstance(node, dict):
            found.append(node)
            waiting.extend(below for _, _, below in subschemas(node))
    return found
