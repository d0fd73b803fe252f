"""Runs in PostgreSQL: what one op of a batch does with them, and how they are read.

A head is read and locked in the batch that moves it, and whoever takes a run over does so under the same lock. So
nothing is written by a process that has lost it, without asking what batches of that process are on their way.
"""

from __future__ import annotations

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
from interlock.store.postgres_calls import Recording, Settling
from interlock.store.postgres_line import Row
from interlock.store.postgres_ops import OP_FAULTS, Nothing
from interlock.store.postgres_reads import Reader
from interlock.store.postgres_rows import place_of
from interlock.store.postgres_run_sheet import HeadRow, place_in_run, sequence_of
from interlock.store.postgres_sheet import Needs, Sheet
from interlock.store.postgres_writer import Writer
from interlock.store.rules import FIRST_FENCE
from interlock.store.run_rules import NO_OWNER, not_moved, not_told, numbered, step_of, wake_after
from interlock.store.seal import Seal, of_run_entry

_NO_END = (2**63 - 1, "")


class PostgresRuns:
    """The ports `Runs` and `RunReads` of a PostgreSQL store: it writes through the store's writer, and reads beside."""

    def __init__(self, writer: Writer, reader: Reader, *, seal: Seal) -> None:
        self._writer = writer
        self._reader = reader
        self._seal = seal

    async def begin_run(self, new: NewRun) -> RunClaim | None:
        """Keep a new run. None: the tenant has one of that id already."""
        return await self._writer.write("begin_run", Beginning(new))

    async def take_run(self, tenant: str, run_id: str, at_us: int) -> RunClaim | None:
        """Hold a run under a new fence. None: there is none, it is over, or a process at work holds it, also this."""
        return await self._writer.write("take_run", Taking(tenant, run_id, at_us))

    async def move_run(self, move: RunMove) -> int | NotMoved:
        """Write one step; the run's version after it."""
        return await self._writer.write("move_run", Moving(move))

    async def settle_in_run(
        self, ending: Settlement | Entry, note: RunNote
    ) -> tuple[Receipt | None, int | NotMoved | None]:
        """Settle or record a call of a run, and write the step that is made of its receipt."""
        if isinstance(ending, Entry):
            return await self._writer.write("record", EndingInRun(Recording(ending), note))
        return await self._writer.write("settle", EndingInRun(Settling(ending), note))

    async def tell_run(
        self, tenant: str, run_id: str, entry: RunEntry, *, event: Event | None = None
    ) -> int | NotMoved:
        """Say something to a run, whoever holds it: the entry is appended and the run is due at once."""
        return await self._writer.write("tell_run", Telling(tenant, run_id, entry, event))

    async def due_runs(self, at_us: int, limit: int) -> tuple[StoredRun, ...]:
        """Runs to be looked at, the longest due first."""
        self._writer.check()
        values: dict[str, object] = {"at_us": at_us, "limit": limit, "owner": self._writer.desk.owner}
        (rows,) = await self._reader.trip(("select_runs_due", values))
        return tuple(map(_read, rows))

    async def run(self, tenant: str, run_id: str) -> StoredRun | None:
        """One run; waits for the writes that were handed over before."""
        await self._writer.write("wait", Nothing())
        (rows,) = await self._reader.trip(("select_run_head", (place_of(tenant, run_id),)))
        return _read(rows[0]) if rows else None

    async def runs(self, query: RunQuery) -> tuple[StoredRun, ...]:
        """Runs, newest first."""
        self._writer.check()
        before_us, before_id = query.before or _NO_END
        values: dict[str, object] = {
            "state": query.state,
            "principal": query.principal,
            "over": query.over,
            "before_us": before_us,
            "before_id": before_id,
            "limit": query.limit,
        }
        if query.tenant is None:
            (rows,) = await self._reader.trip(("select_run_heads", values))
        else:
            (rows,) = await self._reader.trip(("select_run_heads_of_tenant", {**values, "tenant": query.tenant}))
        return tuple(map(_read, rows))

    async def run_entries(
        self, tenant: str, run_id: str, *, after: int = 0, limit: int = 1_000
    ) -> tuple[RunEntry, ...]:
        """What happened after an entry, in order; from the beginning after 0."""
        self._writer.check()
        values: dict[str, object] = {"place": place_of(tenant, run_id), "after": after, "limit": limit}
        (rows,) = await self._reader.trip(("select_run_entries", values))
        return tuple(self._entry(tenant, run_id, row=row) for row in rows)

    def _entry(self, tenant: str, run_id: str, *, row: Row) -> RunEntry:
        place, kind, at_us, sealed = row
        sequence = sequence_of(place)
        return RunEntry(kind, at_us, self._seal.open(sealed, context=of_run_entry(tenant, run_id, sequence)), sequence)


def _read(row: Row) -> StoredRun:
    """The columns of a head, and whether it is held and over."""
    return StoredRun(*row)


