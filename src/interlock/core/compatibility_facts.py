"""What is known of a value that fits some parts of a schema at once: its types, its bounds, its members.

Everything here errs on the side of knowing less: what it says holds for every such value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Final

import jsonschema_rs

from interlock.core.canonical import Json, canonical
from interlock.core.compatibility_side import Part, default_of, listed, members, texts
from interlock.core.schema_library import holds

ALL: Final = frozenset({"null", "boolean", "integer", "fraction", "string", "array", "object"})
"""The types of values, with the numbers that are no integers apart."""

FINITE_MAX: Final = 64
_LEVELS_MAX: Final = 6
_CASES_MAX: Final = 64
_CHOICES: Final = ("anyOf", "oneOf")
_LENGTHS: Final[Mapping[str, Mapping[str, int]]] = {
    "minLength": {"date": 10, "date-time": 20, "email": 3, "uuid": 36, "uri": 2, "time": 9, "ipv4": 7, "ipv6": 2},
    "maxLength": {"date": 10, "uuid": 36, "ipv4": 15},
}
"""How long texts of a format are."""


def type_of(value: Json) -> str:
    """The type of a value, as `ALL` names it."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    if isinstance(value, int | float):
        return "integer" if isinstance(value, int) or value.is_integer() else "fraction"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"


def types_named(stated: Json) -> frozenset[str]:
    """The types that the keyword `type` names."""
    named = set(texts(stated if isinstance(stated, list) else [stated]))
    return frozenset((named | {"integer", "fraction"}) - {"number"} if "number" in named else named) & ALL


