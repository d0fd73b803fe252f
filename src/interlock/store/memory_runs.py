"""Runs in memory: their heads, and what happened in them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace

from interlock.core.chain import Receipt
from interlock.core.journal import Event
from interlock.ports import NewRun, NotMoved, RunClaim, RunEntry, RunMove, RunNote, RunQuery, Settlement, StoredRun
from interlock.store.books import Books, RunKey
from interlock.store.memory_chain import MemoryChain
from interlock.store.rules import FIRST_FENCE
from interlock.store.run_rules import Standing, not_moved, not_told, step_of, wake_after


@dataclass(slots=True)
class _Run:
    """One run, as its rows would hold it: `head.held` says that it has an owner, `at_work` that this still lives."""

    head: StoredRun
    entries: list[RunEntry]
    at_work: bool = True
    woken: bool = False

    @property
    def is_held(self) -> bool:
        return self.head.held and self.at_work

    @property
    def stands(self) -> Standing:
        head = self.head
        return Standing(head.version, head.fence, head.held and self.at_work, head.over, self.woken)

    @property
    def seen(self) -> StoredRun:
        """The run as it is read."""
        return replace(self.head, held=self.is_held)

    def append(self, entries: tuple[RunEntry, ...]) -> int:
        """The version after them."""
        version = self.head.version
        for entry in entries:
            version += 1
            self.entries.append(RunEntry(entry.kind, entry.at_us, entry.data, version))
        return version

    def due_since_us(self, at_us: int) -> int | None:
        """Since when it wants to be looked at; None: it does not."""
        head = self.head
        told = head.wake_us == 0
        if head.over or (self.is_held and not told):
            return None
        if told or head.held:
            return head.changed_us
        return head.wake_us if head.wake_us is not None and head.wake_us <= at_us else None


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
        entries = [RunEntry(each.kind, each.at_us, each.data, sequence) for sequence, each in enumerate(new.entries, 1)]
        head = StoredRun(
            new.tenant,
            new.id,
            new.state,
            len(entries),
            FIRST_FENCE,
            new.agent,
            new.principal,
            new.at_us,
            new.at_us,
            None,
            True,
        )
        self._runs[new.tenant, new.id] = _Run(head, entries)
        self._record(new.event)
        return RunClaim(new.tenant, new.id, FIRST_FENCE)

    async def take_run(self, tenant: str, run_id: str, at_us: int) -> RunClaim | None:
        """Hold a run under a new fence. None: there is none, it is over, or a process at work holds it, also this."""
        found = self._runs.get((tenant, run_id))
        if found is None or found.head.over or found.is_held:
            return None
        fence = found.head.fence + 1
        found.head = replace(found.head, fence=fence, held=True, changed_us=at_us, wake_us=found.head.wake_us or None)
        found.at_work, found.woken = True, False
        return RunClaim(tenant, run_id, fence)

    async def move_run(self, move: RunMove) -> int | NotMoved:
        """Write one step; the run's version after it."""
        key = (move.claim.tenant, move.claim.id)
        found = self._runs.get(key)
        refused = not_moved(move, stands=None if found is None else found.stands)
        if refused is not None or found is None:
            return refused or NotMoved.MISSING
        head = found.head
        found.head = StoredRun(
            head.tenant,
            head.id,
            move.state,
            found.append(move.entries),
            head.fence,
            head.agent,
            head.principal,
            head.started_us,
            move.at_us,
            wake_after(move, woken=found.woken),
            not move.release and move.ended is None,
            move.ended is not None,
        )
        found.woken = False
        self._record(move.event)
        if move.charges:
            self._books.charge(move.charges)
        if move.ended is not None:
            self._books.end(key, why=move.ended)
        return found.head.version

    async def settle_in_run(
        self, settlement: Settlement, note: RunNote
    ) -> tuple[Receipt | None, int | NotMoved | None]:
        """Settle a call of a run, and write the step that is made of its receipt."""
        receipt = await self._settle(settlement)
        move = None if receipt is None else step_of(note, receipt)
        return receipt, None if move is None else await self.move_run(move)

    async def tell_run(
        self, tenant: str, run_id: str, entry: RunEntry, *, event: Event | None = None
    ) -> int | NotMoved:
        """Say something to a run, whoever holds it: the entry is appended and the run is due at once."""
        found = self._runs.get((tenant, run_id))
        refused = not_told(None if found is None else found.stands)
        if refused is not None or found is None:
            return refused or NotMoved.MISSING
        found.head = replace(found.head, version=found.append((entry,)), changed_us=entry.at_us, wake_us=0)
        self._record(event)
        return found.head.version

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
        return () if found is None else tuple(found.entries[after : after + limit])

    def wake(self, tenant: str, run_id: str | None) -> None:
        """An approval of one of its operations has changed."""
        found = None if run_id is None else self._runs.get((tenant, run_id))
        if found is not None and not found.head.over:
            found.head = replace(found.head, wake_us=0)
            found.woken = True

    def abandon(self) -> None:
        """As if the process that holds the runs had died."""
        for each in self._runs.values():
            each.at_work = False

    def drop(self, before_us: int) -> None:
        """Retention: forget runs that are over."""
        kept = {key: run for key, run in self._runs.items() if not run.head.over or run.head.changed_us >= before_us}
        self._runs = kept

    def _matching(self, query: RunQuery) -> Iterator[StoredRun]:
        for each in self._runs.values():
            head = each.head
            if (
                query.tenant in (None, head.tenant)
                and query.state in (None, head.state)
                and query.principal in (None, head.principal)
                and query.over in (None, head.over)
                and (query.before is None or (head.started_us, head.id) < query.before)
            ):
                yield each.seen

    def _record(self, event: Event | None) -> None:
        if event is not None:
            self._chain.append(event)
