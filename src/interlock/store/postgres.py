"""A store in a PostgreSQL database: durable, sealed where a key is set, shared by any number of processes and machines.

Every process writes through one connection, in groups, and reads through a few. It holds its claims under a lease; once
that has run out, others take over what it has claimed, and it cannot write for those claims any more.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeVar

import psycopg

from interlock.core.approval import Approval, ApprovalState
from interlock.core.budget import Amounts, ScopeKey, ScopeKind, Usage
from interlock.core.chain import Head, Receipt
from interlock.core.checkpoint import Checkpoint, Mark
from interlock.core.compensation_plan import CompensationPlan
from interlock.core.errors import StoreError
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
from interlock.store.postgres_approvals import (
    Changing,
    Questioning,
    approval_of,
    approval_of_columns,
    operation_of,
    place_of_approval,
)
from interlock.store.postgres_artifacts import PostgresArtifacts
from interlock.store.postgres_bell import Bell, Wake
from interlock.store.postgres_calls import (
    Appending,
    Claiming,
    Finding,
    Noting,
    Recording,
    Settling,
    TakingOver,
    WorkEnding,
)
from interlock.store.postgres_chain import read_records
from interlock.store.postgres_closings import ProposingClosing, read_closing
from interlock.store.postgres_compensations import PlanWriting, effects_step, read_effect, read_plan
from interlock.store.postgres_control import (
    CallPurging,
    CheckpointDrawing,
    KeepingKeys,
    Publishing,
    Purging,
    RecordPurging,
    RunPurging,
    SavingPolicies,
    read_heads,
    read_policy,
    read_version,
)
from interlock.store.postgres_documents import PostgresDocuments
from interlock.store.postgres_lease import LEASE_S
from interlock.store.postgres_line import Line, Row, Step, database_of, shown
from interlock.store.postgres_open import migrate
from interlock.store.postgres_ops import Nothing
from interlock.store.postgres_reads import Reader
from interlock.store.postgres_rows import ApprovalRow, open_call, place_of, read_call
from interlock.store.postgres_runs import PostgresRuns
from interlock.store.postgres_sheet import place_in_chain
from interlock.store.postgres_writer import CommitObserver, Writer
from interlock.store.rows import read_checkpoint
from interlock.store.seal import NoSeal, Seal

log = logging.getLogger("interlock.store")

T = TypeVar("T")

LEAVE_S: Final = 60.0
"""How long work that goes on when a store is closed is taken to go on at most: nobody can be asked any more."""

PURGE_ROWS: Final = 2_000


class PostgresStore:
    """All of the ports that a store provides. Open it with `PostgresStore.open`, on the event loop that uses it.

    `path` is where its key file lies, but for the ending: the working directory, under the database's name. `address`
    is where another process finds it.
    """

    def __init__(self, writer: Writer, reader: Reader, *, seal: Seal, url: str) -> None:
        self.path = Path(database_of(url))
        self.address = url
        self.artifacts = PostgresArtifacts(writer, reader, seal=seal)
        self.documents = PostgresDocuments(writer, reader, seal=seal)
        self.runs = PostgresRuns(writer, reader, seal=seal)
        self._writer = writer
        self._reader = reader
        self._seal = seal
        self._is_closed = False

    @staticmethod
    async def open(
        url: str,
        *,
        chain: str,
        seal: Seal | None = None,
        lease_s: float = LEASE_S,
        on_commit: CommitObserver | None = None,
    ) -> PostgresStore:
        """The store in this database, brought to the present schema where necessary.

        `chain` names the audit chain of this process; where another process writes it, `chain.2` and so on. What this
        process has claimed is taken over by others once it was not heard of for `lease_s`. Raises `StoreNewer` where a
        newer Interlock wrote the database, `StoreError` where it cannot be used.
        """
        seal = seal or NoSeal()
        try:
            line = await Line.open(url)
            try:
                await migrate(line)
            finally:
                await line.close()
            writer = await Writer.open(url, chain=chain, seal=seal, span_s=lease_s)
        except psycopg.Error as fault:
            reason = str(fault).strip().partition("\n")[0] or type(fault).__name__
            raise StoreError(f"the database at {shown(url)} cannot be used: {reason}") from fault
        writer.on_commit = on_commit
        reader = Reader(url, seal=seal, glimpses=writer.desk.glimpses)
        return PostgresStore(writer, reader, seal=seal, url=url)

    async def close(self) -> None:
        """Write what waits, then let go. What is still claimed then is orphaned.

        Work that goes on keeps its calls for a minute more: after that nobody can know whether it has ended.
        """
        if self._is_closed:
            return
        self._is_closed = True
        await self._writer.close()
        try:
            await self._leave()
        except StoreError as fault:
            # What was written is written, and a lease that cannot be given back runs out by itself.
            log.warning("the lease could not be given back: %s", fault)
        finally:
            await self._reader.close()

    async def _leave(self) -> None:
        owner = self._writer.desk.owner
        (at_work,) = await self._reader.trip(("select_at_work", (owner,)))
        if at_work:
            await self._reader.trip(("let_go_of_runs", (owner,)))
        await self._reader.trip(("end_lease", (LEAVE_S if at_work else 0.0, owner)))

    # --- calls --------------------------------------------------------------------------------------------------------

    async def look(self, look: Look) -> Seen:
        """One consistent read; or what was seen in passing, where that may be guessed and seldom fails."""
        self._writer.check()
        if look.may_guess and (guess := self._writer.guess(look)) is not None:
            return guess
        return await self._reader.look(look)

    async def claim(self, intent: Intent) -> Claim | NotClaimed:
        """Take everything the intent names, durably, or nothing."""
        return await self._writer.write("claim", Claiming(intent))

    async def settle(self, settlement: Settlement) -> Receipt | None:
        """Write the outcome and release the hold, durably. None: fenced, ended already, or the lease was lost."""
        return await self._writer.write("settle", Settling(settlement))

    async def record(self, entry: Entry) -> Receipt:
        """Write a record that claims nothing."""
        return await self._writer.write("record", Recording(entry))

    # --- approvals ----------------------------------------------------------------------------------------------------

    async def ask(self, asking: Asking) -> tuple[Approval, Receipt | None]:
        """Store the question, or find the identical one that is still pending, and then write nothing."""
        return await self._writer.write("ask", Questioning(asking))

    async def approval(self, tenant: str, approval_id: str) -> tuple[Approval, StoredOperation] | None:
        """One approval with its operation."""
        (rows,) = await self._read(("select_approval", (place_of_approval(tenant, approval_id),)))
        if not rows:
            return None
        row = ApprovalRow(*rows[0])
        return approval_of(row, seal=self._seal), operation_of(row, seal=self._seal)

    async def approvals(self, tenant: str | None, state: ApprovalState | None = None) -> tuple[Approval, ...]:
        """All of a tenant, or of every tenant, oldest first."""
        wanted = None if state is None else str(state)
        (rows,) = await self._read(("select_approvals", {"tenant": tenant, "state": wanted}))
        return tuple(approval_of_columns(row, seal=self._seal) for row in rows)

    async def change(self, change: ApprovalChange) -> Receipt | None:
        """Vote, withdraw, expire or void. None: it has changed meanwhile."""
        return await self._writer.write("change", Changing(change))

    # --- recovery -----------------------------------------------------------------------------------------------------

    async def open_calls(self, tenant: str | None = None) -> tuple[OpenCall, ...]:
        """Every claimed or unknown call, oldest first."""
        (rows,) = await self._read(("select_open_calls", {"tenant": tenant}))
        return tuple(open_call(read_call(row), seal=self._seal) for row in rows)

    async def find(self, tenant: str, operation_id: str) -> OpenCall | None:
        """One claimed, unknown or settled call; waits for the writes that were handed over before."""
        return await self._writer.write("find", Finding(tenant, operation_id))

    async def take_over(self, found: OpenCall, event: Event) -> Claim | None:
        """Claim an orphaned or unknown call under a new fence, hold kept. None: another was faster."""
        return await self._writer.write("take_over", TakingOver(found, event))

    async def work_ended(self, claim: Claim, event: Event) -> Receipt:
        """Record what came late of work that went on; nobody is at it any more."""
        return await self._writer.write("work_ended", WorkEnding(claim, event))

    async def due(self, at_us: int, limit: int) -> Due:
        """At most so many orphaned calls: those claimed, then those unknown whose time has come, each oldest first."""
        rows, ((unknown,),) = await self._read(("select_due", (at_us, limit)), ("count_unknown", ()))
        calls = map(read_call, rows)
        return Due(tuple(open_call(row, seal=self._seal, looks=row.looks) for row in calls), unknown)

    async def looks(self, tenant: str | None = None) -> Mapping[tuple[str, str], Looks]:
        """Of every unknown call that was looked up or escalated, by tenant and operation id."""
        (rows,) = await self._read(("select_looks", {"tenant": tenant}))
        return {(row[0], row[1]): Looks(*row[2:]) for row in rows}

    async def note_looks(self, call: OpenCall, looks: Looks, event: Event) -> Receipt | None:
        """Count a look-up before it is made, or give up. None: the call or its `looks` are not as `call` has them."""
        return await self._writer.write("note_looks", Noting(call, looks, event))

    async def closings(self, tenant: str) -> Mapping[str, Closing]:
        """What is proposed of a tenant's unknown calls, by operation id."""
        (rows,) = await self._read(("select_closings", (tenant,)))
        return dict(read_closing(row, tenant=tenant, seal=self._seal) for row in rows)

    async def propose_closing(self, call: OpenCall, closing: Closing, event: Event) -> Receipt | None:
        """Propose one, in place of any before it. None: it is not unknown any more, or under another fence."""
        return await self._writer.write_alone("propose_closing", ProposingClosing(call, closing, event))

    # --- compensations ------------------------------------------------------------------------------------------------

    async def effects(self, wanted: Effects) -> tuple[EffectCall, ...]:
        """Calls with a key that are claimed, unknown, succeeded or partial; the last to end comes first."""
        (rows,) = await self._read(effects_step(wanted))
        return tuple(read_effect(row, seal=self._seal) for row in rows)

    async def plan(self, tenant: str, plan_id: str) -> CompensationPlan | None:
        """One plan; waits for the writes that were handed over before."""
        await self._writer.write("wait", Nothing())
        (rows,) = await self._read(("select_plan", (place_of(tenant, plan_id),)))
        return read_plan(rows[0], seal=self._seal) if rows else None

    async def plans(self, tenant: str | None, *, going_on: bool = False) -> tuple[CompensationPlan, ...]:
        """All of a tenant, or of every tenant, oldest first; `going_on`: only those that run or wait."""
        (rows,) = await self._read(("select_plans_going_on" if going_on else "select_plans", {"tenant": tenant}))
        return tuple(read_plan(row, seal=self._seal) for row in rows)

    async def write_plan(self, change: PlanChange) -> Receipt | None:
        """Begin a plan, or write down what became of a step. None: a guard did not hold."""
        return await self._writer.write_alone("write_plan", PlanWriting(change))

    # --- other processes ----------------------------------------------------------------------------------------------

    def wake_with(self, wake: Wake) -> None:
        """Have `wake` called, on this event loop, with every limited scope of which another process lets go."""
        self._writer.bell = Bell(self.address, wake=wake)

    # --- the lease ----------------------------------------------------------------------------------------------------

    def remaining_s(self, claim: Claim) -> float:
        """How long a claim is this process's own at least; zero where it is not."""
        own = place_of(claim.tenant, claim.operation_id) in self._writer.desk.claimed
        return self._writer.lease.remaining_s() if own else 0.0

    async def renew(self, claim: Claim, seconds: float) -> bool:
        """Have a claim last so long at least; False where it is lost, or cannot be renewed now."""
        if self.remaining_s(claim) >= seconds:
            return True
        return await self._writer.lease.hold(seconds) and self.remaining_s(claim) >= seconds

    # --- catalogue and policies ---------------------------------------------------------------------------------------

    async def versions(self) -> tuple[int, tuple[Registered, ...]]:
        """The epoch, and every version, oldest first."""
        return await self._at_epoch("select_versions", read_version)

    async def changes(self, since: int) -> tuple[int, tuple[Registered, ...]]:
        """The epoch, and the versions that were published or moved after another, oldest first."""
        return await self._at_epoch("select_changed_versions", read_version, since)

    async def publish(self, found: tuple[Registered, ...], event: Event) -> int:
        """Insert or move versions as one change; the new epoch, which is the old one where nothing changed."""
        return await self._writer.write_alone("publish", Publishing(found, event))

    async def policies(self) -> tuple[int, tuple[PolicySource, ...]]:
        """The epoch, and every policy source."""
        return await self._at_epoch("select_policies", read_policy)

    async def save_policies(self, sources: tuple[PolicySource, ...], event: Event) -> int:
        """Replace all sources of the tenants named in `sources`; the new epoch."""
        return await self._writer.write_alone("save_policies", SavingPolicies(sources, event))

    async def epoch(self) -> int:
        """The present epoch."""
        (((epoch,),),) = await self._read(("select_epoch", ()))
        return int(epoch)

    async def _at_epoch(self, query: str, read_row: Callable[[Row], T], *given: object) -> tuple[int, tuple[T, ...]]:
        _, ((epoch,),), rows, _ = await self._read(
            ("one_moment", ()), ("select_epoch", ()), (query, given), ("commit", ())
        )
        return epoch, tuple(map(read_row, rows))

    # --- audit --------------------------------------------------------------------------------------------------------

    async def records(self, query: AuditQuery) -> tuple[AuditRecord, ...]:
        """Records in order of chain and sequence, with payloads where kept, at most `query.limit`."""
        self._writer.check()
        return await self._reader.on_line(lambda line: read_records(line, query=query, seal=self._seal))

    async def heads(self) -> tuple[Head, ...]:
        """Where every chain stands."""
        (rows,) = await self._read(("select_chains", ()))
        return read_heads(rows)

    async def append(self, event: Event) -> Receipt:
        """An act of the control plane."""
        return await self._writer.write("append", Appending(event))

    async def checkpoints(self) -> tuple[Checkpoint, ...]:
        """All of them, by number."""
        (rows,) = await self._read(("select_checkpoints", ()))
        return tuple(read_checkpoint(body) for (body,) in rows)

    async def checkpoint(self, draw: Callable[[tuple[Head, ...], Mark], Checkpoint]) -> Checkpoint:
        """Write the checkpoint that `draw` makes of the heads at this moment and the last mark."""
        return await self._writer.write_alone("checkpoint", CheckpointDrawing(draw))

    async def usage(self, tenant: str) -> tuple[tuple[ScopeKey, Usage], ...]:
        """Every usage row of a tenant."""
        (rows,) = await self._read(("select_usage_of_tenant", (tenant,)))
        found = {
            ScopeKey(tenant, ScopeKind(kind), name, window_us): Usage(Amounts(*row[:6]), Amounts(*row[6:]))
            for kind, name, window_us, *row in rows
        }
        return tuple(sorted(found.items()))

    async def keys(self) -> KeyMark | None:
        """The mark of the keys that it was first opened with; None while it has none."""
        (rows,) = await self._read(("select_keys", ()))
        return KeyMark(*rows[0]) if rows else None

    async def keep_keys(self, mark: KeyMark) -> KeyMark:
        """Remember these keys, unless it has some already; the mark that it has from now on."""
        return await self._writer.write_alone("keep_keys", KeepingKeys(mark))

    async def purge(self, before_us: int, *, windows_before_us: int | None = None) -> None:
        """Forget what was kept whole before then, but of open calls and of calls whose key still answers."""
        (chains,) = await self._read(("select_chains", ()))
        for chain, _, sequence, _ in chains:
            for first in range(1, sequence + 1, PURGE_ROWS):
                places = [place_in_chain(chain, sequence=at) for at in (first, first + PURGE_ROWS - 1)]
                await self._writer.write_alone("purge", RecordPurging(before_us, *places))
        # What is emptied now is dropped by the next purge: whoever looks it up meanwhile still learns how it ended.
        for query in ("drop_calls", "purge_calls"):
            after: bytes | None = b""
            while after is not None:
                after = await self._writer.write_alone("purge", CallPurging(query, before_us, after, PURGE_ROWS))
        windows_us = before_us if windows_before_us is None else windows_before_us
        for purging in (RunPurging(before_us, PURGE_ROWS), Purging(before_us, windows_us, PURGE_ROWS)):
            while await self._writer.write_alone("purge", purging):
                continue

    async def _read(self, *steps: Step) -> list[list[Row]]:
        self._writer.check()
        return await self._reader.trip(*steps)
