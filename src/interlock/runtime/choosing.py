"""Tries words against descriptions: has a chooser choose among what an agent is offered, and judges the choices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from interlock.core.catalogue import Tool
from interlock.core.example_stale import surface_digest
from interlock.core.selection import NO_TOOL, Choice, Due, passes
from interlock.ports.choosing import Chooser
from interlock.ports.finding import Ranker

Offered = Mapping[str, tuple[Tool, ...]]
"""By agent, the tools that it is offered."""


@dataclass(frozen=True, slots=True)
class RankedChooser:
    """Chooses what a search finds first: offline, and the same each time."""

    ranker: Ranker
    name: str = "search"

    async def choose(self, words: str, among: tuple[Tool, ...]) -> str | None:
        """The tool that fits best; none where nothing fits."""
        found = await self.ranker.rank(words, among, most=1)
        names = {tool.digest: tool.spec.name for tool in among}
        return names[found[0].digest] if found else NO_TOOL


def surfaces(offered: Offered) -> dict[str, dict[str, str]]:
    """By agent and tool the digest of what a model sees, as `core.selection` compares it."""
    return {agent: {tool.spec.name: surface_digest(tool.spec) for tool in tools} for agent, tools in offered.items()}


async def tried(wanted: Iterable[Due], chooser: Chooser, offered: Offered) -> tuple[Choice, ...]:
    """What the chooser chose for each that is due; of those for which it could not be asked there is none."""
    seen = surfaces(offered)
    made: list[Choice] = []
    for each in wanted:
        chosen = await chooser.choose(each.case.words, offered[each.agent])
        if chosen is not None:
            right = passes(each.case, chosen)
            made.append(Choice(each.case.id, chooser.name, each.agent, chosen, right, seen[each.agent]))
    return tuple(made)
