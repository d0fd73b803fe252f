"""What a process saw of rows in PostgreSQL in passing, for those who look and write next without reading."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Final

from interlock.core.budget import Counted, ScopeKey
from interlock.core.run import RunFacts
from interlock.ports import Look, Seen
from interlock.store.books import UNUSED, RunKey
from interlock.store.postgres_rows import place_of

GLIMPSES_MAX: Final = 8_192
"""How many runs and scopes are remembered, before all are forgotten."""

KEYS_MAX: Final = 65_536
"""How many keys are: 7 MB at most."""


@dataclass(slots=True)
class Glimpses:
    """What was seen of rows in passing. It may have changed since: whoever builds on it guards it where it writes.

    `taken` are places of keys that calls had, `runs` what runs had done (None: there was no such run), `usage` what
    scopes had used. No fence was above `floor` of which nothing is known any more.
    """

    taken: set[bytes] = field(default_factory=set)
    runs: dict[RunKey, RunFacts | None] = field(default_factory=dict)
    usage: dict[ScopeKey, Counted] = field(default_factory=dict)
    floor: int | None = None

    def guess(self, look: Look) -> Seen | None:
        """What a look would see, as far as is known; None where it has to read.

        Whatever of it is not so is found by a claim: it guards the key, the version of the run, and each limit.
        """
        run: RunFacts | None = None
        if look.key is not None and place_of(look.tenant, look.key) in self.taken:
            return None
        if look.run is not None:
            if (look.tenant, look.run) not in self.runs:
                return None
            run = self.runs[look.tenant, look.run] or RunFacts(look.run)
        return Seen(None, run, tuple([self.usage.get(scope, UNUSED) for scope in look.scopes]), True)

    def keys(self, places: set[bytes], *, taken: Container[bytes]) -> None:
        """Somebody looked whether calls have these keys."""
        self.taken -= places
        self.take([place for place in places if place in taken])

    def take(self, places: list[bytes]) -> None:
        """Calls have these keys."""
        if len(self.taken) >= KEYS_MAX:
            self.taken.clear()
        self.taken.update(places)

    def run(self, key: RunKey, facts: RunFacts | None) -> None:
        """Somebody looked what a run has done."""
        if len(self.runs) >= GLIMPSES_MAX:
            self.runs.clear()
        self.runs[key] = facts

    def used(self, usage: Mapping[ScopeKey, Counted]) -> None:
        """Somebody looked what scopes have used."""
        if len(self.usage) >= GLIMPSES_MAX:
            self.usage.clear()
        self.usage.update(usage)
