"""What orders tools by how well they fit words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Protocol

from interlock.core.catalogue import Tool
from interlock.core.frozen import frozen


@frozen
class Ranked:
    """One tool that fits, by the digest of its spec. A higher score fits better; `parts` say what it is made of."""

    digest: str
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)


class Ranker(Protocol):
    """Owned by `runtime.finding`, which says among which tools: a ranker never decides who may see what."""

    async def rank(self, query: str, among: tuple[Tool, ...], *, most: int) -> tuple[Ranked, ...]:
        """Those of the tools that fit, best first, at most so many. The same words and tools give the same order.

        `query` is data, of any length and script. `among` is best given as the same value each time.
        """
