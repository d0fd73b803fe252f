"""One of two schemas that are compared: its parts in the words of draft 2020-12, and what each part accepts.

A part is a subschema with the schema that it belongs to, since its references lead nowhere without it. Where a schema
speaks an older draft, its words are put into those of 2020-12, as the validator reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, cast

from interlock.core.canonical import Json, canonical, decode
from interlock.core.errors import SchemaInvalid
from interlock.core.frozen import frozen
from interlock.core.schema import DEFAULT_LIMITS, compile_schema
from interlock.core.schema_library import Library, holds
from interlock.core.schema_references import Node, References

if TYPE_CHECKING:
    import jsonschema_rs

ASSERTED: Final = frozenset(
    "type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern format "
    "maxItems minItems uniqueItems contains minContains maxContains prefixItems items unevaluatedItems maxProperties "
    "minProperties required dependentRequired properties patternProperties additionalProperties propertyNames "
    "dependentSchemas unevaluatedProperties allOf anyOf oneOf not if then else $ref $dynamicRef $recursiveRef".split()
)
"""The keywords that can refuse a value; all others are remarks."""

FORMATS: Final = frozenset(
    "date date-time time duration email idn-email hostname idn-hostname ipv4 ipv6 uri uri-reference iri iri-reference "
    "uuid uri-template json-pointer relative-json-pointer regex".split()
)
"""The formats that the validator knows; it holds no text to any other."""

_DYNAMIC: Final = frozenset({"$dynamicRef", "$recursiveRef"})
_OLD: Final = ("draft-03", "draft-04", "draft-05", "draft-06", "draft-07")
_CONTENT: Final = frozenset({"contentEncoding", "contentMediaType"})
_ADDRESSED: Final[Mapping[bool, Node]] = MappingProxyType({True: {}, False: {"not": {}}})


class Side:
    """One schema, compiled, with its references. Raises SchemaInvalid for one that cannot be compiled."""

    def __init__(self, schema: Mapping[str, Json] | bool) -> None:
        own = schema if isinstance(schema, bool) else decode(canonical(dict(schema)))
        self.root: Json = own
        self.compiled = compile_schema(cast("dict[str, Json] | bool", own))
        self._references = References(own, {}, levels_max=DEFAULT_LIMITS.depth_max)
        self._library = Library(own, {}, asserts_formats=True, pattern_bytes_max=DEFAULT_LIMITS.pattern_bytes_max)
        dialect = str(own.get("$schema", "")) if isinstance(own, dict) else ""
        self.is_dynamic = any(node.keys() & _DYNAMIC for node in self._references.nodes())
        self.is_old = any(name in dialect for name in _OLD)
        self._validators: dict[int, jsonschema_rs.Validator | None] = {}
        self.types: dict[tuple[int, int], frozenset[str]] = {}
        self._words: dict[int, Node] = {}
        self._negated: dict[int, Node] = {}
        self._demanding: dict[str, Node] = {}
        self._made: list[Node] = []

    def target(self, node: Node) -> Json:
        """What the node's reference leads to; None where it has none, or a dynamic one."""
        return self._references.target(node)

    def words(self, node: Node) -> Node:
        """The keywords of a node that can refuse a value, as draft 2020-12 spells them."""
        if id(node) not in self._words:
            self._words[id(node)] = self._spelled(node)
            self._made.append(node)
        return self._words[id(node)]

    def negated(self, schema: Json) -> Node:
        """The schema of all that does not fit this one; the same object each time."""
        if not isinstance(schema, dict):
            return {} if schema is False else {"not": {}}
        if id(schema) not in self._negated:
            self._negated[id(schema)] = {"not": schema}
            self._made.append(schema)
        return self._negated[id(schema)]

    def demanding(self, name: str) -> Node:
        """The schema of all objects that have a member of this name; the same object each time."""
        return self._demanding.setdefault(name, {"type": "object", "required": [name]})

    def fits(self, node: Json, value: Json) -> bool:
        """Whether a value fits a part of this schema, taken by itself."""
        if isinstance(node, bool):
            return node
        if not isinstance(node, dict):
            return True
        if id(node) not in self._validators:
            self._validators[id(node)] = self._compiled(node)
            self._made.append(node)
        validator = self._validators[id(node)]
        return validator is None or holds(validator, value)

    def _compiled(self, node: Node) -> jsonschema_rs.Validator | None:
        try:
            if self._references.known_address(node) is None:
                return self._library.part({name: self._referring(each) for name, each in node.items()})
            return self._library.part({"$ref": self._references.address(node)})
        except SchemaInvalid:
            return None

    def _referring(self, value: Json) -> Json:
        """A keyword of a node that was made here, with what it holds of the schema replaced by references."""
        address = self._references.known_address(value)
        if address is not None:
            return {"$ref": address}
        if isinstance(value, dict):
            return {name: self._referring(each) for name, each in value.items()}
        return [self._referring(each) for each in value] if isinstance(value, list) else value

    def _spelled(self, node: Node) -> Node:
        if self.is_old and "$ref" in node:
            return {"$ref": node["$ref"]}
        known = ASSERTED | _CONTENT if self.is_old else ASSERTED
        words = {name: each for name, each in node.items() if name in known}
        if isinstance(words.get("items"), list):
            words["prefixItems"] = words.pop("items")
            if "additionalItems" in node:
                words["items"] = node["additionalItems"]
        if self.is_old:
            words.update(_dependencies(node.get("dependencies")))
        if "format" in words and words["format"] not in FORMATS:
            del words["format"]
        if "contains" not in words:
            words.pop("minContains", None)
            words.pop("maxContains", None)
        if "if" not in words:
            words.pop("then", None)
            words.pop("else", None)
        return words


