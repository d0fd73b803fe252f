"""A store in one SQLite file: durable, sealed where a key is set, shared by the processes of one machine.

While one process has the file to itself its memory is the truth about budgets and runs, and a read costs one write.
As soon as another opens it, both count on the disk. A claim whose process died is orphaned at once, since the kernel
drops the dead process's lock. Not for network file systems, whose locks cannot be relied on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from interlock.core.approval import Approval, ApprovalState
from interlock.core.budget import ScopeKey, Usage
from interlock.core.chain import Head, Receipt
from interlock.core.checkpoint import Checkpoint, Mark
from interlock.core.compensation_plan import CompensationPlan
from interlock.core.journal import AuditQuery, AuditRecord, Event
from interlock.core.key_mark import KeyMark
from interlock.core.policy import PolicySource
from interlock.core.recovery import Closing, Looks
from interlock.ports import (
    ApprovalChange,
    Asking,
    Claim,
    Due,
    EffectCall,
    Effects,
    Entry,
    Intent,
    Look,
    NotClaimed,
    OpenCall,
    PlanChange,
    Registered,
    Seen,
    Settlement,
    StoredOperation,
)
from interlock.store import (
    sqlite_approvals,
    sqlite_books,
    sqlite_calls,
    sqlite_catalogue,
    sqlite_chain,
    sqlite_closings,
    sqlite_compensations,
    sqlite_keys,
    sqlite_look_ups,
    sqlite_recovery,
    sqlite_retention,
)
from interlock.store.rules import may_fuse
from interlock.store.seal import NoSeal, Seal
from interlock.store.sqlite_artifacts import SqliteArtifacts
from interlock.store.sqlite_desk import Place
from interlock.store.sqlite_documents import SqliteDocuments
from interlock.store.sqlite_open import Opened, opened
from interlock.store.sqlite_runs import REPEATABLE, SqliteRuns
from interlock.store.writer import CommitObserver, Writer


class SqliteStore:
    """All of the ports that a store provides. Open it with `SqliteStore.open`, on the event loop that uses it."""

    def __init__(self, found: Opened, *, on_commit: CommitObserver | None = None) -> None:
        self.path = found.path
        self._desk = found.desk
        self._reader = found.reader
        self._is_closed = False
        self._writer = Writer(
            found.desk.db.connection, batch=_Batch(found), presence=found.desk.presence, on_commit=on_commit
        )
        self.artifacts = SqliteArtifacts(self._writer, found.desk.db, reader=found.reader)
        self.documents = SqliteDocuments(self._writer, found.desk, reader=found.reader)
        self.runs = SqliteRuns(self._writer, found.desk, reader=found.reader)

    @staticmethod
    async def open(
        path: str | Path, *, chain: str, seal: Seal | None = None, on_commit: CommitObserver | None = None
    ) -> SqliteStore:
        """The store in this file, made or brought to the present schema where necessary.

        `chain` names the audit chain of this process; where another process writes it just now, `chain.2` and so on.
        Raises `StoreNewer` where a newer Interlock wrote the file, `StoreError` where it cannot be used.
        """
        found = await asyncio.to_thread(opened, Path(path), chain=chain, seal=seal or NoSeal())
        return SqliteStore(found, on_commit=on_commit)

    @property
    def address(self) -> str:
        """Where another process finds it."""
        return str(self.path.absolute())

    @property
    def is_alone(self) -> bool:
        """Whether no other process has the file open, as far as this one has noticed."""
        return self._writer.alone

    async def close(self) -> None:
        """Write what waits, then let go of the file. What is still claimed then is orphaned.

        Where work goes on that was given up as unknown, its calls belong to this process until that ends.
        """
        if self._is_closed:
            return
        self._is_closed = True
        leave = partial(sqlite_recovery.leave, self._desk)
        if self._writer.is_open and await self._writer.write("leave", run=leave):
            self._desk.presence.remain()
        await self._writer.close()
        self._reader.close()
        self._desk.db.close()
        self._desk.presence.leave()

    # --- calls --------------------------------------------------------------------------------------------------------

    async def look(self, look: Look) -> Seen:
        """One consistent read, from memory as far as this process is alone, and of keys a guess where it may."""
        self._writer.check()
        if not self._writer.alone:
            return sqlite_calls.look_on_disk(self._reader, look=look, presence=self._desk.presence)
        books = self._desk.books
        run = None if look.run is None else books.runs[look.tenant, look.run]
        usage = books.usage.of(look.scopes)
        if look.may_guess and look.key is not None and look.key not in self._desk.keys:
            return Seen(None, run, usage, True)
        return Seen(sqlite_calls.prior(self._reader, look=look, presence=self._desk.presence), run, usage)

    async def claim(self, intent: Intent) -> Claim | NotClaimed:
        """Take everything the intent names, durably, or nothing; a read may be held in memory while alone."""
        if self._writer.alone and may_fuse(intent):
            self._writer.check()
            return sqlite_calls.claim_fused(self._desk, intent=intent)
        return await self._writer.write("claim", run=partial(sqlite_calls.claim, self._desk, intent=intent))

    async def settle(self, settlement: Settlement) -> Receipt | None:
        """Write the outcome and release the hold, durably. None: fenced, or ended already."""
        run = partial(sqlite_calls.settle, self._desk, settlement=settlement)
        return await self._writer.write("settle", run=run)

    async def record(self, entry: Entry) -> Receipt:
        """Write a record that claims nothing."""
        return await self._writer.write("record", run=partial(sqlite_calls.record, self._desk, entry=entry))

    # --- approvals ----------------------------------------------------------------------------------------------------

    async def ask(self, asking: Asking) -> tuple[Approval, Receipt | None]:
        """Store the question, or find the identical one that is still pending, and then write nothing."""
        return await self._writer.write("ask", run=partial(sqlite_approvals.ask, self._desk, asking=asking))

    async def approval(self, tenant: str, approval_id: str) -> tuple[Approval, StoredOperation] | None:
        """One approval with its operation."""
        self._writer.check()
        return sqlite_approvals.with_operation(self._reader, place=(tenant, approval_id))

    async def approvals(self, tenant: str | None, state: ApprovalState | None = None) -> tuple[Approval, ...]:
        """All of a tenant, or of every tenant, oldest first."""
        self._writer.check()
        return sqlite_approvals.approvals(self._reader, tenant=tenant, state=state)

    async def change(self, change: ApprovalChange) -> Receipt | None:
        """Vote, withdraw, expire or void. None: it has changed meanwhile."""
        return await self._writer.write("change", run=partial(sqlite_approvals.change, self._desk, step=change))

    # --- recovery -----------------------------------------------------------------------------------------------------

    async def open_calls(self, tenant: str | None = None) -> tuple[OpenCall, ...]:
        """Every claimed or unknown call on the disk, oldest first."""
        self._writer.check()
        return sqlite_recovery.open_calls(self._reader, tenant=tenant, presence=self._desk.presence)

    async def find(self, tenant: str, operation_id: str) -> OpenCall | None:
        """One claimed, unknown or settled call, as `sqlite_recovery.find`; waits for the writes before."""
        run = partial(sqlite_recovery.find, self._desk, place=(tenant, operation_id))
        return await self._writer.write("find", run=run)

    async def take_over(self, found: OpenCall, event: Event) -> Claim | None:
        """Claim an orphaned or unknown call under a new fence, hold kept. None: another was faster."""
        run = partial(sqlite_recovery.take_over, self._desk, found=found, event=event)
        return await self._writer.write("take_over", run=run)

    async def work_ended(self, claim: Claim, event: Event) -> Receipt:
        """Record what came late of work that went on; nobody is at it any more."""
        run = partial(sqlite_recovery.work_ended, self._desk, claim=claim, event=event)
        return await self._writer.write("work_ended", run=run)

    async def due(self, at_us: int, limit: int) -> Due:
        """At most so many orphaned calls: those claimed, then those unknown whose time has come, each oldest first."""
        self._writer.check()
        return sqlite_look_ups.due(self._reader, at_us=at_us, limit=limit, presence=self._desk.presence)

    async def looks(self, tenant: str | None = None) -> Mapping[tuple[str, str], Looks]:
        """Of every unknown call that was looked up or escalated, by tenant and operation id."""
        self._writer.check()
        return sqlite_look_ups.looks(self._reader, tenant=tenant)

    async def note_looks(self, call: OpenCall, looks: Looks, event: Event) -> Receipt | None:
        """Count a look-up before it is made, or give up. None: it is not as `call` has it."""
        run = partial(sqlite_look_ups.note, self._desk, call=call, changed=looks, event=event)
        return await self._writer.write("note_looks", run=run)

    async def closings(self, tenant: str) -> Mapping[str, Closing]:
        """What is proposed of a tenant's unknown calls, by operation id."""
        self._writer.check()
        return sqlite_closings.closings(self._reader, tenant=tenant)

    async def propose_closing(self, call: OpenCall, closing: Closing, event: Event) -> Receipt | None:
        """Propose one, in place of any before it. None: it is not unknown any more, or under another fence."""
        run = partial(sqlite_closings.propose, self._desk, call=call, closing=closing, event=event)
        return await self._writer.write("propose_closing", run=run)

    # --- compensations ------------------------------------------------------------------------------------------------

    async def effects(self, wanted: Effects) -> tuple[EffectCall, ...]:
        """Calls with a key that are claimed, unknown, succeeded or partial; the last to end comes first."""
        self._writer.check()
        return sqlite_compensations.effects(self._reader, wanted=wanted, presence=self._desk.presence)

    async def plan(self, tenant: str, plan_id: str) -> CompensationPlan | None:
        """One plan; waits for the writes that were handed over before."""
        run = partial(sqlite_compensations.plan, self._desk.db, tenant=tenant, plan_id=plan_id)
        return await self._writer.write("plan", run=run)

    async def plans(self, tenant: str | None, *, going_on: bool = False) -> tuple[CompensationPlan, ...]:
        """All of a tenant, or of every tenant, oldest first; `going_on`: only those that run or wait."""
        self._writer.check()
        return sqlite_compensations.plans(self._reader, tenant=tenant, going_on=going_on)

    async def write_plan(self, change: PlanChange) -> Receipt | None:
        """Begin a plan, or write down what became of a step. None: a guard did not hold."""
        run = partial(sqlite_compensations.write, self._desk, change=change)
        return await self._writer.write("write_plan", run=run)

    # --- catalogue and policies ---------------------------------------------------------------------------------------

    async def versions(self) -> tuple[int, tuple[Registered, ...]]:
        """The epoch, and every version, oldest first."""
        self._writer.check()
        return sqlite_catalogue.versions(self._reader)

    async def changes(self, since: int) -> tuple[int, tuple[Registered, ...]]:
        """The epoch, and the versions that were published or moved after another, oldest first."""
        self._writer.check()
        return sqlite_catalogue.changes(self._reader, since=since)

    async def publish(self, found: tuple[Registered, ...], event: Event) -> int:
        """Insert or move versions as one change; the new epoch, which is the old one where nothing changed."""
        run = partial(sqlite_catalogue.publish, self._desk, found=found, event=event)
        return await self._writer.write("publish", run=run)

    async def policies(self) -> tuple[int, tuple[PolicySource, ...]]:
        """The epoch, and every policy source."""
        self._writer.check()
        return sqlite_catalogue.policies(self._reader)

    async def save_policies(self, sources: tuple[PolicySource, ...], event: Event) -> int:
        """Replace all sources of the tenants named in `sources`; the new epoch."""
        run = partial(sqlite_catalogue.save_policies, self._desk, sources=sources, event=event)
        return await self._writer.write("save_policies", run=run)

    async def epoch(self) -> int:
        """The present epoch, from memory while this process is alone."""
        self._writer.check()
        return self._desk.epoch if self._writer.alone else sqlite_catalogue.epoch(self._reader)

    # --- audit --------------------------------------------------------------------------------------------------------

    async def records(self, query: AuditQuery) -> tuple[AuditRecord, ...]:
        """Records in order of chain and sequence, with payloads where kept, at most `query.limit`."""
        self._writer.check()
        return sqlite_chain.records(self._reader, query=query)

    async def heads(self) -> tuple[Head, ...]:
        """Where every chain stands."""
        self._writer.check()
        return sqlite_chain.heads(self._reader)

    async def append(self, event: Event) -> Receipt:
        """An act of the control plane."""
        return await self._writer.write("append", run=partial(self._desk.chain.append, event))

    async def checkpoints(self) -> tuple[Checkpoint, ...]:
        """All of them, by number."""
        self._writer.check()
        return sqlite_chain.checkpoints(self._reader)

    async def checkpoint(self, draw: Callable[[tuple[Head, ...], Mark], Checkpoint]) -> Checkpoint:
        """Write the checkpoint that `draw` makes of the heads at this moment and the last mark."""
        run = partial(sqlite_chain.checkpoint, self._desk.db, chain=self._desk.chain, draw=draw)
        return await self._writer.write("checkpoint", run=run)

    async def usage(self, tenant: str) -> tuple[tuple[ScopeKey, Usage], ...]:
        """Every usage row of a tenant, reads in flight included while this process is alone."""
        self._writer.check()
        found = sqlite_books.usage_of(self._reader, tenant=tenant)
        if self._writer.alone:
            books = self._desk.books
            found |= {scope: Usage.read(each) for scope, each in books.usage.items() if scope.tenant == tenant}
        return tuple(sorted(found.items()))

    async def keys(self) -> KeyMark | None:
        """The mark of the keys that it was first opened with; None while it has none."""
        self._writer.check()
        return sqlite_keys.found(self._reader)

    async def keep_keys(self, mark: KeyMark) -> KeyMark:
        """Remember these keys, unless it has some already; the mark that it has from now on."""
        return await self._writer.write("keep_keys", run=partial(sqlite_keys.keep, self._desk.db, mark=mark))

    async def purge(self, before_us: int, *, windows_before_us: int | None = None) -> None:
        """Forget what was kept whole before then, but of open calls and of calls whose key still answers."""
        steps = sqlite_retention.steps(self._reader, before_us=before_us, windows_before_us=windows_before_us)
        for step in steps:
            await self._writer.write("purge", run=partial(sqlite_retention.purge, self._desk.db, step=step))


