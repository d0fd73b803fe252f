"""Schemas and tool lists as messy as people publish them, for tests of dialects."""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from interlock.core.canonical import Json

NAMES = st.sampled_from(["a", "b", "c"])
SCALARS = st.none() | st.booleans() | st.integers(-3, 9) | st.sampled_from(["", "x", "ab", "abc", 1.5])
VALUES = st.recursive(SCALARS, lambda below: st.lists(below, max_size=3) | st.dictionaries(NAMES, below, max_size=3))

LEAVES: tuple[Json, ...] = (
    {},
    True,
    False,
    {"type": "string"},
    {"type": "string", "minLength": 2, "pattern": "^a"},
    {"type": "string", "maxLength": 2, "description": "Short."},
    {"type": "integer", "minimum": 1, "maximum": 5},
    {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5},
    {"type": "boolean"},
    {"type": "null"},
    {"type": ["string", "null"]},
    {"type": ["integer", "string"], "minLength": 1, "minimum": 2},
    {"type": ["array", "null"], "items": {"type": "integer"}},
    {"enum": ["x", "ab", None, 1]},
    {"type": "string", "enum": ["x", "ab", 5]},
    {"type": "integer", "enum": [1, 2]},
    {"const": "x"},
    {"const": None},
    {"type": "integer", "const": 3},
    {"minimum": 2},
    {"pattern": "b"},
    {"not": {"type": "string"}},
    {"type": "object"},
    {"type": "array"},
    {"$ref": "#/$defs/node"},
    {"$ref": "#/$defs/name", "description": "A name."},
    {"$ref": "#/$defs/name", "minLength": 2},
    {"$ref": "#"},
    {"if": {"type": "string"}, "then": {"minLength": 2}, "else": {"type": "integer"}},
)
DEFINITIONS: dict[str, Json] = {
    "node": {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/name"}, "b": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
        "required": ["a"],
    },
    "name": {"type": "string", "maxLength": 3},
}


