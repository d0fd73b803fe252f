"""The arguments of an MCP server's tool as a person left them: some hidden, some fixed, some narrowed.

What a person adds has to hold whatever the listed schema says beside it. Drafts before 2019-09 ignore all that stands
beside a `$ref`, and every draft ignores words that it does not know: there it is written otherwise, or refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from interlock.core.canonical import Json
from interlock.core.errors import SpecInvalid
from interlock.core.schema import compile_schema
from interlock.declare.typed_values import check_keys
from interlock.importers.mcp_schema import Object

_DRAFTS: Final = {"draft-03": 3, "draft-04": 4, "draft-05": 4, "draft-06": 6, "draft-07": 7, "2019-09": 2019}
_NEWEST: Final = 2020
_SINCE: Final[Mapping[str, int]] = {
    **dict.fromkeys(("const", "contains", "propertyNames"), 6),
    **dict.fromkeys(("if", "then", "else"), 7),
    **dict.fromkeys(("dependentRequired", "dependentSchemas", "minContains", "maxContains"), 2019),
    **dict.fromkeys(("unevaluatedItems", "unevaluatedProperties"), 2019),
    "prefixItems": _NEWEST,
}
"""The draft that a word came with: those before do not read it."""


def limited(schema: Object, *, hide: Collection[str], fix: Mapping[str, Json], narrow: Mapping[str, Object]) -> Object:
    """The schema as decided. Raises `SpecInvalid` where a decision would not hold, or contradicts another."""
    given, needed = schema.get("properties"), schema.get("required")
    properties = dict(given) if isinstance(given, dict) else {}
    required = [each for each in needed if each not in fix] if isinstance(needed, list) else []
    for place, names in (("hide", hide), ("fix", fix), ("narrow", narrow)):
        check_keys(dict.fromkeys(names), properties, path=place)
        if names and "$ref" in schema and _draft(schema) < _DRAFTS["2019-09"]:
            raise SpecInvalid(f"{place}: the schema is a reference, and its draft ignores what stands beside one")
    for name in dict.fromkeys(hide):
        _check_hidden(name, schema, required=required, fix=fix)
        del properties[name]
    for name in narrow.keys() - set(hide):
        properties[name] = _narrowed(properties[name], narrow[name], draft=_draft(schema))
    for name, value in fix.items():
        properties[name] = _fixed(properties[name], value, name=name, schema=schema)
    found: Object = {**schema, "properties": properties}
    return {**found, "required": required} if isinstance(needed, list) else found


def _draft(schema: Object) -> int:
    named = str(schema.get("$schema", ""))
    return next((number for name, number in _DRAFTS.items() if name in named), _NEWEST)


def _check_hidden(name: str, schema: Object, *, required: Collection[Json], fix: Mapping[str, Json]) -> None:
    if name in fix:
        raise SpecInvalid(f"hide: {name} is fixed as well; a fixed one is sent, a hidden one is not")
    if name in required:
        raise SpecInvalid(f"hide: {name} must be sent; fix it instead")
    patterns = schema.get("patternProperties")
    none: Object = dict.fromkeys(patterns, False) if isinstance(patterns, dict) else {}
    is_matched = not compile_schema({"patternProperties": none}).is_valid({name: None})
    if schema.get("additionalProperties") is not False or is_matched:
        raise SpecInvalid(f"hide: {name} could be sent all the same, since the schema takes what it does not name")


def _narrowed(schema: Json, narrower: Object, *, draft: int) -> Object:
    for word in _words(narrower):
        if _SINCE.get(word, 0) > draft:
            raise SpecInvalid(f"narrow: {word} is no word of the draft that the server's schema is written in")
    held, parts = _held(schema)
    return {**held, "allOf": [*parts, narrower]}


def _held(schema: Json) -> tuple[Object, list[Json]]:
    """The schema without its reference and its allOf, and those: nothing may stand beside a reference."""
    held: Object = dict(schema) if isinstance(schema, dict) else {"allOf": [schema]}
    parts = held.pop("allOf", [])
    listed = [*parts] if isinstance(parts, list) else []
    return held, [*([{"$ref": held.pop("$ref")}] if "$ref" in held else []), *listed]


def _words(value: Json) -> Iterator[str]:
    for each in value if isinstance(value, list) else ():
        yield from _words(each)
    for name, each in value.items() if isinstance(value, dict) else ():
        yield name
        yield from _words(each)


def _fixed(property_schema: Json, value: Json, *, name: str, schema: Object) -> Object:
    """The value is filled in, so who approves sees it as it is sent."""
    held, parts = _held(property_schema)
    whole: Object = {each: schema[each] for each in ("$schema", "$defs", "definitions") if each in schema}
    whole |= {key: each for key, each in held.items() if key != "default"}
    whole |= {"allOf": parts} if parts else {}
    for wrong in compile_schema(whole).violations(value)[:1]:
        raise SpecInvalid(f"fix: {name} does not fit what the server lists: {wrong.hint}")
    word: Object = {"const": value} if _draft(schema) >= _SINCE["const"] else {"enum": [value]}
    return {**held, **({"allOf": parts} if parts else {}), **word, "default": value}
