"""What a process saw of rows in PostgreSQL in passing, for those who write next."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from typing import Final

from interlock.core.run import RunFacts
from interlock.store.books import RunKey

GLIMPSES_MAX: Final = 8_192
"""How many of each are remembered, before all are forgotten."""


@dataclass(slots=True)
class Glimpses:
    """What was seen of rows in passing. It may have changed since: whoever builds on it guards it where it writes.

    `free` are places of keys that no call had, `runs` what runs had done (None: there was no such run). No fence was
    above `floor` of which nothing is known any more.
    """

    free: set[bytes] = field(default_factory=set)
    runs: dict[RunKey, RunFacts | None] = field(default_factory=dict)
    floor: int | None = None

    def keys(self, places: set[bytes], *, taken: Container[bytes]) -> None:
        """Somebody looked whether calls have these keys."""
        if len(self.free) >= GLIMPSES_MAX:
            self.free.clear()
        self.free -= places
        self.free.update([place for place in places if place not in taken])

    def run(self, key: RunKey, facts: RunFacts | None) -> None:
        """Somebody looked what a run has done."""
        if len(self.runs) >= GLIMPSES_MAX:
            self.runs.clear()
        self.runs[key] = facts
