"""Runs in SQLite: their heads, and what happened in them, sealed where the store is.

Moves are like claims and settlements: they guard first, then write rows, then the audit record, and change the books
last, so that any number of them share a transaction and are carried out once more where another fails.
"""

from __future__ import annotations

import asyncio
from functools import partial

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
from interlock.store.locks import Presence
from interlock.store.rules import FIRST_FENCE
from interlock.store.run_rules import NO_OWNER, Standing, not_moved, not_told, numbered, step_of, wake_after
from interlock.store.seal import of_run_entry
from interlock.store.sqlite_calls import record, settle
from interlock.store.sqlite_db import Db, Row
from interlock.store.sqlite_desk import Desk, Place
from interlock.store.writer import Writer

_SEQUENCE_BITS = 32
_LAST = (1 << _SEQUENCE_BITS) - 1
_NO_END = (2**63 - 1, "")

_CHANGED_US, _WAKE_US, _OWNER, _OVER = 8, 9, 10, 11
"""Where these stand in a row of a head, whose columns are those of `StoredRun` with the owner in place of `held`."""

REPEATABLE = frozenset({"begin_run", "take_run", "move_run", "tell_run", "run"})


class SqliteRuns:
    """The ports `Runs` and `RunReads` of a SQLite store: it writes through the store's writer, and reads beside it."""

    def __init__(self, writer: Writer, desk: Desk, *, reader: Db) -> None:
        self._writer = writer
        self._desk = desk
        self._reader = reader

    async def begin_run(self, new: NewRun) -> RunClaim | None:
        """Keep a new run. None: the tenant has one of that id already."""
        return await self._writer.write("begin_run", run=partial(begin, self._desk, new=new))

    async def take_run(self, tenant: str, run_id: str, at_us: int) -> RunClaim | None:
        """Hold a run under a new fence. None: there is none, it is over, or a process at work holds it, also this."""
        run = partial(take, self._desk, place=(tenant, run_id), at_us=at_us)
        return await self._writer.write("take_run", run=run)

    async def move_run(self, move: RunMove) -> int | NotMoved:
        """Write one step; the run's version after it."""
        return await self._writer.write("move_run", run=partial(move_on, self._desk, move=move))

    async def settle_in_run(
        self, ending: Settlement | Entry, note: RunNote
    ) -> tuple[Receipt | None, int | NotMoved | None]:
        """Settle or record a call of a run, and write the step made of its receipt: two ops; each may fail alone."""
        both = _SettledInRun(self._desk, ending, note=note)
        settling = both.settling = self._writer.write(both.name, run=both.settle)
        return await _answered(settling, self._writer.write("move_run", run=both.move))

    async def tell_run(
        self, tenant: str, run_id: str, entry: RunEntry, *, event: Event | None = None
    ) -> int | NotMoved:
        """Say something to a run, whoever holds it: the entry is appended and the run is due at once."""
        run = partial(tell, self._desk, place=(tenant, run_id), entry=entry, event=event)
        return await self._writer.write("tell_run", run=run)

    async def due_runs(self, at_us: int, limit: int) -> tuple[StoredRun, ...]:
        """Runs to be looked at, the longest due first."""
        self._writer.check()
        return due(self._reader, at_us=at_us, limit=limit, presence=self._desk.presence, owner=self._desk.owner)

    async def run(self, tenant: str, run_id: str) -> StoredRun | None:
        """One run; waits for the writes that were handed over before."""
        return await self._writer.write("run", run=partial(self._run, (tenant, run_id)))

    async def runs(self, query: RunQuery) -> tuple[StoredRun, ...]:
        """Runs, newest first."""
        self._writer.check()
        return runs(self._reader, query=query, presence=self._desk.presence)

    async def run_entries(
        self, tenant: str, run_id: str, *, after: int = 0, limit: int = 1_000
    ) -> tuple[RunEntry, ...]:
        """What happened after an entry, in order; from the beginning after 0."""
        self._writer.check()
        return entries(self._reader, place=(tenant, run_id), after=after, limit=limit)

    def _run(self, place: Place) -> StoredRun | None:
        row = self._desk.db.one("select_run_head", *place)
        return None if row is None else _head(row, alive=_alive(self._desk.presence, row))


