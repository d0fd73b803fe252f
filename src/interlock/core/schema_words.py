"""What a keyword expects, in words for a model: taken from the schema, bounded, without a trace of the value."""

from __future__ import annotations

import orjson

from interlock.core.canonical import Json, canonical
from interlock.core.schema_references import Node, escaped

_TEXT_MAX = 200
_NAME_MAX = 64
_PATH_MAX = 512

_WORDS = {
    "additionalProperties": "no other properties",
    "anyOf": "a value that fits at least one of the alternatives",
    "const": "exactly {}",
    "contains": "a list with the items that it must contain",
    "dependentRequired": "the properties that others need: {}",
    "enum": "one of {}",
    "exclusiveMaximum": "less than {}",
    "exclusiveMinimum": "more than {}",
    "format": "a text in the format {}",
    "maxItems": "a list of at most {} items",
    "maxLength": "a text of at most {} characters",
    "maxProperties": "an object of at most {} properties",
    "maximum": "at most {}",
    "minItems": "a list of at least {} items",
    "minLength": "a text of at least {} characters",
    "minProperties": "an object of at least {} properties",
    "minimum": "at least {}",
    "multipleOf": "a multiple of {}",
    "not": "a value outside of what the schema excludes",
    "oneOf": "a value that fits exactly one of the alternatives",
    "pattern": "a text that matches {}",
    "patternProperties": "an object whose properties fit the schemas of their names",
    "propertyNames": "an object whose property names fit {}",
    "unevaluatedItems": "a list without further items",
    "unevaluatedProperties": "an object without further properties",
    "uniqueItems": "a list whose items all differ",
}
_CHOICES = {"anyOf": "at least one of these:", "oneOf": "exactly one of these:"}
_ARTICLES = {"array": "an array", "integer": "an integer", "null": "null", "object": "an object"}


def expected(node: Node, keyword: str) -> str:
    """What the node's keyword asks of a value."""
    if keyword in _CHOICES and (demanded := _demanded(node[keyword])):
        return cut(f"an object with {_CHOICES[keyword]} {'; '.join(demanded)}")
    words = _WORDS.get(keyword, "a value that fits {}")
    return cut(words.format(canonical(node[keyword]).decode()) if "{}" in words else words)


def _demanded(alternatives: Json) -> list[str]:
    """The properties that each of the alternatives demands; none where one asks for anything else."""
    listed = alternatives if isinstance(alternatives, list) else []
    demands = [each["required"] if isinstance(each, dict) and each.keys() == {"required"} else None for each in listed]
    if not all(isinstance(names, list) and names for names in demands):
        return []
    return [" and ".join(map(str, names)) for names in demands if isinstance(names, list)]


def expected_type(types: Json) -> str:
    """What `type` asks: "an array or null"."""
    names = types if isinstance(types, list) else [types]
    return cut(" or ".join(_ARTICLES.get(str(name), f"a {name}") for name in names))


def kind(value: Json) -> str:
    """The JSON type of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"


def is_of_type(value: Json, name: Json) -> bool:
    """Whether a value is of a type as JSON Schema names it."""
    found = kind(value)
    if found == "number" and isinstance(value, float) and value.is_integer():
        return name in ("number", "integer")
    return name == found or (name == "number" and found == "integer")


def kind_inside(value: Json) -> str:
    """`array` or `object` for a text that holds such a value as JSON; else an empty text."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return ""
    try:
        inside = orjson.loads(value)
    except ValueError:
        return ""
    return "array" if isinstance(inside, list) else "object"


def below(path: str, name: str) -> str:
    """The JSON pointer one step further. Names may be the caller's text: cleaned, and cut where they are long."""
    clean = "".join(char if char.isprintable() else "?" for char in name[:_NAME_MAX])
    return f"{path}/{escaped(clean)}"[:_PATH_MAX]


def named(path: str) -> str:
    """How a sentence calls the place: "files", "root/children/0", or "the value"."""
    return path[1:] or "the value"


def cut(text: str) -> str:
    return text if len(text) <= _TEXT_MAX else f"{text[: _TEXT_MAX - 3]}..."
