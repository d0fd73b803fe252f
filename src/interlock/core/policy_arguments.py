"""The Cedar type of a tool's arguments, read from their JSON Schema.

What Cedar cannot type - unions of several types, open maps, recursion past a depth - is left out, so that a policy that
names it fails when it is saved. A value that may also be null is an optional attribute: null is the absence of a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from interlock.core.canonical import Json
from interlock.core.policy_values import (
    BOOLEAN,
    DECIMAL,
    LONG,
    STRING,
    CedarType,
    Field,
    Plain,
    Record,
    SetOf,
)
from interlock.core.tool import Document

_DEPTH_MAX = 8
_PLAIN: Mapping[str, Plain] = {"string": STRING, "integer": LONG, "number": DECIMAL, "boolean": BOOLEAN}
_OF_PYTHON: Mapping[type, Plain] = {str: STRING, int: LONG, bool: BOOLEAN}


@lru_cache(maxsize=32_768)
def arguments_type(schema: Document) -> Record:
    """The record that `context.args` is for a tool with this input schema."""
    root = schema.value
    found = _type(root, root, 0)
    return found if isinstance(found, Record) else Record()


def _type(schema: Json, root: Json, depth: int) -> CedarType | None:
    schema, _ = _core(schema, root)
    if depth > _DEPTH_MAX or schema is None:
        return None
    name = _type_name(schema)
    if name == "object":
        return _record(schema, root, depth)
    if name == "array":
        element = _type(schema.get("items"), root, depth + 1)
        return None if element is None else SetOf(element)
    if name is None:
        return _literal(schema)
    return _PLAIN.get(name)


def _record(schema: Mapping[str, Json], root: Json, depth: int) -> Record:
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict):
        return Record()
    needed = {each for each in required if isinstance(each, str)} if isinstance(required, list) else set()
    fields = []
    for name, each in properties.items():
        type_ = _type(each, root, depth + 1)
        # Cedar's JSON reads keys that start with two underscores as escapes.
        if type_ is not None and not name.startswith("__"):
            _, nullable = _core(each, root)
            fields.append(Field(name, type_, name in needed and not nullable))
    return Record(tuple(fields))


def _core(schema: Json, root: Json) -> tuple[dict[str, Json] | None, bool]:
    """The schema behind references and one-armed unions, and whether null is allowed as well."""
    nullable = False
    for _ in range(_DEPTH_MAX):
        if not isinstance(schema, dict):
            return None, nullable
        arms = _arms(schema)
        reference = schema.get("$ref")
        if isinstance(reference, str):
            schema = _at(reference, root)
        elif arms is not None:
            others = [arm for arm in arms if not (isinstance(arm, dict) and arm.get("type") == "null")]
            nullable = nullable or len(others) < len(arms)
            schema = others[0] if len(others) == 1 else None
        else:
            return schema, nullable or _lists_null(schema)
    return None, nullable


def _arms(schema: Mapping[str, Json]) -> list[Json] | None:
    """The arms of a schema that is nothing but a union. Beside a type of its own they only narrow it."""
    if "type" in schema or "properties" in schema:
        return None
    return next((arms for key in ("anyOf", "oneOf", "allOf") if isinstance(arms := schema.get(key), list)), None)


def _at(reference: str, root: Json) -> Json:
    if not reference.startswith("#/"):
        return root if reference == "#" else None
    here = root
    for part in reference[2:].split("/"):
        here = here.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(here, dict) else None
    return here


def _lists_null(schema: Mapping[str, Json]) -> bool:
    type_, options = schema.get("type"), schema.get("enum")
    return (isinstance(type_, list) and "null" in type_) or (isinstance(options, list) and None in options)


def _type_name(schema: Mapping[str, Json]) -> str | None:
    """The one type beside null; `union` where there are several."""
    type_ = schema.get("type")
    if isinstance(type_, list):
        others = [each for each in type_ if each != "null"]
        type_ = others[0] if len(others) == 1 else "union"
    if type_ is None and "properties" in schema:
        return "object"
    return type_ if isinstance(type_, str) else None


def _literal(schema: Mapping[str, Json]) -> CedarType | None:
    options = schema.get("enum", [schema["const"]] if "const" in schema else [])
    kinds = {type(each) for each in options if each is not None} if isinstance(options, list) else set()
    return _OF_PYTHON.get(kinds.pop()) if len(kinds) == 1 else None