class Facts:
    """Parts that hold together of one value. `used` are the choices that were made already, by where they stand."""

    def __init__(
        self, parts: Iterable[Part], *, used: frozenset[int] = frozenset(), only: frozenset[str] = ALL, levels: int = 0
    ) -> None:
        seen: dict[tuple[int, int], Part] = {}
        self.is_never = False
        for part in (each for stated in parts for each in stated.expanded()):
            if isinstance(part.schema, dict):
                seen.setdefault((id(part.schema), id(part.side)), part)
            elif part.schema is False:
                self.is_never = True
        self.parts = tuple(seen.values())
        self.used = used
        self.only = only
        self.levels = levels

    @cached_property
    def key(self) -> tuple[frozenset[int], frozenset[str], bool]:
        """Tells facts apart."""
        return frozenset(id(part.schema) for part in self.parts), self.only, self.is_never

    def more(self, *parts: Part, used: Iterable[int] = (), only: frozenset[str] = ALL) -> Facts:
        """These facts and others."""
        return Facts([*self.parts, *parts, *([Part(False, parts[0].side)] if self.is_never and parts else [])],
                     used=self.used | frozenset(used), only=self.only & only, levels=self.levels + 1)  # fmt: skip

    def values(self, word: str) -> list[Json]:
        """What the parts state under a keyword."""
        return [part.words[word] for part in self.parts if word in part.words]

    @cached_property
    def types(self) -> frozenset[str]:
        """The types that a value may have."""
        found = self.only
        for part in self.parts:
            found &= _types(part, 0)
        if self.is_never:
            return frozenset()
        return frozenset(each for each in found if not self._is_empty(each))

    @property
    def is_impossible(self) -> bool:
        """Whether no value fits."""
        return self.is_never or not self.types or self.finite == []

    @cached_property
    def finite(self) -> list[Json] | None:
        """All values that fit, where they are few; else None."""
        stated = next(iter(self._stated()), None)
        if stated is None:
            stated = _few(self)
        if stated is None:
            return None
        return [each for each in stated if type_of(each) in self.only and all(part.fits(each) for part in self.parts)]

    def _stated(self) -> Iterator[list[Json]]:
        yield from ([each] for each in self.values("const"))
        yield from (listed(each) for each in self.values("enum"))

    def low(self) -> tuple[Fraction, bool] | None:
        """The lower bound of a number, and whether it is excluded."""
        bounds = [(_exact(each), False) for each in self.values("minimum")]
        bounds += [(_exact(each), True) for each in self.values("exclusiveMinimum")]
        known = [(bound, excluded) for bound, excluded in bounds if bound is not None]
        return max(known) if known else None

    def high(self) -> tuple[Fraction, bool] | None:
        """The upper bound of a number, and whether it is excluded."""
        bounds = [(_exact(each), False) for each in self.values("maximum")]
        bounds += [(_exact(each), True) for each in self.values("exclusiveMaximum")]
        known = [(bound, not excluded) for bound, excluded in bounds if bound is not None]
        return (min(known)[0], not min(known)[1]) if known else None

    def count(self, word: str) -> int | None:
        """The tightest of the bounds on a length or a number of members."""
        found = [int(each) for each in self.values(word) if isinstance(each, int | float) and math.isfinite(each)]
        found += [_LENGTHS[word][str(each)] for each in self.values("format") if str(each) in _LENGTHS.get(word, {})]
        return (max(found) if word.startswith("min") else min(found)) if found else None

    @cached_property
    def required(self) -> frozenset[str]:
        """The members that an object must have, those aside that the gate fills in."""
        found: set[str] = set()
        for stated in self.values("required"):
            found.update(name for name in texts(stated) if not self.has_default(name))
        for _ in range(len(self.parts) + 1):
            for stated in self.values("dependentRequired"):
                found.update(each for name, names in members(stated).items() if name in found for each in texts(names))
        return frozenset(found)

    def has_default(self, name: str) -> bool:
        """Whether the gate fills in a member that is not there."""
        return any(
            default_of(part.below(members(part.words["properties"])[name]))
            for part in self.parts
            if part.is_filled and name in members(part.words.get("properties"))
        )

    @cached_property
    def names(self) -> frozenset[str]:
        """The members that the parts name."""
        return frozenset(name for stated in self.values("properties") for name in members(stated)) | self.required

    def member(self, name: str) -> Facts:
        """What is known of a member."""
        found: list[Part] = []
        for part in self.parts:
            found += _of_member(part, name)
        return Facts(found, levels=self.levels)

    def speaks_of(self, name: str) -> bool:
        """Whether any part says what a member of this name is, be it only as one of all others."""
        words = [part.words for part in self.parts]
        named = any("unevaluatedProperties" in each or name in members(each.get("properties")) for each in words)
        return named or any(_of_member(part, name) for part in self.parts)

    def others(self) -> Iterator[tuple[str, Facts]]:
        """What a member of a name that nobody names may be: each case with the pattern of its name, if it has one."""
        alternatives: list[tuple[str, list[Part]]] = [("", [])]
        for part in self.parts:
            words = part.words
            rest = [part.below(words["additionalProperties"])] if "additionalProperties" in words else []
            cases = [("", rest)]
            cases += [(at, [part.below(each)]) for at, each in members(words.get("patternProperties")).items()]
            if len(alternatives) * len(cases) <= _CASES_MAX:  # else the part is left out: less is known then
                alternatives = [(at or its, [*known, *more]) for at, known in alternatives for its, more in cases]
        for at, known in alternatives:
            yield at, Facts(known, levels=self.levels)

    @cached_property
    def is_closed(self) -> bool:
        """Whether an object has no members but those that the parts name."""
        return any(
            part.words.get("additionalProperties") is False and not part.words.get("patternProperties")
            for part in self.parts
        )

    def element(self, index: int) -> Facts:
        """What is known of the item of a list at an index."""
        found: list[Part] = []
        for part in self.parts:
            prefix = listed(part.words.get("prefixItems"))
            if index < len(prefix):
                found.append(part.below(prefix[index], is_filled=True))
            elif "items" in part.words:
                found.append(part.below(part.words["items"], is_filled=True))
        return Facts(found, levels=self.levels)

    @property
    def prefix(self) -> int:
        """How many items of a list are described one by one."""
        return max((len(listed(each)) for each in self.values("prefixItems")), default=0)

    @cached_property
    def items_max(self) -> int | None:
        """How many items a list has at most."""
        stated = self.count("maxItems")
        if self.levels < _LEVELS_MAX:
            for index in range(self.prefix + 1):
                if (stated is None or index < stated) and self.element(index).deeper().is_impossible:
                    return index
        return stated

    def deeper(self) -> Facts:
        """The same, one level further from what was asked: nobody looks without end."""
        return Facts(self.parts if not self.is_never else [Part(False, self.parts[0].side)] if self.parts else [],
                     used=self.used, only=self.only if not self.is_never else frozenset(),
                     levels=self.levels + 1)  # fmt: skip

    def branches(self) -> list[Facts] | None:
        """The cases that a choice between parts leaves, each with its own facts; None where there is no choice left."""
        for part in self.parts:
            for word in _CHOICES:
                choices = listed(part.words.get(word))
                if choices and id(choices) not in self.used:
                    return self._choices(part, choices, is_one=word == "oneOf")
            if isinstance(part.words.get("if"), dict) and id(part.words["if"]) not in self.used:
                return self._conditions(part)
        return None

    def _choices(self, part: Part, choices: list[Json], *, is_one: bool) -> list[Facts]:
        found = []
        for chosen in choices:
            others = [each for each in choices if each is not chosen] if is_one else []
            parts = [part.below(chosen), *[part.below(part.side.negated(each)) for each in others]]
            found.append(self.more(*parts, used=[id(choices)]))
        return [each for each in found if not each.is_impossible]

    def _conditions(self, part: Part) -> list[Facts]:
        condition, mark = part.words["if"], [id(part.words["if"])]
        met = [part.below(condition), part.below(part.words.get("then", True))]
        unmet = [part.below(part.side.negated(condition)), part.below(part.words.get("else", True))]
        return [each for some in (met, unmet) if not (each := self.more(*some, used=mark)).is_impossible]

    def by_type(self) -> list[Facts]:
        """One case for each type that a value may have, integers and other numbers together."""
        kinds = [frozenset({each}) for each in sorted(self.types - {"integer", "fraction"})]
        numbers = self.types & {"integer", "fraction"}
        kinds += [numbers] if numbers else []
        found = [Facts(self.parts, used=self.used, only=each, levels=self.levels + 1) for each in kinds]
        return [each for each in found if not each.is_impossible] if len(kinds) > 1 else []

    def _is_empty(self, kind: str) -> bool:
        """Whether no value of this type fits, as far as bounds and demanded members tell."""
        if kind in ("integer", "fraction"):
            low, high = self.low(), self.high()
            if low is None or high is None:
                return False
            if kind == "integer":
                return _least(low) > _most(high)
            return low[0] > high[0] or (low[0] == high[0] and (low[1] or high[1] or low[0].denominator == 1))
        if kind == "string":
            return (self.count("minLength") or 0) > _or(self.count("maxLength"))
        if self.levels >= _LEVELS_MAX:
            return False
        if kind == "array":
            return (self.count("minItems") or 0) > _or(self.items_max) or self._contains_nothing()
        return kind == "object" and self._no_object()

    def _contains_nothing(self) -> bool:
        """Whether a list must contain what none of its items can be."""
        wanted = [part.below(part.words["contains"]) for part in self.parts if _demands_one(part)]
        elements = [self.element(index) for index in range(self.prefix + 1)]
        return any(all(each.more(one).deeper().is_impossible for each in elements) for one in wanted)

    def _no_object(self) -> bool:
        if max(self.count("minProperties") or 0, len(self.required)) > _or(self.count("maxProperties")):
            return True
        return any(self.member(name).deeper().is_impossible for name in self.required)


