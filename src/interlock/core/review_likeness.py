"""Finds tools that are alike in name, words and schema, and says in what: exact for all that share enough.

Each tool is a set of marks: the words of its name, those of its description, the paths and types of its parameters. Two
are compared where one of their rarest marks is the same: who shares a given part of all marks must share one of those
(R. Bayardo et al., "Scaling up all pairs similarity search", 2007). So the cost grows with what is alike, not with the
square of the tools; of a mark that very many have, only so many are looked at.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from math import ceil
from typing import Final

from interlock.core.canonical import Json
from interlock.core.compatibility import Direction, Verdict, compare_schemas
from interlock.core.compatibility_parameters import shown_schema
from interlock.core.compatibility_schemas import worst
from interlock.core.errors import SchemaInvalid
from interlock.core.frozen import frozen
from interlock.core.tool import ToolSpec

PAIRS_MAX: Final = 50
"""How many pairs are told, the most alike first."""

NEIGHBOURS_MAX: Final = 64
"""With how many others one tool is compared."""

SHARED_TOLD: Final = 12
_MARKS_MAX: Final = 256
_DEPTH_MAX: Final = 6
_RUNNING: Final = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD: Final = re.compile(rf"[{_RUNNING}]+|(?:(?![{_RUNNING}])[^\W_])+")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_EMPTY: Final = frozenset(
    "a an and any are as at be by can for from given has have if in into is it its of on one or that the their then "
    "these this those to use used uses when which will with you your tool".split()
)
_FIELDS: Final = ("name", "words", "schema")

Marks = Mapping[str, frozenset[str]]


@frozen
class Likeness:
    """Two tools that are alike. `percent` is what part of all their marks both have, `fields` the same by field.

    `shared` are some marks of both, the rarest first. `instead` says which may be called in place of the other with the
    same arguments: `both`, `one`, `other`, `neither`, or `uncertain`.
    """

    one: str
    other: str
    percent: int
    fields: Mapping[str, int]
    shared: tuple[str, ...]
    same_effect: bool
    instead: str


def alike(specs: Sequence[ToolSpec], *, percent: int) -> tuple[Likeness, ...]:
    """The pairs of tools of which so much is the same, the most alike first."""
    marks = [marks_of(each) for each in specs]
    pairs = nlargest(PAIRS_MAX, _pairs(marks, percent / 100), key=lambda pair: (pair[0], -pair[1], -pair[2]))
    counts = Counter(mark for each in marks for mark in _all(each))
    return tuple(_likeness((specs[one], marks[one]), (specs[other], marks[other]), counts) for _, one, other in pairs)


def marks_of(spec: ToolSpec) -> Marks:
    """The marks of one tool, by field."""
    words = words_of(f"{spec.title} {spec.description} {spec.use_when}")
    return {
        "name": words_of(_CAMEL.sub(" ", spec.name)),
        "words": frozenset(sorted(words)[:_MARKS_MAX]),
        "schema": frozenset(sorted(_paths(shown_schema(spec)))[:_MARKS_MAX]),
    }


def words_of(text: str) -> frozenset[str]:
    """The words of a text that say something; of scripts without spaces every two letters together."""
    found: set[str] = set()
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        if len(word) <= 2 or not re.match(f"[{_RUNNING}]", word):
            found.add(word)
        else:
            found.update(word[index : index + 2] for index in range(len(word) - 1))
    return frozenset(found - _EMPTY)


def instead_of(one: ToolSpec, other: ToolSpec) -> str:
    """Which of two may be called in place of the other, with the same arguments."""
    first, second = shown_schema(one), shown_schema(other)
    try:
        there, back = (
            worst(compare_schemas(before, after, Direction.INPUT))
            for before, after in ((first, second), (second, first))
        )
    except SchemaInvalid:
        return "uncertain"
    if there is Verdict.COMPATIBLE or back is Verdict.COMPATIBLE:
        return "both" if there is back else "other" if there is Verdict.COMPATIBLE else "one"
    return "uncertain" if Verdict.UNCERTAIN in (there, back) else "neither"


def _paths(schema: Json, path: str = "", depth: int = 0) -> Iterator[str]:
    """The parameters of a schema, each with its type, as deep as is looked."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or depth >= _DEPTH_MAX:
        return
    for name, part in properties.items():
        kind = part.get("type", "any") if isinstance(part, dict) else "any"
        here = f"{path}{name}"
        yield f"{here}:{kind if isinstance(kind, str) else 'any'}"
        yield from _paths(part, f"{here}.", depth + 1)
        if isinstance(part, dict):
            yield from _paths(part.get("items"), f"{here}[].", depth + 1)


def _all(marks: Marks) -> Iterator[str]:
    """All marks of a tool, told apart by field."""
    return (f"{name} {mark}" for name in _FIELDS for mark in marks[name])


def _pairs(marks: Sequence[Marks], least: float) -> Iterator[tuple[float, int, int]]:
    """Pairs that share at least so much, by index."""
    counts = Counter(mark for each in marks for mark in _all(each))
    whole = [sorted(_all(each), key=lambda mark: (counts[mark], mark)) for each in marks]
    sets = [frozenset(each) for each in whole]
    having: dict[str, list[int]] = {}
    for index in sorted(range(len(marks)), key=lambda each: len(whole[each])):
        rarest = whole[index][: len(whole[index]) - ceil(least * len(whole[index])) + 1]
        for other in _neighbours(rarest, having):
            shared = _share(sets[index], sets[other])
            if shared >= least:
                yield shared, min(index, other), max(index, other)
        for mark in rarest:
            having.setdefault(mark, []).append(index)


def _neighbours(rarest: Iterable[str], having: Mapping[str, list[int]]) -> Iterable[int]:
    """Who has one of these marks; of many those that came last."""
    found: dict[int, None] = {}
    for mark in rarest:
        for other in reversed(having.get(mark, ())[-NEIGHBOURS_MAX:]):
            found[other] = None
            if len(found) >= NEIGHBOURS_MAX:
                return found
    return found


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    """What part of all marks both have."""
    both = len(one & other)
    return both / ((len(one) + len(other) - both) or 1)


def _likeness(one: tuple[ToolSpec, Marks], other: tuple[ToolSpec, Marks], counts: Mapping[str, int]) -> Likeness:
    (first, mine), (second, theirs) = one, other
    both = frozenset(_all(mine)) & frozenset(_all(theirs))
    rare = sorted(both, key=lambda mark: (counts[mark], mark))[:SHARED_TOLD]
    return Likeness(
        one=first.name,
        other=second.name,
        percent=int(100 * _share(frozenset(_all(mine)), frozenset(_all(theirs)))),
        fields={name: int(100 * _share(mine[name], theirs[name])) for name in _FIELDS},
        shared=tuple(mark.partition(" ")[2] for mark in rare),
        same_effect=first.effect is second.effect,
        instead=instead_of(first, second),
    )