class _Batch:
    """What every transaction begins and ends with."""

    repeatable = frozenset({"claim", "settle", "record", *REPEATABLE})

    def __init__(self, found: Opened) -> None:
        self.path = found.path
        self._desk = found.desk
        self._reader = found.reader
        self._version: int | None = None
        self._fused: dict[Place, Intent] = {}
        self._stand = found.desk.chain.stand

    def begin(self) -> None:
        """Read anew what another process may have changed."""
        desk = self._desk
        desk.books.source = desk.db
        self._fused, self._stand = desk.fused.copy(), desk.chain.stand
        version = desk.db.version_of_data()
        if version == self._version:
            desk.books.trim(fused=desk.fused.values())
            return
        self._version = version
        desk.epoch = sqlite_catalogue.epoch(desk.db)
        desk.may_ask = sqlite_approvals.is_any_pending(desk.db)
        self._read_anew()

    def take_back(self) -> None:
        """Nothing has happened since `begin`. What was claimed before then stands in rows."""
        desk = self._desk
        desk.fused.clear()
        desk.fused.update(self._fused)
        desk.claimed.clear()
        desk.chain.go_back(self._stand)
        self._read_anew()

    def _read_anew(self) -> None:
        """Know nothing but what stands in rows, and what reads hold in memory."""
        desk = self._desk
        desk.books.forget()
        for intent in desk.fused.values():
            desk.books.exchange((), kept=intent.reservations)
            sqlite_calls.join_ceiling(desk, intent=intent)

    def end(self) -> None:
        """Write once what all ops share."""
        desk = self._desk
        desk.books.write(desk.db, fused=desk.fused.values())
        desk.chain.write()
        desk.books.source = self._reader

    def share(self) -> None:
        """Claim durably what was held in memory alone."""
        sqlite_calls.make_fused_durable(self._desk)
