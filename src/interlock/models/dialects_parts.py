"""Says one schema of one type in a dialect: its members, its elements, its bounds, its values.

What a dialect has no word for is left to the gate, which judges under the original schema; the description hints at it.
"""

from __future__ import annotations

import json
from typing import Final, Protocol

from interlock.core.canonical import Json
from interlock.core.schema_references import escaped
from interlock.models.dialects_rules import ANNOTATIONS, Rules
from interlock.models.dialects_source import of_type

OPTIONAL_MARK: Final = "interlock:optional"
"""Names, while a schema is compiled, the members of an object for which null stands for nothing."""

_ABOUT: Final = {
    "string": "pattern minLength maxLength format",
    "number": "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
    "array": "minItems maxItems uniqueItems contains minContains maxContains unevaluatedItems",
    "object": "minProperties maxProperties patternProperties propertyNames dependentRequired dependentSchemas "
    "dependencies unevaluatedProperties",
}
_ABOUT_ANY: Final = frozenset({"not", "if"})
_HINT_CHARACTERS_MAX: Final = 160


class Inexpressible(ValueError):
    """A dialect has no way to say a schema."""


class NotStrict(Inexpressible):
    """A schema can be said, but not so that the provider holds the model to it."""


class Walk(Protocol):
    """The compiler of one schema, as its parts need it. `at` is a JSON pointer into the original."""

    @property
    def rules(self) -> Rules: ...

    def node(self, schema: Json, *, at: str) -> dict[str, Json] | None:
        """A schema in the dialect; None for one that accepts nothing."""

    def lose(self, at: str, *, words: str, narrows: bool = False) -> None:
        """Report what the dialect does not say, or (`narrows`) does not let the model say."""

    def anything(self, at: str) -> dict[str, Json]:
        """What comes nearest to any value."""

    def admits_null(self, schema: Json) -> bool:
        """Whether null fits the original schema."""


def object_part(walk: Walk, schema: dict[str, Json], *, at: str) -> dict[str, Json] | None:
    """An object: its members, which of them must be there, what else may be."""
    members = schema.get("properties")
    named: dict[str, Json] = members if isinstance(members, dict) else {}
    required = _required(walk, schema, named=named, at=at)
    if walk.rules.closed:
        _check_closed(walk, schema, named=named, at=at)
    compiled = _members(walk, named, required=required, at=at)
    if compiled is None:
        return None
    result: dict[str, Json] = {"properties": dict[str, Json](compiled)}
    kept: list[Json] = [name for name in required if name in compiled or not walk.rules.openapi]
    if walk.rules.all_required:
        result[OPTIONAL_MARK] = _make_optional_null(walk, compiled, named=named, at=at, required=required)
        result["properties"], kept = dict[str, Json](compiled), list[Json](compiled)
    if kept or walk.rules.all_required:
        result["required"] = kept
    return result | _other_members(walk, schema, at=at)