# --- writes -----------------------------------------------------------------------------------------------------------


def begin(desk: Desk, *, new: NewRun) -> RunClaim | None:
    """Keep a new run, held by this process. None: the tenant has one of that id already."""
    row = desk.db.one(
        "insert_run_head",
        new.tenant,
        new.id,
        new.state,
        len(new.entries),
        FIRST_FENCE,
        desk.owner,
        new.agent,
        new.principal,
        new.at_us,
        new.at_us,
    )
    if row is None:
        return None
    _append(desk.db, row[0], place=(new.tenant, new.id), entries=new.entries, after=0)
    if new.event is not None:
        desk.chain.append(new.event)
    return RunClaim(new.tenant, new.id, FIRST_FENCE)


def take(desk: Desk, *, place: Place, at_us: int) -> RunClaim | None:
    """Hold a run under a new fence. None: there is none, it is over, or a process at work holds it."""
    row = desk.db.one("select_run_standing", *place)
    if row is None:
        return None
    number, _, _, owner, over, _ = row
    if over or desk.presence.is_alive(owner):
        return None
    taken = desk.db.one("take_run_head", desk.owner, at_us, number)
    return None if taken is None else RunClaim(*place, taken[0])


def move_on(desk: Desk, *, move: RunMove) -> int | NotMoved:
    """Write one step; the run's version after it."""
    place = (move.claim.tenant, move.claim.id)
    number, stands = _standing(desk, place=place)
    refused = not_moved(move, stands=stands)
    if refused is not None or stands is None:
        return refused or NotMoved.MISSING
    desk.books.load(move.charges)
    ended = None if move.ended is None else desk.books.runs[place]
    version = _append(desk.db, number, place=place, entries=move.entries, after=stands.version)
    desk.db.run("move_run_head", move.state, version, move.at_us, wake_after(move, woken=stands.woken), number)
    if move.release or ended is not None:
        desk.db.run("let_go_of_run", ended is not None, number)
    if move.event is not None:
        desk.chain.append(move.event)
    desk.books.charge(move.charges)
    if move.ended is not None:
        desk.books.end(place, why=move.ended)
    return version


def tell(desk: Desk, *, place: Place, entry: RunEntry, event: Event | None) -> int | NotMoved:
    """Say something to a run, whoever holds it; its version after that."""
    number, stands = _standing(desk, place=place)
    refused = not_told(stands)
    if refused is not None or stands is None:
        return refused or NotMoved.MISSING
    version = _append(desk.db, number, place=place, entries=(entry,), after=stands.version)
    desk.db.run("tell_run_head", version, entry.at_us, number)
    if event is not None:
        desk.chain.append(event)
    return version


def _standing(desk: Desk, *, place: Place) -> tuple[int, Standing | None]:
    row = desk.db.one("select_run_standing", *place)
    if row is None:
        return 0, None
    number, version, fence, owner, over, woken = row
    return number, Standing(version, fence, own=owner == desk.owner, over=bool(over), woken=bool(woken))


def _append(db: Db, number: int, *, place: Place, entries: tuple[RunEntry, ...], after: int) -> int:
    """The version after them."""
    for sequence, entry in numbered(entries, after=after):
        sealed = db.seal.seal(entry.data, context=of_run_entry(*place, sequence))
        db.run("insert_run_entry", place_of(number, sequence=sequence), entry.kind, entry.at_us, sealed)
    return after + len(entries)


def place_of(number: int, *, sequence: int) -> int:
    """The row of an entry."""
    return number << _SEQUENCE_BITS | sequence