def objects(below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    parts = {
        "properties": st.dictionaries(NAMES, below, max_size=3),
        "required": st.lists(NAMES, unique=True, max_size=2),
        "additionalProperties": st.booleans() | below,
        "maxProperties": st.integers(1, 3),
        "dependentRequired": st.just({"a": ["b"]}),
        "patternProperties": st.dictionaries(st.just("^c"), below, max_size=1),
    }
    return st.fixed_dictionaries({"type": st.just("object")}, optional=parts)


def arrays(below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    parts = {
        "items": below,
        "prefixItems": st.lists(below, min_size=1, max_size=2),
        "minItems": st.integers(0, 2),
        "maxItems": st.integers(1, 3),
        "uniqueItems": st.booleans(),
        "contains": below,
    }
    return st.fixed_dictionaries({"type": st.just("array")}, optional=parts)


def combined(below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    some = st.lists(below, min_size=1, max_size=3)
    parts = {"anyOf": some, "oneOf": some, "allOf": some, "properties": st.dictionaries(NAMES, below, max_size=2)}
    return st.fixed_dictionaries({}, optional=parts)


SCHEMAS = st.recursive(
    st.sampled_from(LEAVES), lambda below: objects(below) | arrays(below) | combined(below), max_leaves=7
)
ROOTS = (objects(SCHEMAS) | objects(SCHEMAS).flatmap(lambda root: combined(SCHEMAS).map(lambda more: root | more))).map(
    lambda root: root | {"$defs": DEFINITIONS}
)


def lowered(node: Any) -> Any:
    """A schema of Gemini's own kind as JSON Schema, to hold values against it."""
    if isinstance(node, list):
        return [lowered(one) for one in node]
    if not isinstance(node, dict):
        return node
    result = {name: lowered(value) for name, value in node.items() if name not in {"nullable", "enum", "properties"}}
    if "properties" in node:
        result["properties"] = {name: lowered(value) for name, value in node["properties"].items()}
    if "enum" in node:
        result["enum"] = node["enum"]
    if isinstance(node.get("type"), str):
        result["type"] = node["type"].lower()
    return {"anyOf": [result, {"type": "null"}]} if node.get("nullable") else result


def of_one(**properties: Any) -> dict[str, Json]:
    return {"type": "object", "properties": dict(properties)}


def deep(levels: int, *, leaf: Json) -> Json:
    schema = leaf
    for _ in range(levels):
        schema = {"type": "object", "properties": {"below": schema}}
    return schema


MESSY: Mapping[str, Any] = {
    "empty": {},
    "only a type": {"type": "object"},
    "no type": {"properties": {"a": {"type": "string"}}},
    "null for properties": {"type": "object", "properties": None},
    "a list for properties": {"type": "object", "properties": []},
    "required without members": {"type": "object", "required": ["a"]},
    "required is a text": of_one(a={"type": "string"}) | {"required": "a"},
    "required on the member": of_one(a={"type": "string", "required": True}),
    "required twice": of_one(a={"type": "string"}) | {"required": ["a", "a"]},
    "boolean exclusive bounds": of_one(a={"type": "number", "minimum": 0, "exclusiveMinimum": True}),
    "boolean exclusive bounds that say no": of_one(a={"type": "number", "maximum": 9, "exclusiveMaximum": False}),
    "exclusive without a bound": of_one(a={"type": "number", "exclusiveMinimum": True}),
    "definitions of draft 4": of_one(a={"$ref": "#/definitions/x"}) | {"definitions": {"x": {"type": "string"}}},
    "id of draft 4": {"id": "http://a.example/s", "$schema": "http://json-schema.org/draft-04/schema#"} | of_one(a={}),
    "items of draft 4": of_one(a={"type": "array", "items": [{"type": "string"}, {"type": "integer"}]}),
    "additional items": of_one(a={"type": "array", "items": [{"type": "string"}], "additionalItems": False}),
    "dependencies of draft 4": of_one(a={}, b={}) | {"dependencies": {"a": ["b"]}},
    "type any": of_one(a={"type": "any"}),
    "type file": of_one(a={"type": "file"}),
    "type with capitals": of_one(a={"type": "String"}),
    "type list with twice the same": of_one(a={"type": ["string", "string"]}),
    "empty type list": of_one(a={"type": []}),
    "all types": of_one(a={"type": ["string", "number", "boolean", "object", "array", "null"]}),
    "nullable of OpenAPI": of_one(a={"type": "string", "nullable": True}),
    "example of OpenAPI": of_one(a={"type": "string", "example": "x", "xml": {"name": "a"}}),
    "discriminator of OpenAPI": of_one(a={"oneOf": [{"type": "string"}], "discriminator": {"propertyName": "t"}}),
    "empty enum": of_one(a={"enum": []}),
    "enum of many types": of_one(a={"enum": [1, "1", True, None, [1], {"a": 1}]}),
    "enum with null": of_one(a={"type": ["string", "null"], "enum": ["x", None]}),
    "enum of the wrong type": of_one(a={"type": "string", "enum": [1, 2]}),
    "enum that is a text": of_one(a={"enum": "x"}),
    "enum of 2000": of_one(a={"enum": [f"value {number}" for number in range(2000)]}),
    "const of null": of_one(a={"const": None}),
    "const of an object": of_one(a={"const": {"a": [1]}}),
    "empty anyOf": of_one(a={"anyOf": []}),
    "anyOf of nothing possible": of_one(a={"anyOf": [False, False]}),
    "anyOf of one": of_one(a={"anyOf": [{"type": "string"}], "description": "One."}),
    "nested anyOf": of_one(a={"anyOf": [{"anyOf": [{"type": "string"}, {"anyOf": [{"type": "null"}]}]}, {}]}),
    "anyOf beside members": of_one(
        a=of_one(x={"type": "string"}, y={}) | {"anyOf": [{"required": ["x"]}, {"required": ["y"]}]}
    ),
    "oneOf at the root": {"oneOf": [of_one(a={"type": "string"}), of_one(a={"type": "integer"}, b={})]},
    "allOf at the root": {"allOf": [of_one(a={"type": "string"}), of_one(b={}) | {"required": ["b"]}]},
    "allOf that contradicts": of_one(a={"allOf": [{"type": "string"}, {"type": "integer"}]}),
    "allOf of patterns": of_one(a={"allOf": [{"pattern": "a"}, {"pattern": "b"}], "type": "string"}),
    "not": of_one(a={"not": {}}) | {"not": {"required": ["b"]}},
    "if then": of_one(a={}) | {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
    "circle": of_one(a={"$ref": "#"}),
    "circle of two": of_one(a={"$ref": "#/$defs/x"})
    | {"$defs": {"x": of_one(y={"$ref": "#/$defs/y"}), "y": of_one(x={"$ref": "#/$defs/x"})}},
    "circle of nothing": of_one(a={"$ref": "#/$defs/x"}) | {"$defs": {"x": {"$ref": "#/$defs/x"}}},
    "circle through allOf": of_one(a={"$ref": "#/$defs/x"})
    | {"$defs": {"x": {"allOf": [{"$ref": "#/$defs/x"}, {"type": "object"}]}}},
    "circle at the root": {"$ref": "#/$defs/x", "$defs": {"x": of_one(a={"$ref": "#/$defs/x"})}},
    "tree of two branches": of_one(t={"$ref": "#/$defs/t"})
    | {"$defs": {"t": of_one(l={"$ref": "#/$defs/t"}, r={"$ref": "#/$defs/t"}, v={"type": "integer"})}},
    "reference to nowhere": of_one(a={"$ref": "#/$defs/gone"}),
    "reference to the network": of_one(a={"$ref": "https://a.example/schema.json"}),
    "reference to a file": of_one(a={"$ref": "file:///etc/passwd"}),
    "reference by anchor": of_one(a={"$ref": "#there"}) | {"$defs": {"x": {"$anchor": "there", "type": "string"}}},
    "reference into members": of_one(a={"type": "string"}, b={"$ref": "#/properties/a"}),
    "reference with escapes": of_one(a={"$ref": "#/$defs/a~1b%20c"}) | {"$defs": {"a/b c": {"type": "string"}}},
    "reference that is no text": of_one(a={"$ref": 5}),
    "reference beside demands": of_one(a={"$ref": "#/$defs/x", "maxLength": 3, "default": "x"})
    | {"$defs": {"x": {"type": "string", "maxLength": 5}}},
    "a member called $ref": of_one(**{"$ref": {"type": "string"}}),
    "strange member names": of_one(**{"": {}, "a b": {}, "ü": {}, "x" * 80: {}, "$type": {}, "a/b~c": {}}),
    "free members": {"type": "object", "additionalProperties": {"type": "string"}},
    "free members below": of_one(a={"type": "object", "additionalProperties": {"$ref": "#"}}),
    "pattern members": of_one(a={"type": "object", "patternProperties": {"^x-": {"type": "string"}}}),
    "member names": of_one(a={"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}}),
    "no list elements": of_one(a={"type": "array"}, b={"type": "array", "items": {}}),
    "no list element": of_one(a={"type": "array", "items": False}),
    "tuple": of_one(a={"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False}),
    "open tuple": of_one(a={"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "boolean"}}),
    "list bounds": of_one(a={"type": "array", "items": {"type": "string"}, "minItems": 3, "uniqueItems": True}),
    "formats": of_one(**{name.replace("-", "_"): {"type": "string", "format": name} for name in
        ["date-time", "email", "uri", "uuid", "byte", "password", "int64", "regex", "made-up"]}),
    "defaults": of_one(a={"type": "integer", "default": 10}, b={"default": {"x": [1]}}),
    "default that does not fit": of_one(a={"type": "string", "default": None}),
    "regular expressions": of_one(a={"type": "string", "pattern": "^(a+)+$"}, b={"pattern": "(?<x>a)"}),
    "huge numbers": of_one(a={"type": "integer", "maximum": 10**30, "minimum": -(10**30)}),
    "deep": deep(45, leaf={"type": "string"}),
    "too deep": deep(120, leaf={"type": "string"}),
    "wide": of_one(**{f"member_{number}": {"type": "string"} for number in range(600)}),
    "a text where a schema should be": of_one(a="string", b=None, c=["x"]),
    "description that is no text": of_one(a={"type": "string", "description": ["x"], "title": 5}),
    "unknown words": of_one(a={"type": "string", "x-order": 1, "enumDescriptions": ["a"]}) | {"markdown": "x"},
    "content": of_one(a={"type": "string", "contentEncoding": "base64", "contentMediaType": "image/png"}),
    "unevaluated": of_one(a={}) | {"unevaluatedProperties": False},
    "unevaluated below": of_one(a={"allOf": [of_one(x={"type": "string"})], "unevaluatedProperties": False}),
    "unevaluated elements": of_one(a={"type": "array", "prefixItems": [{"type": "string"}], "unevaluatedItems": False}),
    "dependent schemas": of_one(a={"type": "string"}, b={"type": "string"})
    | {"dependentSchemas": {"a": {"required": ["b"]}}, "dependentRequired": {"b": ["a"]}},
    "dependent schemas below": of_one(
        x=of_one(a={"type": "string"}, b={"type": "integer"}) | {"dependentSchemas": {"a": of_one(b={"minimum": 3})}}
    ),
    "if then else": of_one(
        x=of_one(kind={"enum": ["a", "b"]}, size={"type": "integer"})
        | {"if": of_one(kind={"const": "a"}), "then": {"required": ["size"]}, "else": {"not": {"required": ["size"]}}}
    ),
    "oneOf of the same twice": of_one(a={"oneOf": [{}, {}]}),
    "oneOf that overlaps": of_one(
        a={"oneOf": [{"type": "string", "pattern": "^a"}, {"type": "string", "enum": ["ab", "x"]}]}
    ),
    "oneOf of numbers": of_one(a={"oneOf": [{"type": "integer"}, {"type": "number", "multipleOf": 0.5}]}),
    "contains": of_one(a={"type": "array", "contains": {"const": "x"}, "minContains": 2}),
    "counts of members": of_one(a={"type": "object", "minProperties": 1, "maxProperties": 2}),
    "names in any script": of_one(**{"名前": {"type": "string"}, "naïve": {"type": "integer"}, "🙂": {}}),
    "members called like keywords": of_one(
        properties={"type": "string"}, required={"type": "boolean"}, type={"enum": ["object"]}, items={"type": "array"}
    ),
    "optional of pydantic": of_one(
        a={"anyOf": [{"type": "string"}, {"type": "null"}], "default": None, "title": "A"},
        b={"anyOf": [{"items": {"type": "integer"}, "type": "array"}, {"type": "null"}], "default": None},
    ),
    "record of zod": of_one(a={"type": "object", "propertyNames": {"type": "string"}, "additionalProperties": {}}),
    "numbers beyond doubles": of_one(a={"const": 2**63 + 1}, b={"type": "integer", "enum": [2**53, 2**53 + 1]}),
    "enum of 1500 numbers": of_one(a={"type": "integer", "enum": list(range(1500))}),
    "enum of long texts": of_one(a={"type": "string", "enum": [f"{number:0400}" for number in range(400)]}),
    "booleans for schemas": of_one(a=True, b=False, c={"type": "array", "items": True})
    | {"additionalProperties": True},
    "words of draft 3": of_one(a={"type": "string", "disallow": "null", "extends": {}, "divisibleBy": 2}),
    "recursive of 2019": {"$recursiveAnchor": True} | of_one(a={"type": "array", "items": {"$recursiveRef": "#"}}),
    "patterns of 300": of_one(
        **{f"m{number}": {"type": "string", "pattern": f"^{number}"} for number in range(300)}
    ),
    "dynamic": {"$dynamicAnchor": "n"} | of_one(a={"type": "array", "items": {"$dynamicRef": "#n"}}),
}  # fmt: skip
