"""A schema of an OpenAPI document as JSON Schema 2020-12: for what is sent, or for what comes back.

What is shared stays shared: a reference becomes one to `$defs`, so recursion stays recursion and nothing is written out
twice. `readOnly` properties are not sent, and `writeOnly` ones do not come back. A default is what the server takes
where nothing is sent, so it is told in words: as a keyword it would be filled in and sent, and a PATCH would change
what nobody meant to.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import lru_cache

from interlock.core.canonical import Json, canonical, sha256_hex
from interlock.core.errors import SchemaInvalid
from interlock.core.schema import compile_schema
from interlock.core.text import clean_json
from interlock.importers.openapi_document import Object, OpenApi, Unfit, local, mapping, words

WORDS_MAX = 500
_LEVELS_MAX = 64
BYTES_MAX = 262_144
"""Of a schema with its definitions: no larger one can be compiled."""
_SMALL = 500

_ONE = frozenset("items additionalProperties not contains propertyNames if then else unevaluatedProperties".split())
_ONE |= {"unevaluatedItems"}
_MANY = frozenset("allOf anyOf oneOf prefixItems".split())
_NAMED = frozenset("properties patternProperties dependentSchemas".split())
_PLAIN = frozenset(
    """
    type enum const format multipleOf maximum minimum maxLength minLength maxItems minItems uniqueItems maxProperties
    minProperties required dependentRequired maxContains minContains contentEncoding contentMediaType deprecated
    """.split()
)
_MOVES = ("$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef", "$recursiveAnchor")


class Way(Enum):
    """Which way values of the schema go; its value is the keyword whose properties do not go that way."""

    SENT = "readOnly"
    BACK = "writeOnly"


class Schemas:
    """The schemas of one document, for one way; each definition is read once, for all tools."""

    def __init__(self, document: OpenApi, way: Way) -> None:
        self._document = document
        self._way = way
        self._definitions: dict[str, tuple[Json, frozenset[str], int]] = {}

    def read(self, schema: Json, pointer: str) -> Json:
        """The schema, with references into `#/$defs`. Raises `Unfit`."""
        return self._checked(self._converted(schema, pointer, _LEVELS_MAX), pointer)

    def definitions(self, *schemas: Json, bytes_max: int = BYTES_MAX) -> Object:
        """The `$defs` that these schemas need, by name. Raises `Unfit` where they are too large."""
        left = bytes_max
        found: Object = {}
        waiting = [name for schema in schemas for name in _names(schema)]
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            found[name], further, size = self._definition(name)
            waiting.extend(further)
            left -= size
            if left < 0:
                raise Unfit(f"its schema is larger than {bytes_max} bytes, with all that it refers to")
        return dict(sorted(found.items()))

    def _definition(self, name: str) -> tuple[Json, frozenset[str], int]:
        held = self._definitions.get(name)
        if held is None:
            pointer = self._pointers[name]
            schema = self.read(self._document.at(pointer), pointer)
            held = self._definitions[name] = (schema, frozenset(_names(schema)), len(canonical(schema)))
        return held

    @property
    def _pointers(self) -> dict[str, str]:
        return self._document.definitions

    def _checked(self, schema: Json, pointer: str) -> Json:
        """Names and values are sent as they are, so they must be what they look like."""
        if clean_json(schema)[1]:
            raise Unfit("its schema holds a name or a value with characters that nobody sees", pointer)
        return schema

    def _converted(self, schema: Json, pointer: str, levels: int) -> Json:
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, dict):
            raise Unfit("a schema is an object", pointer)
        if levels == 0:
            raise Unfit(f"its schema nests deeper than {_LEVELS_MAX} levels", pointer)
        for keyword in _MOVES:
            if keyword in schema:
                raise Unfit(f"its schema has {keyword}, which moves what references mean", pointer)
        found = dict(self._parts(schema, pointer, levels))
        if "$ref" in schema:
            reference: Object = {"$ref": self._reference(schema["$ref"], pointer)}
            found = reference if self._document.is_old else {**reference, **found}
        return self._bounded(schema, found)

    def _parts(self, schema: Object, pointer: str, levels: int) -> Iterator[tuple[str, Json]]:
        """The keywords that mean the same in every version, and those of subschemas with them read."""
        for keyword, value in schema.items():
            below = f"{pointer}/{keyword}"
            if keyword in _PLAIN:
                yield keyword, value
            elif keyword in _ONE:
                yield keyword, self._converted(value, below, levels - 1)
            elif keyword in _MANY and isinstance(value, list):
                yield keyword, [self._converted(each, f"{below}/{at}", levels - 1) for at, each in enumerate(value)]
            elif keyword in _NAMED and isinstance(value, dict):
                yield (
                    keyword,
                    {
                        name: self._converted(each, f"{below}/{name}", levels - 1)
                        for name, each in value.items()
                        if keyword != "properties" or self.goes(each, pointer)
                    },
                )
            elif keyword == "pattern" and isinstance(value, str) and _is_readable(value):
                yield keyword, value
            elif keyword in ("title", "description"):
                yield keyword, words(value, WORDS_MAX)

    def goes(self, schema: Json, pointer: str) -> bool:
        """Whether a property goes this way at all."""
        for _ in range(_LEVELS_MAX):
            if not isinstance(schema, dict) or schema.get(self._way.value) is True:
                break
            if "$ref" not in schema:
                return True
            schema = self._document.at(local(schema["$ref"], pointer))
        return not isinstance(schema, dict) or schema.get(self._way.value) is not True

    def _reference(self, reference: Json, pointer: str) -> str:
        target = local(reference, pointer)
        self._document.at(target)
        name = _defined_as(target)
        self._pointers[name] = target
        return f"#/$defs/{name}"

    def _bounded(self, schema: Object, found: Object) -> Object:
        """What its keywords mean together: the bounds, null and remarks of older versions."""
        for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
            strict = schema.get(exclusive)
            if strict is True and bound in found:
                found[exclusive] = found.pop(bound)
            elif exclusive in schema and not isinstance(strict, bool):
                found[exclusive] = strict
        enum = found.get("enum")
        if isinstance(enum, list):
            found["enum"] = [each for at, each in enumerate(enum) if not any(_same(each, other) for other in enum[:at])]
        self._without_what_stays(schema, found)
        _describe(schema, found, tells_default=self._way is Way.SENT)
        return _nullable(found) if self._document.is_old and schema.get("nullable") is True else found

    def _without_what_stays(self, schema: Object, found: Object) -> None:
        left = mapping(schema.get("properties")).keys() - mapping(found.get("properties")).keys()
        required = found.get("required")
        if left and isinstance(required, list):
            found["required"] = [name for name in required if name not in left]
        if not found.get("required", True):
            del found["required"]


def _describe(schema: Object, found: Object, *, tells_default: bool) -> None:
    """Examples as 2020-12 has them, where they are small, and the server's default in words."""
    given = schema.get("examples") if isinstance(schema.get("examples"), list) else None
    examples = given if given is not None else [schema["example"]] if "example" in schema else []
    small = [each for each in examples if len(canonical(each)) <= _SMALL] if isinstance(examples, list) else []
    cleaned, _ = clean_json(small[:3])
    if cleaned:
        found["examples"] = cleaned
    if tells_default and schema.get("default") is not None:
        text = words(canonical(schema["default"]).decode(), 80)
        found["description"] = f"{found.get('description', '')}\nWhere it is left out the server takes {text}.".strip()


