"""Makes values that fit some parts of a schema, near the edges where another schema may judge them otherwise.

What is made ought to fit and need not: whoever asks lets the validators judge it.
"""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from typing import Final, TypeVar

from interlock.core.canonical import Json
from interlock.core.compatibility_facts import Facts, distinct, exact, matches
from interlock.core.compatibility_side import Part, listed, members, texts
from interlock.core.compatibility_texts import FORMATTED, Dice, matching
from interlock.core.frozen import frozen
from interlock.core.schema_references import Node, subschemas

T = TypeVar("T")

_LEVELS_MAX: Final = 8
_TRIES: Final = 6
_LENGTH_MAX: Final = 20_000
_ITEMS_MAX: Final = 40
_PLAIN: Final[tuple[str, ...]] = ("a", "", "0", "A b", "é", "zzzzzzzz", "{", "-")
_NUMBERS: Final = (0, 1, -1, 2, 7, 10, 100, -100, 10**6, Fraction(1, 2), Fraction(-3, 2), Fraction(1, 3))
_TYPED: Final[tuple[Json, ...]] = (None, True, 5, 0.5, "a", [], {})


class Unmade(Exception):
    """Nothing was found that fits."""


@frozen
class Hints:
    """What another schema mentions: values and lengths at whose edges it may judge otherwise."""

    values: tuple[Json, ...] = ()
    numbers: tuple[Fraction, ...] = ()
    lengths: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()


NO_HINTS: Final = Hints()


def hints_of(*parts: Part) -> Hints:
    """What some parts and all below them mention."""
    values: list[Json] = []
    numbers: list[Fraction] = []
    lengths: list[int] = []
    names: list[str] = []
    patterns: list[str] = []
    formats: list[str] = []
    for part, node in _nodes(parts):
        words = part.side.words(node)
        values += [words["const"]] if "const" in words else []
        values += listed(words.get("enum"))[:32]
        for word in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"):
            numbers += [bound] if (bound := exact(words.get(word))) is not None else []
        for word in ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains"):
            lengths += [int(bound)] if (bound := exact(words.get(word))) is not None else []
        names += [
            *members(words.get("properties")),
            *texts(words.get("required")),
            *members(words.get("dependentRequired")),
        ]
        patterns += [*texts([words.get("pattern")]), *members(words.get("patternProperties"))]
        formats += texts([words.get("format")])
    lengths += [each + off for each in lengths for off in (1, -1)] + [
        len(each) + off for each in values if isinstance(each, str) for off in (0, 1)
    ]
    return Hints(
        values=tuple(distinct(values)),
        numbers=tuple(dict.fromkeys(numbers)),
        lengths=tuple(dict.fromkeys(each for each in lengths if 0 <= each <= _LENGTH_MAX)),
        names=tuple(dict.fromkeys(names)),
        patterns=tuple(dict.fromkeys(patterns)),
        formats=tuple(dict.fromkeys(formats)),
    )


def _nodes(parts: tuple[Part, ...]) -> list[tuple[Part, Node]]:
    found: dict[int, tuple[Part, Node]] = {}
    waiting = [(part, part.schema) for part in parts]
    while waiting and len(found) < 200:
        part, node = waiting.pop()
        if isinstance(node, dict) and id(node) not in found:
            found[id(node)] = (part, node)
            waiting += [(part, child) for word, _, child in subschemas(node) if word not in ("$defs", "definitions")]
            try:
                waiting.append((part, part.side.target(node)))
            except KeyError:  # a part that was made here refers to nothing
                continue
    return list(found.values())