@lru_cache(4_096)
def _matcher(pattern: str) -> jsonschema_rs.Validator | None:
    try:
        return jsonschema_rs.validator_for({"pattern": pattern}, pattern_options=jsonschema_rs.RegexOptions())
    except (ValueError, jsonschema_rs.ValidationError):
        return None


def matches(pattern: str, text: str) -> bool:
    """Whether a text matches a pattern somewhere."""
    matcher = _matcher(pattern)
    return matcher is not None and holds(matcher, text)


def _of_member(part: Part, name: str) -> list[Part]:
    words = part.words
    named, patterns = members(words.get("properties")), members(words.get("patternProperties"))
    found = [part.below(named[name], is_filled=True)] if name in named else []
    found += [part.below(each) for pattern, each in patterns.items() if matches(pattern, name)]
    if not found and "additionalProperties" in words:
        found.append(part.below(words["additionalProperties"]))
    if "propertyNames" in words and not part.below(words["propertyNames"]).fits(name):
        found.append(part.below(False))
    return found


def _types(part: Part, level: int) -> frozenset[str]:
    """The types that one part allows, what always holds with it aside; worked out once."""
    if not isinstance(part.schema, dict):
        return frozenset() if part.schema is False else ALL
    key = (id(part.schema), level)
    if key not in part.side.types:
        part.side.types[key] = _types_of(part, level)
    return part.side.types[key]


