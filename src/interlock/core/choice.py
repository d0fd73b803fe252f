"""Which of the tools that a caller may use it is offered, where those are more than a model is to be shown at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Final

from interlock.core.frozen import frozen
from interlock.core.text import clean

FIND_TOOLS: Final = "find_tools"
ALWAYS: Final = frozenset({FIND_TOOLS, "hand_off", "read_result"})
"""The gate's own tools, which are what the others are reached by: they take up no room."""

OFFERED_MAX: Final = 128
"""What the strictest provider takes in one request."""

LINE_CHARS_MAX: Final = 160


class Withheld(StrEnum):
    """Why a tool is not offered: the first of these that holds."""

    POLICY = "policy"
    LIFECYCLE = "lifecycle"
    HEALTH = "health"
    AGENT = "agent"
    LIMIT = "limit"


@frozen
class ToolChoice:
    """What became of one tool. `withheld` of None: it is offered. `rank` counts from 1 among those that fit the task,
    `parts` say what the score is made of."""

    tool: str
    version: str
    withheld: Withheld | None
    why: str
    rank: int | None = None
    score: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict)


@frozen
class FoundTool:
    """A tool that a search found, in one line."""

    tool: str
    version: str
    line: str
    score: float
    parts: Mapping[str, float]


def kept(names: Sequence[str], *, pinned: Sequence[str] = (), ranked: Sequence[str] = (), most: int) -> tuple[str, ...]:
    """Those of the names that are offered, in the order of `names`: what is pinned first, then what ranks best.

    What fits no word of the task is left to be searched for, whatever room there is.
    """
    there = frozenset(names) - ALWAYS
    first = [name for name in dict.fromkeys((*pinned, *ranked)) if name in there][:most]
    offered: Collection[str] = ALWAYS.union(first)
    return tuple(name for name in names if name in offered)


def is_over(names: Collection[str], most: int) -> bool:
    """Whether these are more than are offered at once. Where there is no tool to search with, all of them are."""
    return FIND_TOOLS in names and len(frozenset(names) - ALWAYS) > most


def room_for_found(most: int) -> int:
    """How many that were found are offered beside so many that were there from the beginning."""
    return max(1, min(most, OFFERED_MAX - len(ALWAYS) - most))


def one_line(description: str) -> str:
    """The first sentence of a description, cleaned, on one bounded line."""
    text = " ".join(clean(description).text.split())
    sentence, stop, _ = text.partition(". ")
    line = sentence + stop.strip()
    return line if len(line) <= LINE_CHARS_MAX else f"{line[: LINE_CHARS_MAX - 1]}…"