# --- what an op does --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Beginning:
    """Keep a new run, held by this process. None: the tenant has one of that id already."""

    new: NewRun

    def needs(self, needs: Needs, _: Sheet) -> None:
        place = place_of(self.new.tenant, self.new.id)
        needs.heads.add(place)
        needs.begun.add(place)

    def run(self, sheet: Sheet) -> RunClaim | None:
        new, place = self.new, place_of(self.new.tenant, self.new.id)
        if place in sheet.runs.heads:
            return None
        head = HeadRow(
            place,
            sheet.runs.numbers[place],
            new.tenant,
            new.id,
            new.state,
            0,
            FIRST_FENCE,
            sheet.owner,
            new.agent,
            new.principal,
            new.at_us,
            new.at_us,
        )
        _append(sheet, head, entries=new.entries, event=new.event)
        sheet.runs.begin(head)
        return RunClaim(new.tenant, new.id, FIRST_FENCE)


@dataclass(frozen=True, slots=True)
class Taking:
    """Hold a run under a new fence. None: there is none, it is over, or a process at work holds it."""

    tenant: str
    run_id: str
    at_us: int

    def needs(self, needs: Needs, _: Sheet) -> None:
        needs.heads.add(place_of(self.tenant, self.run_id))

    def run(self, sheet: Sheet) -> RunClaim | None:
        head = sheet.runs.heads.get(place_of(self.tenant, self.run_id))
        if head is None or head.over or head.is_held(by=sheet.owner):
            return None
        head.fence, head.owner, head.owner_lives = head.fence + 1, sheet.owner, True
        head.changed_us, head.wake_us, head.woken = self.at_us, head.wake_us or None, False
        sheet.runs.change(head)
        return RunClaim(self.tenant, self.run_id, head.fence)


@dataclass(frozen=True, slots=True)
class Moving:
    """Write one step; the run's version after it."""

    move: RunMove

    def needs(self, needs: Needs, _: Sheet) -> None:
        claim = self.move.claim
        needs.heads.add(place_of(claim.tenant, claim.id))
        needs.touched.update(scope for scope, _amounts, _limits in self.move.charges)
        if self.move.ended is not None:
            needs.runs.add((claim.tenant, claim.id))

    def run(self, sheet: Sheet) -> int | NotMoved:
        move, claim = self.move, self.move.claim
        head = sheet.runs.heads.get(place_of(claim.tenant, claim.id))
        refused = not_moved(move, stands=None if head is None else head.stands(owner=sheet.owner))
        if refused is not None or head is None:
            return refused or NotMoved.MISSING
        _append(sheet, head, entries=move.entries, event=move.event)
        head.state, head.changed_us = move.state, move.at_us
        head.wake_us, head.woken = wake_after(move, woken=head.woken), False
        if move.release or move.ended is not None:
            head.owner, head.owner_lives, head.over = NO_OWNER, False, move.ended is not None
        sheet.runs.change(head)
        sheet.books.charge(move.charges)
        if move.ended is not None:
            sheet.books.end((claim.tenant, claim.id), why=move.ended)
        return head.version


@dataclass(frozen=True, slots=True)
class EndingInRun:
    """End a call, and write the step of its run that follows: a step that fails has changed nothing."""

    ending: Settling | Recording
    note: RunNote

    def needs(self, needs: Needs, sheet: Sheet) -> None:
        self.ending.needs(needs, sheet)
        needs.heads.add(place_of(self.note.claim.tenant, self.note.claim.id))

    def run(self, sheet: Sheet) -> tuple[Receipt | None, int | NotMoved | None]:
        receipt = self.ending.run(sheet)
        if receipt is None:
            return None, None
        move = step_of(self.note, receipt)
        if move is None:
            return receipt, None
        try:
            return receipt, Moving(move).run(sheet)
        except OP_FAULTS:
            return receipt, None


@dataclass(frozen=True, slots=True)
class Telling:
    """Say something to a run, whoever holds it; its version after that."""

    tenant: str
    run_id: str
    entry: RunEntry
    event: Event | None

    def needs(self, needs: Needs, _: Sheet) -> None:
        needs.heads.add(place_of(self.tenant, self.run_id))

    def run(self, sheet: Sheet) -> int | NotMoved:
        head = sheet.runs.heads.get(place_of(self.tenant, self.run_id))
        refused = not_told(None if head is None else head.stands(owner=sheet.owner))
        if refused is not None or head is None:
            return refused or NotMoved.MISSING
        _append(sheet, head, entries=(self.entry,), event=self.event)
        head.changed_us, head.wake_us = self.entry.at_us, 0
        sheet.runs.change(head)
        return head.version


def _append(sheet: Sheet, head: HeadRow, *, entries: tuple[RunEntry, ...], event: Event | None) -> None:
    """What happened, on record. Everything that may fail comes first."""
    rows = [
        (
            place_in_run(head.number, sequence=sequence),
            each.kind,
            each.at_us,
            sheet.seal.seal(each.data, context=of_run_entry(head.tenant, head.id, sequence)),
        )
        for sequence, each in numbered(entries, after=head.version)
    ]
    if event is not None:
        sheet.append(event)
    sheet.runs.append(rows)
    head.version += len(rows)