def _types_of(part: Part, level: int) -> frozenset[str]:
    words = part.words
    found = types_named(words["type"]) if "type" in words else ALL
    if "const" in words or "enum" in words:
        stated = [words["const"]] if "const" in words else listed(words["enum"])
        found &= frozenset(map(type_of, stated))
    steps = [_exact(words["multipleOf"])] if "multipleOf" in words else []
    if any(step is not None and step.denominator == 1 for step in steps):
        found -= {"fraction"}
    excluded = members(words.get("not"))
    if excluded and excluded.keys() & part.below(excluded).words.keys() == {"type"}:
        found -= types_named(excluded["type"]) if part.below(excluded).words.keys() == {"type"} else frozenset()
    if level < _LEVELS_MAX:
        for word in _CHOICES:
            choices = [_inner(part.below(each), level + 1) for each in listed(words.get(word))]
            found &= frozenset[str]().union(*choices) if choices else ALL
    return found


def _inner(part: Part, level: int) -> frozenset[str]:
    found = ALL
    for each in part.expanded():
        found &= _types(each, level)
    return found


def _few(facts: Facts) -> list[Json] | None:
    """The values of types that have few, or of integers between close bounds."""
    kinds = facts.types
    low, high = facts.low(), facts.high()
    values: list[Json] = [None] if "null" in kinds else []
    values += [False, True] if "boolean" in kinds else []
    if kinds <= {"null", "boolean"}:
        return values
    if kinds <= {"null", "boolean", "integer"} and low is not None and high is not None:
        least, most = _least(low), _most(high)
        return [*values, *range(least, most + 1)] if most - least < FINITE_MAX else None
    return None


def _demands_one(part: Part) -> bool:
    least = _exact(part.words.get("minContains", 1))
    return "contains" in part.words and least is not None and least >= 1


def _least(low: tuple[Fraction, bool]) -> int:
    return math.floor(low[0]) + 1 if low[1] else math.ceil(low[0])


def _most(high: tuple[Fraction, bool]) -> int:
    return math.ceil(high[0]) - 1 if high[1] else math.floor(high[0])


def exact(value: Json) -> Fraction | None:
    """A number without loss; None for anything else."""
    return _exact(value)


def _exact(value: Json) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return Fraction(value) if isinstance(value, int) else Fraction(repr(value))


def _or(bound: int | None) -> float:
    return math.inf if bound is None else bound


def distinct(values: Iterable[Json]) -> list[Json]:
    """The values without repetitions."""
    found: dict[bytes, Json] = {}
    for each in values:
        found.setdefault(canonical(each), each)
    return list(found.values())