class Maker:
    """Makes values by throwing dice. `share` of four optional members are put in."""

    def __init__(self, dice: Dice, hints: Hints = NO_HINTS, *, share: int = 2) -> None:
        self._dice = dice
        self._hints = hints
        self._share = share

    def make(self, facts: Facts, levels: int = 0) -> Json:
        """A value; raises `Unmade`."""
        chosen = self._chosen(facts)
        if chosen.finite is not None:
            return self._one_of(chosen.finite)
        kinds = sorted(chosen.types)
        if not kinds or levels > _LEVELS_MAX * 2:
            raise Unmade
        kind = self._dice.pick([*kinds, *(each for each in kinds if each in ("object", "string"))])
        if kind == "object":
            return self.an_object(chosen, {}, levels=levels)
        if kind == "array":
            return self.a_list(chosen, {}, levels=levels)
        for _ in range(_TRIES):
            value = self._scalar(kind, chosen)
            if all(part.fits(value) for part in chosen.parts):
                return value
        raise Unmade

    def holding(self, facts: Facts, key: str | int, value: Json) -> Json:
        """A container that has this value as the member or item of this key."""
        chosen = self._chosen(facts, key)
        return self.an_object(chosen, {key: value}) if isinstance(key, str) else self.a_list(chosen, {key: value})

    def an_object(
        self, facts: Facts, pinned: dict[str, Json], *, levels: int = 0, without: frozenset[str] = frozenset()
    ) -> Json:
        """An object with these members, and without those."""
        most = facts.count("maxProperties")
        result: dict[str, Json] = dict(pinned)
        wanted = [name for name in sorted(facts.required) if name not in result and name not in without]
        for name in wanted:
            result[name] = self.make(facts.member(name).deeper(), levels + 1)
        optional = [name for name in sorted(facts.names) if name not in result and name not in without]
        optional += [name for name in self._other_names(facts) if name not in (*result, *optional, *without)]
        least = facts.count("minProperties") or 0
        for name in optional:
            is_wanted = len(result) < least or (levels < _LEVELS_MAX and self._dice.below(4) < self._share)
            if is_wanted and (most is None or len(result) < most):
                self._add(facts, name, result, levels=levels)
        for _ in range(3):
            self._complete(facts, result, levels=levels, without=without)
        return result

    def a_list(self, facts: Facts, pinned: dict[int, Json], *, levels: int = 0) -> Json:
        """A list with these items."""
        least, most = facts.count("minItems") or 0, facts.items_max
        least = max([least, *(index + 1 for index in pinned)])
        lengths = [least, least + 1, least + 2, *(each for each in self._hints.lengths if least <= each <= _ITEMS_MAX)]
        fitting = [each for each in lengths if most is None or each <= most] or [least]
        length = min(self._dice.pick(fitting if levels < _LEVELS_MAX else [least]), _ITEMS_MAX)
        inner = self._contained(facts)
        is_alike = length > 1 and self._dice.below(4) == 0 and True not in facts.values("uniqueItems")
        result: list[Json] = []
        for index in range(length):
            element = facts.element(index).deeper()
            if index in pinned:
                result.append(pinned[index])
            elif is_alike and result:
                result.append(result[0])
            else:
                result.append(self._item(element, inner, levels))
        if True in facts.values("uniqueItems") and len(distinct(result)) < len(result):
            result = distinct(result)
        return result

    def _item(self, element: Facts, inner: tuple[Part, ...], levels: int) -> Json:
        if inner and self._dice.below(3):
            with suppress(Unmade):  # then an item like any other
                return self.make(element.more(*inner), levels + 1)
        return self.make(element, levels + 1)

    def _contained(self, facts: Facts) -> tuple[Part, ...]:
        return tuple(part.below(part.words["contains"]) for part in facts.parts if "contains" in part.words)

    def _chosen(self, facts: Facts, key: str | int | None = None) -> Facts:
        """One case of each choice; where a key is to be held, one that has room for it."""
        kind = {"object"} if isinstance(key, str) else {"array"} if isinstance(key, int) else None
        for _ in range(8):
            cases = facts.branches()
            if cases is None:
                break
            fitting = cases if kind is None else [each for each in cases if each.types & kind]
            facts = self._one_of(fitting)
        return facts

    def _one_of(self, choices: list[T]) -> T:
        if not choices:
            raise Unmade
        return self._dice.pick(choices)

    def _add(self, facts: Facts, name: str, result: dict[str, Json], *, levels: int) -> None:
        member = facts.member(name).deeper()
        try:
            result[name] = self.make(member, levels + 1) if member.parts else self._dice.pick(_TYPED)
        except Unmade:
            return

    def _complete(
        self, facts: Facts, result: dict[str, Json], *, levels: int, without: frozenset[str] = frozenset()
    ) -> None:
        """Add what members that are there demand."""
        for stated in facts.values("dependentRequired"):
            demanded = [other for name, names in members(stated).items() if name in result for other in texts(names)]
            for other in demanded:
                if other not in result and other not in without:
                    self._add(facts, other, result, levels=levels)

    def _other_names(self, facts: Facts) -> tuple[str, ...]:
        if facts.is_closed:
            return ()
        drawn = [matching(at, self._dice) for stated in facts.values("patternProperties") for at in members(stated)]
        drawn += [matching(at, self._dice) for at in self._hints.patterns[:4]]
        return (*(each for each in drawn if each is not None), *self._hints.names, *(("other",) if self._share else ()))

    def _scalar(self, kind: str, facts: Facts) -> Json:
        if kind == "null":
            return None
        if kind == "boolean":
            return bool(self._dice.below(2))
        return self._text(facts) if kind == "string" else self._number(kind, facts)

    def _text(self, facts: Facts) -> str:
        hints = self._hints
        patterns = texts(facts.values("pattern"))
        drawn = self._drawn(patterns, texts(facts.values("format")))
        text = self._dice.pick([each for each in drawn if each is not None] or ["a"])
        if patterns and text and hints.lengths and self._dice.below(2):
            text = self._pumped(text, self._dice.pick(hints.lengths))
        least, most = facts.count("minLength") or 0, facts.count("maxLength")
        if len(text) < least <= _LENGTH_MAX:
            text += self._dice.pick(("a", "0", text[-1:] or "b")) * (least - len(text))
        return text if most is None else text[:most]

    def _drawn(self, patterns: list[str], formats: list[str]) -> list[str | None]:
        """Texts to choose from: of the patterns and formats, if there are any, else of what is hinted at and plain."""
        hints, known = self._hints, texts(list(self._hints.values))
        drawn: list[str | None] = [self._extended(each, matching(each, self._dice)) for each in patterns]
        drawn += [each for name in formats for each in FORMATTED.get(name, ())]
        if drawn:
            return [*drawn, *known] if self._dice.below(3) == 0 else drawn
        drawn = [*_PLAIN, *known, *known]
        drawn += [matching(each, self._dice) for each in hints.patterns]
        drawn += [each for name in hints.formats for each in FORMATTED.get(name, ())]
        return drawn + [self._dice.pick(("a", "0", "é")) * each for each in hints.lengths]

    def _extended(self, pattern: str, text: str | None) -> str | None:
        """A text that matches, with more around it where the pattern is open at an end."""
        if text is None or self._dice.below(2):
            return text
        after = "" if pattern.endswith("$") else self._dice.pick(("b", "zz", " 0", "é" * 9))
        return ("" if pattern.startswith("^") else self._dice.pick(("", "Q", "0 "))) + text + after

    def _pumped(self, text: str, length: int) -> str:
        """The text with one of its characters repeated until it is as long: most patterns repeat something."""
        at = self._dice.below(len(text))
        return text[:at] + text[at] * max(0, length - len(text)) + text[at:]

    def _number(self, kind: str, facts: Facts) -> Json:
        low, high = facts.low(), facts.high()
        near = [*self._hints.numbers, *(each[0] for each in (low, high) if each is not None)]
        near += [found for each in self._hints.values if (found := exact(each)) is not None]
        offsets = (Fraction(0), Fraction(1), Fraction(-1), Fraction(1, 2), Fraction(-1, 2), Fraction(1, 1000))
        drawn = [each + off for each in near for off in offsets] + [Fraction(each) for each in _NUMBERS]
        steps = [step for each in facts.values("multipleOf") if (step := exact(each))]
        steps += [Fraction(1)] if kind == "integer" else []
        if steps:
            step = self._together(steps)
            drawn = [step * (math.floor(each / step) + off) for each in drawn for off in (0, 1)]
            drawn += [step * each for each in (1, 3, 5, 7)]
        fitting = [
            each for each in drawn if _within(each, low, high) and (kind == "integer") == (each.denominator == 1)
        ]
        if not fitting:
            raise Unmade
        found = self._dice.pick(fitting)
        return int(found) if found.denominator == 1 else float(found)

    def _together(self, steps: list[Fraction]) -> Fraction:
        """The least common multiple of steps."""
        found = abs(steps[0])
        for each in steps[1:]:
            found = Fraction(
                math.lcm(found.numerator * each.denominator, abs(each.numerator) * found.denominator),
                found.denominator * each.denominator,
            )
        return found


def named_by(pattern: str, dice: Dice, taken: frozenset[str]) -> str | None:
    """A name that nobody has named, and that matches a pattern where there is one."""
    for _ in range(_TRIES):
        name = matching(pattern, dice) if pattern else dice.pick(("other", "x-other", "zzz", "Q1", "extra_5"))
        if name is not None and name not in taken and (not pattern or matches(pattern, name)):
            return name
    return None


def _within(value: Fraction, low: tuple[Fraction, bool] | None, high: tuple[Fraction, bool] | None) -> bool:
    above = low is None or value > low[0] or (value == low[0] and not low[1])
    return above and (high is None or value < high[0] or (value == high[0] and not high[1]))