class _SettledInRun:
    """The end of a call and the step of its run that follows from it, as two ops: where the step fails, the other
    stands."""

    def __init__(self, desk: Desk, ending: Settlement | Entry, *, note: RunNote) -> None:
        self._desk = desk
        self._ending = ending
        self._note = note
        self._receipt: Receipt | None = None
        self.settling: asyncio.Future[Receipt | None] | None = None

    @property
    def name(self) -> str:
        """What the first op is called."""
        return "record" if isinstance(self._ending, Entry) else "settle"

    def settle(self) -> Receipt | None:
        """The first: write the outcome and release the hold, or write the record."""
        self._receipt, ending = None, self._ending  # what was carried out before was rolled back
        if isinstance(ending, Entry):
            self._receipt = record(self._desk, entry=ending)
        else:
            self._receipt = settle(self._desk, settlement=ending)
        return self._receipt

    def move(self) -> int | NotMoved | None:
        """The second, in the same transaction or the next. None: nothing was settled, or there is no step."""
        if self._receipt is None or _has_failed(self.settling):
            return None
        move = step_of(self._note, self._receipt)
        return None if move is None else move_on(self._desk, move=move)


def _has_failed(settling: asyncio.Future[Receipt | None] | None) -> bool:
    """Whether a settlement was carried out, and then its whole transaction was not written."""
    return settling is not None and settling.done() and not settling.cancelled() and settling.exception() is not None


async def _answered(
    settling: asyncio.Future[Receipt | None], moving: asyncio.Future[int | NotMoved | None]
) -> tuple[Receipt | None, int | NotMoved | None]:
    """What came of both. A step that could not be written is None; a settlement raises."""
    try:
        receipt = await settling
        if not moving.done():
            await asyncio.wait([moving])
        return receipt, None if moving.exception() is not None else moving.result()
    finally:
        if not moving.cancel() and not moving.cancelled():
            moving.exception()  # it is heard, whoever waits no more


# --- reads ------------------------------------------------------------------------------------------------------------


def due(db: Db, *, at_us: int, limit: int, presence: Presence, owner: int) -> tuple[StoredRun, ...]:
    """Runs to be looked at, the longest due first."""
    with db.one_moment():
        found = [(_due_since_us(row), row) for row in db.named("select_runs_due", {"at_us": at_us, "limit": limit})]
        told = db.named("select_runs_told", {"owner": owner, "limit": limit})
        dead = [each for (each,) in db.all("select_run_owners") if not presence.is_alive(each)]
        left = [row for each in dead for row in db.named("select_runs_held", {"owner": each, "limit": limit})]
    found += [(row[_CHANGED_US], row) for row in (*told, *left)]
    found.sort(key=lambda each: each[0])
    return tuple(_head(row, alive=row[_OWNER] == owner) for _, row in found[:limit])


def _due_since_us(row: Row) -> int:
    """Since when a run that nobody holds is due. What it was told made it due at once, and changed it last."""
    return int(row[_WAKE_US] or row[_CHANGED_US])


def runs(db: Db, *, query: RunQuery, presence: Presence) -> tuple[StoredRun, ...]:
    """Runs, newest first."""
    before_us, before_id = query.before or _NO_END
    rows = db.named(
        "select_run_heads" if query.tenant is None else "select_run_heads_of_tenant",
        {
            "tenant": query.tenant,
            "state": query.state,
            "principal": query.principal,
            "over": query.over,
            "before_us": before_us,
            "before_id": before_id,
            "limit": query.limit,
        },
    )
    alive = {owner: presence.is_alive(owner) for owner in {row[_OWNER] for row in rows} if owner != NO_OWNER}
    return tuple(_head(row, alive=alive.get(row[_OWNER], False)) for row in rows)


def entries(db: Db, *, place: Place, after: int, limit: int) -> tuple[RunEntry, ...]:
    """What happened after an entry, in order."""
    with db.one_moment():
        row = db.one("select_run_standing", *place)
        span = (0, 0) if row is None else (place_of(row[0], sequence=after), place_of(row[0], sequence=_LAST))
        rows = db.all("select_run_entries", *span, limit)
    return tuple(_entry(db, place=place, row=each) for each in rows)


def _entry(db: Db, *, place: Place, row: Row) -> RunEntry:
    number, kind, at_us, sealed = row
    sequence = number & _LAST
    return RunEntry(kind, at_us, db.seal.open(sealed, context=of_run_entry(*place, sequence)), sequence)


def _alive(presence: Presence, row: Row) -> bool:
    return row[_OWNER] != NO_OWNER and presence.is_alive(row[_OWNER])


def _head(row: Row, *, alive: bool) -> StoredRun:
    return StoredRun(*(*row[:_OWNER], alive, bool(row[_OVER])))
