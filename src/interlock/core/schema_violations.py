"""Why a value does not fit its schema, told in the schema's words so that a model can mend the call.

Nothing of the value is repeated: what is said comes from the schema, and the names of properties that the schema does
not know are cut and cleaned. The walk descends only into parts that fail and asks the validator about one part at a
time, so that its cost is bounded by counters here and not by the shape of a hostile schema.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import jsonschema_rs

from interlock.core.canonical import Json
from interlock.core.errors import SchemaInvalid
from interlock.core.frozen import frozen
from interlock.core.schema_library import Library, holds
from interlock.core.schema_references import Node, References
from interlock.core.schema_words import below, cut, expected, expected_type, is_of_type, kind, kind_inside, named

VIOLATIONS_MAX = 16
_STEPS_MAX = 512
_LEVELS_MAX = 100
_KEPT_MAX = 1_024


@frozen
class Violation:
    """One failed keyword: where in the value (JSON pointer), what the schema expects there, and what to do."""

    path: str
    keyword: str
    expected: str
    hint: str


# Keywords that only hold together: the first one is asked, with the others beside it.
_TOGETHER = {
    "additionalItems": ("items",),
    "additionalProperties": ("properties", "patternProperties"),
    "contains": ("minContains", "maxContains"),
    "if": ("then", "else"),
    "items": ("prefixItems",),
}
# Of these, what is left over by the keywords beside them; what those demand of their own parts is not their business.
_LEFT_OVER = frozenset({"additionalItems", "additionalProperties", "items"})
# The order of the answer: what is wrong with the value itself, then with its parts, then with alternatives.
_ORDER = {
    keyword: place
    for place, keyword in enumerate(
        "type const enum required additionalProperties propertyNames dependentRequired minProperties maxProperties "
        "properties patternProperties dependentSchemas dependencies prefixItems items additionalItems contains "
        "minItems maxItems uniqueItems minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength "
        "maxLength pattern format contentEncoding contentMediaType $ref $dynamicRef $recursiveRef allOf anyOf oneOf "
        "if not unevaluatedProperties unevaluatedItems".split()
    )
}
_UNEVALUATED = frozenset({"unevaluatedItems", "unevaluatedProperties"})
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})


@frozen
class _Spot:
    """A place in the value that is being explained."""

    value: Json
    path: str

    def named(self, name: str) -> _Spot:
        """The property of an object at this place."""
        value = self.value[name] if isinstance(self.value, dict) else None
        return _Spot(value, below(self.path, name))


_Part: TypeAlias = tuple[Json, _Spot]


def _shape(beside: Json) -> Json:
    """What a keyword beside another says of which parts there are, without what it demands of them."""
    if isinstance(beside, dict):
        return dict.fromkeys(beside, True)
    return [True] * len(beside) if isinstance(beside, list) else beside


class Explainer:
    """Explains failures against one schema; keeps the small validators that it compiled."""

    __slots__ = ("_kept", "_library", "_references")

    def __init__(self, references: References, library: Library) -> None:
        self._references = references
        self._library = library
        self._kept: dict[tuple[int, str], jsonschema_rs.Validator | None] = {}

    def explain(self, value: Json) -> tuple[Violation, ...]:
        """At least one violation for a value that does not fit."""
        walk = _Walk(self)
        walk.look(self._references.root, _Spot(value, ""))
        return tuple(walk.found) or (Violation("", "schema", "a value that fits the schema", "the value does not fit"),)

    def target(self, node: Node, keyword: str) -> Json:
        return self._references.target(node, keyword)

    def fits(self, schema: Json, value: Json) -> bool:
        """Whether a value fits one subschema. What cannot be asked alone counts as fitting."""
        if not isinstance(schema, dict):
            return schema is not False
        return self._asked((id(schema), ""), {"$ref": self._references.address(schema)}, value)

    def types(self, schema: Json, levels: int = 8) -> frozenset[str] | None:
        """The JSON types that a subschema can admit, as far as its keywords say; None for any."""
        if not isinstance(schema, dict) or levels == 0:
            return None
        stated = schema.get("type")
        if stated is not None:
            return frozenset(map(str, stated if isinstance(stated, list) else [stated]))
        values = [schema["const"]] if "const" in schema else schema.get("enum")
        if isinstance(values, list):
            return frozenset(map(kind, values))
        if "$ref" in schema:
            return self.types(self.target(schema, "$ref"), levels - 1)
        alternatives = schema.get("anyOf", schema.get("oneOf"))
        found = [self.types(each, levels - 1) for each in alternatives] if isinstance(alternatives, list) else [None]
        return None if None in found else frozenset[str]().union(*(each for each in found if each is not None))

    def keyword_holds(self, node: Node, keyword: str, value: Json) -> bool:
        if keyword in _UNEVALUATED:  # what was evaluated depends on the whole node
            return self.fits(node, value)
        target = self.target(node, keyword) if keyword in _REFERENCES else None
        if target is not None:  # the reference is relative to where it stands, so what it points to is asked
            return self.fits(target, value)
        part = {keyword: node[keyword]}
        beside = {name: node[name] for name in _TOGETHER.get(keyword, ()) if name in node}
        shapes = {name: _shape(each) for name, each in beside.items()} if keyword in _LEFT_OVER else {}
        return self._asked((id(node), keyword), {**self._referring({**part, **beside}), **shapes}, value)

    def _asked(self, key: tuple[int, str], part: Node, value: Json) -> bool:
        if key not in self._kept:
            if len(self._kept) >= _KEPT_MAX:
                self._kept.clear()
            try:
                self._kept[key] = self._library.part(part)
            except SchemaInvalid:
                self._kept[key] = None
        validator = self._kept[key]
        return validator is None or holds(validator, value)

    def _referring(self, part: Node) -> Node:
        """The keywords with every subschema replaced by a reference to it, so that what is inside keeps its base."""
        replaced: Node = {}
        for name, item in part.items():
            if isinstance(item, dict) and name in ("properties", "patternProperties", "dependentSchemas"):
                replaced[name] = {key: self._reference(child) for key, child in item.items()}
            elif isinstance(item, list) and name in ("allOf", "anyOf", "oneOf", "prefixItems", "items"):
                replaced[name] = [self._reference(child) for child in item]
            else:
                replaced[name] = self._reference(item)
        return replaced

    def _reference(self, item: Json) -> Json:
        address = self._references.known_address(item)
        return item if address is None else {"$ref": address}


class _Walk:
    """One explanation: descends through failing parts, with what it has found and what it may still spend."""

    __slots__ = ("_explainer", "_steps_left", "found")

    def __init__(self, explainer: Explainer) -> None:
        self._explainer = explainer
        self._steps_left = _STEPS_MAX
        self.found: list[Violation] = []

    def look(self, schema: Json, spot: _Spot, levels: int = 0) -> None:
        """Explain why the value at a place fails the subschema."""
        if not isinstance(schema, dict):
            if schema is False:
                self._add(Violation(spot.path, "false", "nothing", f"{named(spot.path)} is not allowed; leave it out"))
            return
        before = len(self.found)
        for keyword in sorted(_ORDER.keys() & schema.keys(), key=_ORDER.__getitem__):
            if self._over(levels):
                return
            if keyword in _UNEVALUATED and len(self.found) > before:
                return  # it fails with whatever else fails
            self._steps_left -= 1
            if not self._explainer.keyword_holds(schema, keyword, spot.value):
                self._explain(schema, keyword, spot=spot, levels=levels)
                if keyword == "type":
                    return

    def _over(self, levels: int) -> bool:
        return levels > _LEVELS_MAX or self._steps_left <= 0 or len(self.found) >= VIOLATIONS_MAX

    def _add(self, violation: Violation) -> None:
        if len(self.found) < VIOLATIONS_MAX:
            self.found.append(violation)

    def _explain(self, schema: Node, keyword: str, *, spot: _Spot, levels: int) -> None:
        before = len(self.found)
        if keyword == "type":
            hint = _type_hint(schema["type"], spot)
            self._add(Violation(spot.path, keyword, expected_type(schema["type"]), hint))
        elif keyword == "required":
            self._missing(schema, spot)
        elif keyword == "additionalProperties":
            self._additional(schema, spot, levels)
        else:
            for part, place in self._parts(schema, keyword, spot):
                self.look(part, place, levels + 1)
                if self._over(levels):
                    break
        if len(self.found) == before:
            self._add(Violation(spot.path, keyword, expected(schema, keyword), self._hint(schema, keyword, spot)))

    def _missing(self, schema: Node, spot: _Spot) -> None:
        names = schema["required"]
        for name in names if isinstance(names, list) else ():
            if isinstance(name, str) and isinstance(spot.value, dict) and name not in spot.value:
                wanted = f"the property {named(below('', name))}"
                hint = f"{named(below(spot.path, name))} is missing; add it"
                self._add(Violation(spot.path, "required", wanted, hint))

    def _additional(self, schema: Node, spot: _Spot, levels: int) -> None:
        known = schema.get("properties")
        names = sorted(known) if isinstance(known, dict) else []
        wanted = cut(f"only {', '.join(named(below('', name)) for name in names)}" if names else "no properties")
        present = spot.value.keys() if isinstance(spot.value, dict) else frozenset[str]()
        for name in sorted(present - set(names)):
            if self._over(levels):
                return
            place = spot.named(name)
            if self._explainer.keyword_holds(schema, "additionalProperties", {name: place.value}):
                continue
            if schema["additionalProperties"] is False:
                hint = f"{named(place.path)} is not a known property; leave it out"
                self._add(Violation(place.path, "additionalProperties", wanted, hint))
            else:
                self.look(schema["additionalProperties"], place, levels + 1)

    def _parts(self, schema: Node, keyword: str, spot: _Spot) -> Iterator[_Part]:
        """The failing parts that a failing keyword leads to."""
        if keyword in _REFERENCES:
            candidates: Iterator[_Part] = iter([(self._explainer.target(schema, keyword), spot)])
        elif keyword in ("anyOf", "oneOf"):
            candidates = self._only_alternative(schema[keyword], spot)
        else:
            candidates = _candidates(schema, keyword, spot)
        for part, place in candidates:
            if not self._explainer.fits(part, place.value):
                yield part, place
        if keyword == "if":
            yield schema.get("then" if self._explainer.fits(schema["if"], spot.value) else "else"), spot

    def _only_alternative(self, stated: Json, spot: _Spot) -> Iterator[_Part]:
        """The one alternative that is meant for values of this type, if there is exactly one."""
        alternatives = stated if isinstance(stated, list) else []
        meant = [each for each in alternatives if _admits(self._explainer.types(each), spot.value)]
        if len(meant) == 1:
            yield meant[0], spot

    def _hint(self, schema: Node, keyword: str, spot: _Spot) -> str:
        if keyword in ("anyOf", "oneOf"):
            types = self._explainer.types({keyword: schema[keyword]})
            if types is not None and not _admits(types, spot.value):
                return _type_hint([*sorted(types)], spot)
        return f"{named(spot.path)} must be {expected(schema, keyword)}"


def _candidates(schema: Node, keyword: str, spot: _Spot) -> Iterator[_Part]:
    """The parts that a keyword applies to a value, whether they fail or not."""
    stated, value = schema[keyword], spot.value
    if keyword == "allOf" and isinstance(stated, list):
        yield from ((part, spot) for part in stated)
    elif isinstance(value, dict) and isinstance(stated, dict):
        if keyword == "properties":
            yield from ((part, spot.named(name)) for name, part in stated.items() if name in value)
        elif keyword == "dependentSchemas":
            yield from ((part, spot) for name, part in stated.items() if name in value)
    elif isinstance(value, list):
        for part, index in _elements(schema, keyword, len(value)):
            yield part, _Spot(value[index], f"{spot.path}/{index}")


def _elements(schema: Node, keyword: str, length: int) -> Iterator[tuple[Json, int]]:
    """The subschema of each index of a list."""
    stated = schema[keyword]
    if keyword in ("prefixItems", "items") and isinstance(stated, list):
        yield from zip(stated, range(length), strict=False)
    elif keyword == "items":
        prefix = schema.get("prefixItems")
        for index in range(len(prefix) if isinstance(prefix, list) else 0, length):
            yield stated, index


def _admits(types: frozenset[str] | None, value: Json) -> bool:
    return types is None or any(is_of_type(value, name) for name in types)


def _type_hint(types: Json, spot: _Spot) -> str:
    inside = kind_inside(spot.value)
    if inside and (types == inside or (isinstance(types, list) and inside in types)):
        return f"{named(spot.path)} is a string holding JSON; send the {inside} itself"
    return f"{named(spot.path)} must be {expected_type(types)}, not {expected_type(kind(spot.value))}"