def _required(walk: Walk, schema: dict[str, Json], *, named: dict[str, Json], at: str) -> list[str]:
    listed = schema.get("required")
    required = [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []
    unnamed = [name for name in required if name not in named]
    if unnamed and walk.rules.closed:
        raise NotStrict(f"{at or '/'} requires members that it does not describe.")
    if unnamed and walk.rules.openapi:
        walk.lose(f"{at}/required", words=f"required, but not described: {', '.join(unnamed)[:80]}")
    return list(dict.fromkeys(required))


def _check_closed(walk: Walk, schema: dict[str, Json], *, named: dict[str, Json], at: str) -> None:
    more = schema.get("additionalProperties")
    if (more is not None and more is not False) or schema.get("patternProperties"):
        raise NotStrict(f"{at or '/'} takes members under names that it does not list.")
    if more is None and not named and at:
        raise NotStrict(f"{at} takes any object.")
    if more is None and schema.get("unevaluatedProperties") is not False:
        walk.lose(at, words="members that are not named cannot be sent", narrows=True)


def _members(walk: Walk, named: dict[str, Json], *, required: list[str], at: str) -> dict[str, dict[str, Json]] | None:
    """The members in the dialect; None where one that is required accepts nothing."""
    compiled: dict[str, dict[str, Json]] = {}
    for name, schema in named.items():
        below = f"{at}/properties/{escaped(name)}"
        fits = bool(at) or walk.rules.members.fullmatch(name) is not None
        part = walk.node(schema, at=below) if fits else None
        if part is not None:
            compiled[name] = part
        elif name in required:
            if not fits:
                raise Inexpressible(f"{below} is required, and its name is not one that the provider takes.")
            return None
        elif not fits:
            walk.lose(below, words="left out: its name is not one that the provider takes", narrows=True)
        elif not walk.rules.closed:
            walk.lose(below, words="that it must not be sent is not said")
    return compiled


def _make_optional_null(
    walk: Walk, compiled: dict[str, dict[str, Json]], *, named: dict[str, Json], required: list[str], at: str
) -> list[Json]:
    """Let null stand for what is not sent, also where null is a value: no change is safer than to empty a field."""
    marked: list[Json] = []
    for name, part in compiled.items():
        if name in required:
            continue
        if walk.admits_null(named[name]):
            words = "null cannot be sent: it stands for what is not sent"
            walk.lose(f"{at}/properties/{escaped(name)}", words=words, narrows=True)
        compiled[name] = part if _takes_null(part) else or_null(part)
        marked.append(name)
    return marked


def _takes_null(part: dict[str, Json]) -> bool:
    alternatives = part.get("anyOf")
    return part.get("type") == "null" or (isinstance(alternatives, list) and {"type": "null"} in alternatives)


def or_null(part: dict[str, Json]) -> dict[str, Json]:
    """The schema, or null."""
    kind, alternatives, values = part.get("type"), part.get("anyOf"), part.get("enum")
    if isinstance(alternatives, list) and part.keys() <= {"anyOf", "description", "title"}:
        return part | {"anyOf": [*alternatives, {"type": "null"}]}
    if not isinstance(kind, str) or "const" in part:
        return {"anyOf": [part, {"type": "null"}]}
    nullable: dict[str, Json] = part | {"type": [kind, "null"]}
    return nullable | ({"enum": [*values, None]} if isinstance(values, list) else {})


def _other_members(walk: Walk, schema: dict[str, Json], *, at: str) -> dict[str, Json]:
    more, below = schema.get("additionalProperties"), f"{at}/additionalProperties"
    if walk.rules.closed:
        return {"additionalProperties": False}
    if more is None:
        return {}
    if schema.get("patternProperties") and more is not True and "patternProperties" not in walk.rules.keywords:
        walk.lose(below, words="what other members may be is not said")
        return {}
    if "additionalProperties" not in walk.rules.keywords:
        if more is not True:
            walk.lose(below, words="what other members may be is not said")
        if more is not False:
            walk.lose(below, words="other members are not described", narrows=True)
        return {}
    if isinstance(more, bool):
        return {"additionalProperties": more}
    part = walk.node(more, at=below)
    return {"additionalProperties": False if part is None else part}


def array_part(walk: Walk, schema: dict[str, Json], *, at: str) -> dict[str, Json] | None:
    """An array: what its elements are, by place where the dialect has a word for it."""
    first, rest = schema.get("prefixItems"), schema.get("items")
    if isinstance(first, list) and first:
        return _tuple_part(walk, schema, first=first, at=at)
    if rest is None or rest is False:
        if rest is False:
            walk.lose(f"{at}/items", words="that the list must be empty is not said")
        return {"items": walk.anything(f"{at}/items")}
    part = walk.node(rest, at=f"{at}/items")
    return {"items": walk.anything(f"{at}/items") if part is None else part}


def _tuple_part(walk: Walk, schema: dict[str, Json], *, first: list[Json], at: str) -> dict[str, Json]:
    rest = schema.get("items")
    parts = [walk.node(one, at=f"{at}/prefixItems/{index}") for index, one in enumerate(first)]
    places: list[Json] = [{"not": {}} if part is None else part for part in parts]
    after = walk.node(rest, at=f"{at}/items") if isinstance(rest, dict) else None
    if "prefixItems" in walk.rules.keywords and None not in parts:
        result: dict[str, Json] = {"prefixItems": places}
        if rest is False:
            result["maxItems"] = _fewest(schema.get("maxItems"), len(first))
        elif after is not None:
            result["items"] = after
        return result
    walk.lose(f"{at}/prefixItems", words="which element stands at which place is not said")
    kinds = [part for part in [*parts, after] if part is not None]
    distinct = list[Json]({json.dumps(part, sort_keys=True): part for part in kinds}.values())
    if after is None and rest is not False:
        walk.lose(f"{at}/items", words="more elements than have a place cannot be sent", narrows=True)
    one: Json = distinct[0] if len(distinct) == 1 else {"anyOf": distinct}
    if not distinct:
        return {"items": walk.anything(f"{at}/prefixItems")}
    bound: dict[str, Json] = {} if after is not None else {"maxItems": _fewest(schema.get("maxItems"), len(first))}
    return {"items": one} | ({} if "maxItems" not in walk.rules.keywords else bound)


def _fewest(given: Json, places: int) -> int:
    return min(given, places) if isinstance(given, int) and not isinstance(given, bool) else places


def values_part(walk: Walk, schema: dict[str, Json], *, kind: str, at: str) -> dict[str, Json] | None:
    """The values that a schema lists, of one type. None where it lists none of that type."""
    listed = schema.get("enum")
    values = listed if isinstance(listed, list) else [schema["const"]] if "const" in schema else None
    if values is None:
        return {}
    values = [value for value in values if of_type(value, kind)]
    if "const" in schema:
        values = [value for value in values if value == schema["const"]]
    if not values:
        return None
    if kind in {"object", "array"} and walk.rules.closed:
        raise NotStrict(f"{at or '/'} lists values that are objects or lists.")
    if walk.rules.openapi and kind != "string":
        walk.lose(f"{at}/enum", words="the values are told in words only")
        return {"description": hinted(schema.get("description"), told={"enum": values})}
    if "const" in schema and "const" in walk.rules.keywords:
        return {"const": values[0]}
    return {"enum": values}


def bounds_part(walk: Walk, schema: dict[str, Json], *, kind: str, at: str) -> dict[str, Json]:
    """What bounds values of one type, and the description with what the dialect has no keyword for."""
    about = {*_ABOUT.get("number" if kind == "integer" else kind, "").split(), *_ABOUT_ANY}
    result: dict[str, Json] = {}
    told: dict[str, Json] = {}
    for keyword in (keyword for keyword in schema if keyword in about):
        if keyword in walk.rules.keywords and _takes(walk.rules, keyword, value=schema[keyword]):
            result[keyword] = schema[keyword]
        elif not (keyword == "unevaluatedProperties" and walk.rules.closed):
            told[keyword] = schema[keyword]
            walk.lose(f"{at}/{keyword}", words=f"{keyword} is not enforced")
    if "default" in schema and "default" not in walk.rules.keywords:
        told["default"] = schema["default"]
    if told:
        result["description"] = hinted(schema.get("description"), told=told)
    return result


def annotations_of(schema: dict[str, Json], *, rules: Rules) -> dict[str, Json]:
    """The words of a schema that the dialect has a place for."""
    return {name: value for name, value in schema.items() if name in ANNOTATIONS & rules.keywords}


def hinted(description: Json, *, told: dict[str, Json]) -> str:
    """The description with constraints that are told in words, as far as they are short."""
    before = description if isinstance(description, str) else ""
    hints = [f"{keyword}: {_short(value)}" for keyword, value in told.items() if _short(value)]
    return " ".join(filter(None, [before, f"({'; '.join(hints)})" if hints else ""]))


def _short(value: Json) -> str:
    spelled = json.dumps(value, ensure_ascii=False)
    return spelled if len(spelled) <= _HINT_CHARACTERS_MAX else ""


def _takes(rules: Rules, keyword: str, *, value: Json) -> bool:
    return keyword != "format" or rules.formats is None or value in rules.formats
