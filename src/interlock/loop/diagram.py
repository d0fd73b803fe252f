"""Draws the machines of runs and calls, from their tables, as Mermaid state diagrams for the documentation."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

from interlock.loop.machine import CALL, RUN, CallStage, Cause, State

S = TypeVar("S", bound=StrEnum)
C = TypeVar("C", bound=StrEnum)

EVERYWHERE = frozenset({Cause.STOPPED, Cause.GAVE_UP, Cause.CANCELLED, Cause.OVER_LIMIT})
"""What may end a run wherever it is: it would cross out the drawing, and stands beside it as a table."""


def drawn(table: Mapping[S, Mapping[C, S]], *, first: S, without: frozenset[C] = frozenset()) -> str:
    """The table as a diagram: an arrow for each step, `first` from the dot, and what goes nowhere into the ring."""
    lines = ["stateDiagram-v2", f"    [*] --> {first.name}"]
    for state, steps in table.items():
        shown = {cause: to for cause, to in steps.items() if cause not in without}
        lines += [f"    {state.name} --> {to.name}: {cause.value}" for cause, to in shown.items()]
        if not steps:
            lines.append(f"    {state.name} --> [*]")
    return "\n".join(lines)


def run_diagram() -> str:
    """The machine of a run, without the ends that it may come to from everywhere."""
    return drawn(RUN, first=State.START, without=EVERYWHERE)


def call_diagram() -> str:
    """The machine of a call."""
    return drawn(CALL, first=CallStage.VALIDATE)


def ends_table() -> str:
    """From where a run may come to each of the ends that are not drawn, as a Markdown table."""
    rows = ["| what happens | the run is then | from |", "|---|---|---|"]
    for cause in sorted(EVERYWHERE, key=list(Cause).index):
        states = [state for state in RUN if cause in RUN[state]]
        to = {RUN[state][cause].name for state in states}
        whence = "every state that is not over" if states == _OPEN else ", ".join(each.name for each in states)
        rows.append(f"| {cause.value} | {', '.join(sorted(to))} | {whence} |")
    return "\n".join(rows)


_OPEN = [state for state in RUN if not state.is_over]
