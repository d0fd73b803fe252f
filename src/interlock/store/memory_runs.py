"""Runs in memory: their heads, and what happened in them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

from interlock.core.chain import Receipt
from interlock.core.journal import Event
from interlock.ports import (
    Entry,
    NewRun,
    NotMoved,
    RunClaim,
    RunEntry,
    RunMove,
    RunNote,
    RunQuery,
    Settlement,
    StoredRun,
)
from interlock.store.books import Books, RunKey
from interlock.store.memory_chain import MemoryChain
from interlock.store.rules import FIRST_FENCE
from interlock.store.run_rules import not_moved, not_told, step_of, wake_after


@dataclass(slots=True)
class _Run:
    """One run, as its rows would hold it: `held` says that it has an owner, `own` that this still lives.

    It is what guards look at (`run_rules.Stands`). What happened is kept without its numbers: the place says those.
    """

    tenant: str
    id: str
    agent: str
    principal: str
    started_us: int
    entries: list[RunEntry]
    state: str
    version: int
    changed_us: int
    fence: int = FIRST_FENCE
    wake_us: int | None = None
    held: bool = True
    own: bool = True
    over: bool = False
    woken: bool = False

    @property
    def seen(self) -> StoredRun:
        """The run as it is read."""
        return StoredRun(
            self.tenant,
            self.id,
            self.state,
            self.version,
            self.fence,
            self.agent,
            self.principal,
            self.started_us,
            self.changed_us,
            self.wake_us,
            self.own,
            self.over,
        )

    def let_go(self) -> None:
        """Nobody has it from now on."""
        self.held = self.own = False

    def due_since_us(self, at_us: int) -> int | None:
        """Since when it wants to be looked at; None: it does not."""
        told = self.wake_us == 0
        if self.over or (self.own and not told):
            return None
        if told or self.held:
            return self.changed_us
        return self.wake_us if self.wake_us is not None and self.wake_us <= at_us else None


class MemoryRuns:
    """The ports `Runs` and `RunReads` of a store in memory. `settle` is how the store settles a call."""

    def __init__(
        self, books: Books, *, chain: MemoryChain, settle: Callable[[Settlement], Awaitable[Receipt | None]]
    ) -> None:
        self._books = books
        self._chain = chain
        self._settle = settle
        self._runs: dict[RunKey, _Run] = {}

    async def begin_run(self, new: NewRun) -> RunClaim | None:
        """Keep a new run. None: the tenant has one of that id already."""
        if (new.tenant, new.id) in self._runs:
            return None
        self._runs[new.tenant, new.id] = _Run(
            new.tenant,
            new.id,
            new.agent,
            new.principal,
            new.at_us,
            [*new.entries],
            new.state,
            len(new.entries),
            new.at_us,
        )
        self._record(new.event)
        return RunClaim(new.tenant, new.id, FIRST_FENCE)

    async def take_run(self, tenant: str, run_id: str, at_us: int) -> RunClaim | None:
        """Hold a run under a new fence. None: there is none, it is over, or a process at work holds it, also this."""
        found = self._runs.get((tenant, run_id))
        if found is None or found.over or found.own:
            return None
        found.fence, found.changed_us, found.wake_us = found.fence + 1, at_us, found.wake_us or None
        found.held = found.own = True
        found.woken = False
        return RunClaim(tenant, run_id, found.fence)

    async def move_run(self, move: RunMove) -> int | NotMoved:
        """Write one step; the run's version after it."""
        claim = move.claim
        found = self._runs.get((claim.tenant, claim.id))
        refused = not_moved(move, stands=found)
        if refused is not None or found is None:
            return refused or NotMoved.MISSING
        found.entries += move.entries
        version = found.version = len(found.entries)
        found.state, found.changed_us, found.wake_us = move.state, move.at_us, wake_after(move, woken=found.woken)
        found.woken = False
        if move.release or move.ended is not None:
            found.let_go()
        if move.event is not None:
            self._chain.append(move.event)
        if move.charges:
            self._books.charge(move.charges)
        if move.ended is not None:
            found.over = True
            self._books.end((claim.tenant, claim.id), why=move.ended)
        return version

    async def settle_in_run(
        self, ending: Settlement | Entry, note: RunNote
    ) -> tuple[Receipt | None, int | NotMoved | None]:
        """Settle or record a call of a run, and write the step that is made of its receipt."""
        receipt = self.record(ending) if isinstance(ending, Entry) else await self._settle(ending)
        move = None if receipt is None else step_of(note, receipt)
        return receipt, None if move is None else await self.move_run(move)

    def record(self, entry: Entry) -> Receipt:
        """Write a record that claims nothing."""
        self._books.charge(entry.charges)
        if entry.run is not None:
            self._books.join((entry.event.tenant, entry.run), labels=entry.labels)
        return self._chain.append(entry.event)

    async def tell_run(
        self, tenant: str, run_id: str, entry: RunEntry, *, event: Event | None = None
    ) -> int | NotMoved:
        """Say something to a run, whoever holds it: the entry is appended and the run is due at once."""
        found = self._runs.get((tenant, run_id))
        refused = not_told(found)
        if refused is not None or found is None:
            return refused or NotMoved.MISSING
        found.changed_us, found.wake_us = entry.at_us, 0
        found.entries.append(entry)
        version = found.version = len(found.entries)
        self._record(event)
        return version

    async def due_runs(self, at_us: int, limit: int) -> tuple[StoredRun, ...]:
        """Runs to be looked at, the longest due first."""
        due = [(since_us, each) for each in self._runs.values() if (since_us := each.due_since_us(at_us)) is not None]
        due.sort(key=lambda found: found[0])
        return tuple(each.seen for _, each in due[:limit])

    async def run(self, tenant: str, run_id: str) -> StoredRun | None:
        """One run."""
        found = self._runs.get((tenant, run_id))
        return None if found is None else found.seen

    async def runs(self, query: RunQuery) -> tuple[StoredRun, ...]:
        """Runs, newest first."""
        found = sorted(self._matching(query), key=lambda head: (head.started_us, head.id), reverse=True)
        return tuple(found[: query.limit])

    async def run_entries(
        self, tenant: str, run_id: str, *, after: int = 0, limit: int = 1_000
    ) -> tuple[RunEntry, ...]:
        """What happened after an entry, in order; from the beginning after 0."""
        found = self._runs.get((tenant, run_id))
        kept = () if found is None else found.entries[after : after + limit]
        return tuple([RunEntry(each.kind, each.at_us, each.data, at) for at, each in enumerate(kept, after + 1)])

    def wake(self, tenant: str, run_id: str | None) -> None:
        """An approval of one of its operations has changed."""
        found = None if run_id is None else self._runs.get((tenant, run_id))
        if found is not None and not found.over:
            found.wake_us, found.woken = 0, True

    def abandon(self) -> None:
        """As if the process that holds the runs had died."""
        for each in self._runs.values():
            each.own = False

    def drop(self, before_us: int) -> None:
        """Retention: forget runs that are over."""
        kept = {key: run for key, run in self._runs.items() if not run.over or run.changed_us >= before_us}
        self._runs = kept

    def _matching(self, query: RunQuery) -> Iterator[StoredRun]:
        for each in self._runs.values():
            if (
                query.tenant in (None, each.tenant)
                and query.state in (None, each.state)
                and query.principal in (None, each.principal)
                and query.over in (None, each.over)
                and (query.before is None or (each.started_us, each.id) < query.before)
            ):
                yield each.seen

    def _record(self, event: Event | None) -> None:
        if event is not None:
            self._chain.append(event)
