"""A schema of an MCP server's tool as it is shown and held to: its words cleaned, all else as it was listed."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.core.canonical import Json
from interlock.core.errors import SchemaInvalid, SpecInvalid
from interlock.core.schema import compile_schema
from interlock.core.text import clean, clean_json

WORDS_MAX = 1_000
_WORDS = frozenset({"title", "description", "$comment"})
_VALUES = frozenset({"const", "enum", "default", "examples"})
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_TOP_LEVEL_OPEN = frozenset(
    "additionalProperties unevaluatedProperties allOf anyOf oneOf not if $ref $dynamicRef patternProperties "
    "dependentSchemas".split()
)

Object = dict[str, Json]


def readable(schema: Mapping[str, Json]) -> Object:
    """The schema as a model and our validator have it. Raises `SpecInvalid` where it is none, or hides something.

    A default of null that does not fit its own schema, which some libraries write for "not given", is left out.
    """
    found = _cleaned(dict(schema), is_schema=True)
    if not isinstance(found, dict):
        raise SpecInvalid("its schema is no object")
    if clean_json(found)[1]:
        raise SpecInvalid("its schema holds a name or a value with characters that nobody sees")
    try:
        compile_schema(found)
    except SchemaInvalid as fault:
        without = _without_null_defaults(found)
        if without == found or not isinstance(without, dict):
            raise SpecInvalid(f"its schema does not hold: {fault}") from fault
        return _compiled(without)
    return found


def closed(schema: Object) -> Object:
    """The schema, taking no argument that it does not name, where the server left that open without saying so."""
    if "properties" not in schema or not _TOP_LEVEL_OPEN.isdisjoint(schema):
        return schema
    return {**schema, "additionalProperties": False}


def _compiled(schema: Object) -> Object:
    try:
        compile_schema(schema)
    except SchemaInvalid as fault:
        raise SpecInvalid(f"its schema does not hold: {fault}") from fault
    return schema


def _cleaned(value: Json, *, is_schema: bool) -> Json:
    """The value with the words of its schemas cleaned and bounded; names and values are left as they are."""
    if isinstance(value, list):
        return [_cleaned(each, is_schema=is_schema) for each in value]
    if not isinstance(value, dict):
        return value
    found: Object = {}
    for name, each in value.items():
        if is_schema and name in _WORDS and isinstance(each, str):
            found[name] = bounded(each, WORDS_MAX)
        elif is_schema and name in _VALUES:
            found[name] = each
        else:
            found[name] = _cleaned(each, is_schema=not (is_schema and name in _NAMED))
    return found


def _without_null_defaults(value: Json) -> Json:
    if isinstance(value, list):
        return [_without_null_defaults(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: each if name in _VALUES else _without_null_defaults(each)
        for name, each in value.items()
        if not (name == "default" and each is None)
    }


def bounded(text: Json, limit: int) -> str:
    """A server's words without what cannot be seen, and not more of them than a person reads."""
    found = clean(text).text.strip() if isinstance(text, str) else ""
    return found if len(found) <= limit else f"{found[: limit - 1].rstrip()}…"
