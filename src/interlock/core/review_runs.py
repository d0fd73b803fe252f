"""What happens within one run or task: which tool was proposed after which, and what that says of the choice.

A run is followed step by step, for as many steps as are kept of it; `signs` reads them. These are signs, no proofs:
who calls another tool on the same thing may have chosen wrongly, or may have meant both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from heapq import nsmallest
from itertools import pairwise
from typing import Final, NamedTuple

import orjson

from interlock.core.canonical import Json
from interlock.core.frozen import frozen
from interlock.core.review_sample import hash_of

STEPS_MAX: Final = 64
"""How many steps of a run are followed: its first."""

WINDOWS: Final = (2, 3)
"""How long the sequences of tools are that are looked for."""


class Went(StrEnum):
    """How a step of a run went. PEOPLE: somebody stepped in."""

    WELL = "well"
    FAILED = "failed"
    ABSENT = "absent"
    ARGUMENTS = "arguments"
    DENIED = "denied"
    OTHERWISE = "otherwise"
    PEOPLE = "people"


class Step(NamedTuple):
    """One step, in the order of time. `what` and `about` are hashes of the arguments and of the resource, 0 for none.

    `is_effect` says of what kind the tool was: who reads something and then changes it has changed no mind.
    """

    at_us: int
    chain: str
    sequence: int
    tool: str
    went: Went
    what: int = 0
    about: int = 0
    is_effect: bool = False


class Trail:
    """The first steps of one run, whatever order they came in."""

    __slots__ = ("_steps",)

    def __init__(self) -> None:
        self._steps: list[Step] = []

    def add(self, step: Step) -> None:
        """Another step of it."""
        self._steps.append(step)
        if len(self._steps) >= 2 * STEPS_MAX:
            self._steps = nsmallest(STEPS_MAX, self._steps)

    def join(self, other: Trail) -> None:
        """What another part of the log has of the same run."""
        for each in other._steps:
            self.add(each)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The first steps, in their order."""
        return tuple(nsmallest(STEPS_MAX, self._steps))


@frozen
class Signs:
    """What the steps of runs say of one tool.

    It was proposed in `steps` of the steps that were followed. `turned_away`: it was refused as not there or not
    allowed, and another tool was tried next. `exchanged`: another tool of the same kind came next, with the same
    arguments or on the same resource. `repaired`: its arguments were refused and it went well later in the run, of
    `misspelt` runs in which they were. `denied_again`: policy refused it more than once in a run. `stopped`: a person
    cancelled, paused or took over the run after it.
    """

    steps: int = 0
    turned_away: int = 0
    exchanged: int = 0
    misspelt: int = 0
    repaired: int = 0
    denied_again: int = 0
    stopped: int = 0


@frozen
class Detour:
    """The same tools one after the other, `times` in all, in so many `runs`; `again`: in one that had them before."""

    tools: tuple[str, ...]
    times: int
    runs: int
    again: int


def hash_of_json(arguments: Json) -> int:
    """A hash of arguments as a record shows them; 0 where there are none. What is redacted alike is taken for alike."""
    return hash_of(orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS).decode()) if arguments else 0


def signs(trails: Iterable[Sequence[Step]]) -> dict[str, Signs]:
    """What these runs say of each tool, by name."""
    found: dict[str, Counter[str]] = {}
    for steps in trails:
        for name, sign in _read(steps):
            found.setdefault(name, Counter())[sign] += 1
    return {name: Signs(**found[name]) for name in sorted(found)}


def detours(trails: Iterable[Sequence[Step]], *, times: int, most: int) -> tuple[Detour, ...]:
    """The sequences of several tools that came at least so many times, those that came again in a run first."""
    counts, runs = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
    for steps in trails:
        names = [each.tool for each in steps if each.went is not Went.PEOPLE]
        seen = Counter(sequence for length in WINDOWS for sequence in _sequences(names, length))
        counts.update(seen)
        runs.update(seen.keys())
    found = [Detour(each, count, runs[each], count - runs[each]) for each, count in counts.items() if count >= times]
    return tuple(sorted(found, key=lambda each: (-each.again, -each.times, -len(each.tools), each.tools))[:most])


def _sequences(names: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    """The sequences of this length in a run that do not overlap with themselves; all of one tool are none."""
    ends: dict[tuple[str, ...], int] = {}
    for index in range(len(names) - length + 1):
        sequence = tuple(names[index : index + length])
        if len(set(sequence)) > 1 and ends.get(sequence, 0) <= index:
            ends[sequence] = index + length
            yield sequence


def _read(steps: Sequence[Step]) -> Iterator[tuple[str, str]]:
    yield from _turns(steps)
    wrong: set[str] = set()
    mended: set[str] = set()
    denied = Counter[str]()
    for each in steps:
        if each.went is not Went.PEOPLE:
            yield each.tool, "steps"
        if each.went is Went.ARGUMENTS and each.tool not in wrong:
            wrong.add(each.tool)
            yield each.tool, "misspelt"
        elif each.went is Went.WELL and each.tool in wrong and each.tool not in mended:
            mended.add(each.tool)
            yield each.tool, "repaired"
        denied[each.tool] += each.went is Went.DENIED
    for tool, count in denied.items():
        if count > 1:
            yield tool, "denied_again"


def _turns(steps: Sequence[Step]) -> Iterator[tuple[str, str]]:
    """What followed on each step."""
    for one, other in pairwise(steps):
        if one.went is Went.PEOPLE:
            continue
        if other.went is Went.PEOPLE:
            yield one.tool, "stopped"
        elif one.tool != other.tool:
            if one.went in (Went.ABSENT, Went.DENIED):
                yield one.tool, "turned_away"
            elif _is_same_matter(one, other):
                yield one.tool, "exchanged"


def _is_same_matter(one: Step, other: Step) -> bool:
    same = (one.what == other.what != 0) or (one.about == other.about != 0)
    return same and one.is_effect == other.is_effect
