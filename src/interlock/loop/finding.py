"""What a run offers where it has more tools than a model is shown at once: what was kept at its start, then what was
found, in that order, so that what stands before an offer's end never changes.

It follows from the journal alone: the choice at the start stands in its first entry, what was found in the results of
searches. So whoever takes the run over offers the same. Names are all that is kept: policy is asked anew for each turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from interlock.core.choice import FIND_TOOLS
from interlock.core.observation import Observation, Status
from interlock.loop.entries import Begun

__all__ = ["FIND_TOOLS", "Touched", "found_in", "offered_names"]


class Touched(NamedTuple):
    """Names that an agent's search has found in a turn, or that it has called."""

    agent: str
    turn: int
    names: tuple[str, ...]
    is_found: bool


def found_in(seen: Observation) -> tuple[str, ...]:
    """The names that a search has found; none where it is no search, or came to nothing."""
    if seen.tool != FIND_TOOLS or seen.status is not Status.OK or not isinstance(seen.data, dict):
        return ()
    tools = seen.data.get("tools")
    listed = tools if isinstance(tools, list) else []
    names = [each.get("name") for each in listed if isinstance(each, Mapping)]
    return tuple(name for name in names if isinstance(name, str))


def touched(begun: Begun, seen: Observation, *, agent: str, turn: int) -> Touched | None:
    """What a call says about what is to be offered; None where it says nothing."""
    if agent not in begun.kept:
        return None
    names = found_in(seen)
    return Touched(agent, turn, names or (seen.tool,), bool(names))


def offered_names(begun: Begun, touches: Iterable[Touched], *, agent: str, turn: int) -> tuple[str, ...] | None:
    """The names that an agent is offered in a turn, in their order, as far as they are the run's; None: all of them.

    Beside those that were kept from the start as many have room as were found: what was neither found nor called for
    longest makes room (of one search what fitted least), and the others keep their places.
    """
    kept = begun.kept.get(agent)
    if kept is None:
        return None
    last: dict[str, int] = {}
    for each in touches:
        if each.agent != agent or each.turn >= turn:
            continue
        for name in each.names:
            if name in last or (each.is_found and name not in kept):
                last[name] = each.turn
        while len(last) > begun.found_max:
            del last[min(reversed(last), key=last.__getitem__)]
    return (*kept, *last)