def _nullable(found: Object) -> Object:
    """A schema that null fits as well. Its words stay outside, where they are read first."""
    kind = found.get("type")
    if isinstance(kind, str) and not found.keys() & {"$ref", "allOf", "anyOf", "oneOf", "not", "const"}:
        enum = found.get("enum")
        if isinstance(enum, list) and None not in enum:
            found["enum"] = [*enum, None]
        return {**found, "type": [kind, "null"]}
    if not found.keys() - {"title", "description", "examples"}:
        return found
    said: Object = {name: found.pop(name) for name in ("title", "description", "examples") if name in found}
    return {**said, "anyOf": [found, {"type": "null"}]}


def _same(one: Json, other: Json) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _defined_as(pointer: str) -> str:
    """The name of a definition, which no other one has: those of the usual places keep theirs."""
    home, _, name = pointer.rpartition("/")
    plain = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "_-") else "_" for letter in name)
    if plain == name and len(name) <= 60 and home in ("/components/schemas", "/definitions"):
        return name
    return f"{plain[:50]}_{sha256_hex(pointer.encode())[:8]}"


def _names(schema: Json) -> Iterator[str]:
    """The definitions that a read schema refers to. A value in `enum` or `examples` may look like a reference."""
    if isinstance(schema, list):
        for each in schema:
            yield from _names(each)
    elif isinstance(schema, dict):
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference.startswith("#/$defs/"):
            yield reference.removeprefix("#/$defs/")
        for keyword, value in schema.items():
            if keyword in _NAMED and isinstance(value, dict):
                yield from _names([*value.values()])
            elif keyword in _ONE or keyword in _MANY:
                yield from _names(value)


@lru_cache(10_000)
def _is_readable(pattern: str) -> bool:
    """Whether our engine, which runs in linear time, knows this pattern; the server judges by the others."""
    try:
        compile_schema({"pattern": pattern})
    except SchemaInvalid:
        return False
    return True