@frozen
class Part:
    """A subschema of one side. `is_filled`: the gate puts in the defaults that it declares, before it checks."""

    schema: Json
    side: Side
    is_filled: bool = False

    @property
    def words(self) -> Node:
        """Its keywords that can refuse a value."""
        return self.side.words(self.schema) if isinstance(self.schema, dict) else {}

    def below(self, schema: Json, *, is_filled: bool = False) -> Part:
        """A part of this part."""
        return Part(schema, self.side, self.is_filled and is_filled)

    def fits(self, value: Json) -> bool:
        """Whether a value fits it."""
        return self.side.fits(self.schema, value)

    def expanded(self) -> Iterator[Part]:
        """The part, and whatever always holds with it: the targets of its references and the parts of its allOf."""
        waiting, seen = [self], set[int]()
        while waiting:
            part = waiting.pop()
            if not isinstance(part.schema, dict):
                yield part
            elif id(part.schema) not in seen:
                seen.add(id(part.schema))
                yield part
                words = part.words
                waiting.extend(part.below(each, is_filled=True) for each in reversed(listed(words.get("allOf"))))
                if "$ref" in words and (target := part.side.target(part.schema)) is not None:
                    waiting.append(part.below(target, is_filled=True))


def listed(value: Json) -> list[Json]:
    """The items of a list; none of anything else."""
    return value if isinstance(value, list) else []


def members(value: Json) -> Node:
    """An object; an empty one in the place of anything else."""
    return value if isinstance(value, dict) else {}


def texts(value: Json) -> list[str]:
    """The texts of a list."""
    return [each for each in listed(value) if isinstance(each, str)]


def default_of(part: Part) -> bytes:
    """The canonical bytes of the default of a part, which may stand where it refers to; empty where it has none."""
    for each in part.expanded():
        if isinstance(each.schema, dict) and "default" in each.schema:
            return canonical(each.schema["default"])
    return b""


class Likeness:
    """Whether parts of two sides mean the same because they are written alike, references followed."""

    def __init__(self) -> None:
        self._assumed: set[tuple[int, int]] = set()
        self._kept: list[object] = []

    def same(self, one: Part, other: Part) -> bool:
        """Whether they are written alike. Remarks do not count, but defaults do; nothing dynamic is alike."""
        if one.schema is other.schema:
            return True
        if not (isinstance(one.schema, dict) and isinstance(other.schema, dict)):
            return _as_object(one.schema) == _as_object(other.schema)
        key = (id(one.schema), id(other.schema))
        if key in self._assumed:
            return True
        mine, others = one.words, other.words
        if _default_of(one.schema) != _default_of(other.schema):
            return False
        if mine.keys() != others.keys() or not mine.keys().isdisjoint(("$dynamicRef", "$recursiveRef")):
            return False
        self._assumed.add(key)
        self._kept.extend((one.schema, other.schema))
        alike = all(self._same_word(name, one, other) for name in mine)
        if not alike:
            self._assumed.clear()  # whatever was found alike may have leaned on this
        return alike

    def same_word(self, name: str, one: Part, other: Part) -> bool:
        """Whether one keyword is written alike in both."""
        mine, others = one.words, other.words
        return name in mine and name in others and self._same_word(name, one, other)

    def _same_word(self, name: str, one: Part, other: Part) -> bool:
        mine, others = one.words[name], other.words[name]
        if name == "$ref":
            left, right = one.side.target(cast(Node, one.schema)), other.side.target(cast(Node, other.schema))
            return mine == others if left is None or right is None else self.same(one.below(left), other.below(right))
        if name in ("required", "type", "enum"):
            return _sorted(mine) == _sorted(others)
        if name in _PLAIN:
            return canonical(mine) == canonical(others)
        if name in _NAMED:
            named, its = members(mine), members(others)
            return named.keys() == its.keys() and all(
                self.same(one.below(named[each]), other.below(its[each])) for each in named
            )
        if isinstance(mine, list) and isinstance(others, list):
            return len(mine) == len(others) and all(
                self.same(one.below(each), other.below(second)) for each, second in zip(mine, others, strict=True)
            )
        return self.same(one.below(mine), other.below(others))


_NAMED: Final = frozenset({"properties", "patternProperties", "dependentSchemas"})
_PLAIN: Final = frozenset(
    "const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern format maxItems "
    "minItems uniqueItems minContains maxContains maxProperties minProperties dependentRequired contentEncoding "
    "contentMediaType".split()
)


def _default_of(schema: Node) -> bytes:
    return canonical(schema["default"]) if "default" in schema else b""


def _as_object(schema: Json) -> Json:
    return _ADDRESSED[schema] if isinstance(schema, bool) else schema


def _sorted(value: Json) -> list[bytes]:
    return sorted({canonical(each) for each in (value if isinstance(value, list) else [value])})


def _dependencies(stated: Json) -> Node:
    found = members(stated)
    demanded: Node = {name: each for name, each in found.items() if isinstance(each, list)}
    schemas: Node = {name: each for name, each in found.items() if not isinstance(each, list)}
    return {"dependentRequired": demanded, "dependentSchemas": schemas} if found else {}
