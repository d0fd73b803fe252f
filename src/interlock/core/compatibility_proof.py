"""Proves that whatever fits some parts of one schema fits a part of another, or says where it could not.

A goal is taken apart keyword by keyword, and each keyword is followed from what is known of the value (`Facts`). Where
that is not enough, the choices in what is known are gone through one by one. A recursive schema is proved by induction
on the size of the value: what is being proved may be used of a smaller part. What cannot be followed is a `Doubt`,
which is no proof of the contrary: that takes a witness. All doubts are collected, so nothing stops at the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from interlock.core.canonical import Json
from interlock.core.compatibility_facts import Facts
from interlock.core.compatibility_side import Likeness, Part, default_of, members
from interlock.core.frozen import frozen
from interlock.core.schema_references import escaped

STEPS_MAX: Final = 3_000
"""How many keywords are followed before the comparison is given up as too involved."""

_SPLITS_MAX: Final = 4
_DEPTH_MAX: Final = 40
_NUMBERS: Final = frozenset({"integer", "fraction"})
_IN_PLACE: Final = frozenset({"anyOf", "oneOf", "if", "not", "type"})
_BESIDE: Final = frozenset({"then", "else", "minContains", "maxContains"})
_UNLIKE: Final = frozenset({"required", "additionalProperties", "items", "unevaluatedProperties", "unevaluatedItems"})
_SENSITIVE: Final = frozenset(
    "minProperties maxProperties dependentRequired dependentSchemas propertyNames not if anyOf oneOf "
    "unevaluatedProperties".split()
)
_COMPANIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "contains": ("minContains", "maxContains"),
    "if": ("then", "else"),
}
_OF_TYPE: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys("multipleOf maximum exclusiveMaximum minimum exclusiveMinimum".split(), _NUMBERS),
    **dict.fromkeys(
        "maxLength minLength pattern format contentEncoding contentMediaType".split(), frozenset({"string"})
    ),
    **dict.fromkeys(
        "maxItems minItems uniqueItems contains prefixItems items unevaluatedItems".split(), frozenset({"array"})
    ),
    **dict.fromkeys(
        "maxProperties minProperties required dependentRequired properties patternProperties additionalProperties "
        "propertyNames dependentSchemas unevaluatedProperties".split(),
        frozenset({"object"}),
    ),
}


@frozen
class Step:
    """One step down into a value: the container, what is known and wanted of it, and which part of it is meant.

    A `key` is a member's name or an item's index; `other` is the pattern of the name of a member that nobody names.
    """

    facts: Facts
    goal: Part
    key: str | int | None
    other: str = ""


@frozen
class Spot:
    """A place in the values that are compared. `is_undeclared`: nothing was said of what may stand there."""

    path: str = ""
    steps: tuple[Step, ...] = ()
    is_undeclared: bool = False

    def down(self, step: Step) -> Spot:
        """The place one step further."""
        name = "*" if step.key is None else escaped(str(step.key))
        silent = isinstance(step.key, str) and not step.facts.speaks_of(step.key)
        return Spot(f"{self.path}/{name}", (*self.steps, step), self.is_undeclared or silent)


@frozen
class Doubt:
    """What could not be followed: the keyword of a part at a place, and what was known there.

    `values` are some that fit what is known and not the part, where that was seen at once.
    """

    spot: Spot
    word: str
    facts: Facts
    goal: Part
    values: tuple[Json, ...] = ()
    names: tuple[str, ...] = ()


@frozen
class Claim:
    """That whatever fits the facts fits the goal, at a place."""

    facts: Facts
    goal: Part
    spot: Spot


Rule: TypeAlias = "Callable[[Proof, Claim], bool]"


class Proof:
    """One attempt, with what it doubts and what it may still spend."""

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        self.doubts: list[Doubt] = []
        self._rules = rules
        self._left = STEPS_MAX
        self._likeness = Likeness()
        self._assumed: dict[tuple[object, ...], int] = {}

    def holds(self, facts: Facts, goal: Part, spot: Spot) -> bool:
        """Whether whatever fits the facts is proved to fit the goal; else there are doubts."""
        if goal.schema is True or facts.is_impossible or self._is_known(facts, goal):
            return True
        if not isinstance(goal.schema, dict):
            return self._never(facts, goal, spot)
        key = (*facts.key, id(goal.schema))
        depth = len(spot.steps)
        if key in self._assumed:
            return self._assumed[key] < depth or self.doubt(Doubt(spot, "$ref", facts, goal))
        if depth > _DEPTH_MAX:
            return self.doubt(Doubt(spot, "$ref", facts, goal))
        self._assumed[key] = depth
        try:
            return self._followed(facts, goal, spot)
        finally:
            del self._assumed[key]

    def tries(self, facts: Facts, goal: Part, spot: Spot) -> bool:
        """The same, without doubts."""
        mark = len(self.doubts)
        found = self.holds(facts, goal, spot)
        del self.doubts[mark:]
        return found

    def doubt(self, doubt: Doubt) -> bool:
        """Note what could not be followed."""
        self.doubts.append(doubt)
        return False

    def excludes(self, facts: Facts, part: Part, spot: Spot) -> bool:
        """Whether nothing that fits the facts fits the part."""
        return self.is_never(facts.more(part), spot)

    def is_never(self, facts: Facts, spot: Spot, levels: int = 3) -> bool:
        """Whether no value fits the facts, choices and exclusions considered."""
        self._left -= 1
        if facts.is_impossible:
            return True
        if levels == 0 or self._left <= 0:
            return False
        for part in facts.parts:
            excluded = part.words.get("not")
            if isinstance(excluded, dict) and id(excluded) not in facts.used:
                rest = facts.more(used=[id(excluded)])
                if self.tries(rest, part.below(excluded), spot):
                    return True
        branches = facts.branches() if len(facts.used) < _SPLITS_MAX else None
        return branches is not None and all(self.is_never(each, spot, levels - 1) for each in branches)

    def _is_known(self, facts: Facts, goal: Part) -> bool:
        return any(self._likeness.same(part, goal) for part in facts.parts)

    def _never(self, facts: Facts, goal: Part, spot: Spot) -> bool:
        return self.is_never(facts, spot) or self.doubt(Doubt(spot, "false", facts, goal))

    def _followed(self, facts: Facts, goal: Part, spot: Spot) -> bool:
        finite = facts.finite
        if finite is not None and not any(isinstance(each, dict | list) for each in finite):
            refused = tuple(each for each in finite if not goal.fits(each))
            word = next((each for each in ("type", "enum", "const") if each in goal.words), "") or "enum"
            return not refused or self.doubt(Doubt(spot, word, facts, goal, refused))
        found = [self._word(facts, goal, word, spot=spot) for word in sorted(goal.words) if word not in _BESIDE]
        return all(found) and self._fill_alike(facts, goal, spot)

    def _word(self, facts: Facts, goal: Part, word: str, *, spot: Spot) -> bool:
        if not facts.types & _OF_TYPE.get(word, facts.types):
            return True
        if word not in _UNLIKE and any(self._is_same_word(word, part, goal) for part in facts.parts):
            return True
        mark = len(self.doubts)
        self._left -= 1
        if self._left <= 0:
            return self.doubt(Doubt(spot, "", facts, goal))
        if self._rules[word](self, Claim(facts, goal, spot)):
            del self.doubts[mark:]
            return True
        if len(self.doubts) == mark:
            self.doubt(Doubt(spot, word, facts, goal))
        return self._split(facts, goal, word, spot=spot, mark=mark)

    def _split(self, facts: Facts, goal: Part, word: str, *, spot: Spot, mark: int) -> bool:
        """Go through the cases that are left open, each by itself."""
        cases = facts.branches() if len(facts.used) < _SPLITS_MAX else None
        if cases is None and word in _IN_PLACE:
            cases = facts.by_type() or None
        if cases is None or self._left <= 0:
            return False
        self._left -= len(cases)
        before = self.doubts[mark:]
        del self.doubts[mark:]
        found = [self._word(each, goal, word, spot=spot) for each in cases]
        if all(found):
            del self.doubts[mark:]
            return True
        if len(self.doubts) == mark:
            self.doubts.extend(before)
        return False

    def _is_same_word(self, word: str, part: Part, goal: Part) -> bool:
        beside = _COMPANIONS.get(word, ())
        return self._likeness.same_word(word, part, goal) and all(
            each not in {**part.words, **goal.words} or self._likeness.same_word(each, part, goal) for each in beside
        )

    def _fill_alike(self, facts: Facts, goal: Part, spot: Spot) -> bool:
        """Whether the defaults that are put in cannot change what else holds of an object."""
        if not goal.is_filled or "object" not in facts.types:
            return True
        wanted = Facts([goal])
        if not any(part.words.keys() & _SENSITIVE for part in (*facts.parts, *wanted.parts)):
            return True
        return _defaults(facts) == _defaults(wanted) or self.doubt(Doubt(spot, "default", facts, goal))


def _defaults(facts: Facts) -> dict[str, bytes]:
    """What the gate puts into an object, by the member."""
    found: dict[str, bytes] = {}
    for part in facts.parts if any(each.is_filled for each in facts.parts) else ():
        for name, schema in members(part.words.get("properties")).items():
            stated = default_of(part.below(schema))
            if part.is_filled and stated:
                found.setdefault(name, stated)
    return found
