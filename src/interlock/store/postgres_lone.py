"""A batch of one claim or one settlement, as most batches are where few call: one statement, on what was seen before.

What an op does on this sheet is what it does on any other (`postgres_calls`), and what is assumed is guarded where it
is written, as `postgres_assumed` says; that one carries out whatever is more than a call with amounts that many take.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from interlock.core.budget import NOTHING, SUM_MAX, Amounts, Counted, Limit, Reservation, ScopeKey, Taken, Unit
from interlock.core.labels import NO_LABELS
from interlock.ports import Intent, NotClaimed, Settlement
from interlock.store.books import Books, RunBook, RunKey
from interlock.store.postgres_arrays import bigints, blobs
from interlock.store.postgres_calls import Claiming, Settling
from interlock.store.postgres_line import Sent, Step
from interlock.store.postgres_ops import Op, carried_out
from interlock.store.postgres_rows import CallRow, copied, place_of, place_of_scope
from interlock.store.postgres_sheet import Desk, Sheet
from interlock.store.postgres_single import (
    NO_RECORD,
    NO_RUN,
    Cells,
    Held,
    call_step,
    claim_step,
    record_cells,
    run_cells,
)

HELD_MAX = 1_024
"""How many reservations are remembered as they are written, before all are forgotten."""


def lone(desk: Desk, op: Op[object]) -> tuple[LoneSheet, list[object]] | None:
    """The op carried out on what was last seen, ready to be written; None where it is more than fits here."""
    sheet = LoneSheet(desk)
    is_fit = sheet.assume(op.intent) if type(op) is Claiming else type(op) is Settling and sheet.expect(op.settlement)
    if not is_fit:
        return None
    result = carried_out(op, sheet)
    # Who was refused on what was assumed may not be on what is.
    if result is None or isinstance(result, NotClaimed | Exception) or not sheet.is_spelled():
        return None
    return sheet, [result]


class LoneSheet(Sheet):
    """What one op makes of one call. Of what it has not, an op that asks for it finds out by a fault."""

    books: LoneBooks

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.seal, self.owner = desk.seal, desk.owner
        self.epoch = self.fence_floor = 0
        self.sequence, self.digest = desk.sequence, desk.digest
        self.books = LoneBooks()
        self.holders, self.approvals = {}, {}
        self.voided, self.let_go = set(), set()
        self._records = []
        self._row: CallRow | None = None
        self._is_new = False
        self._run: RunKey | None = None
        self._step: Step | None = None

    # --- what is assumed ----------------------------------------------------------------------------------------------

    def assume(self, intent: Intent) -> bool:
        """Whether a claim can do without reading."""
        operation, glimpses = intent.operation, self.desk.glimpses
        if intent.approval is not None or intent.continues is not None:
            return False
        if operation.key is not None:
            if glimpses.floor is None or place_of(operation.tenant, operation.key) in glimpses.taken:
                return False
            self.fence_floor = glimpses.floor
        self.epoch = intent.epoch
        return operation.run is None or self._assume_run((operation.tenant, operation.run))

    def expect(self, settlement: Settlement) -> bool:
        """Whether a settlement can: this process has claimed the call itself."""
        claim = settlement.claim
        row = self.desk.claimed.get(place_of(claim.tenant, claim.operation_id))
        if row is None:
            return False
        return row.run is None or settlement.labels is NO_LABELS or self._assume_run((row.tenant, row.run))

    def _assume_run(self, run: RunKey) -> bool:
        facts = self.desk.glimpses.runs.get(run)
        if facts is None:
            return False
        self._run, self.books.runs[run] = run, facts
        return True

    # --- what ops do --------------------------------------------------------------------------------------------------

    def call(self, place: bytes) -> CallRow | None:
        """A call that this process has claimed itself."""
        own = self.desk.claimed.get(place)
        return None if own is None else copied(own)

    def take(self, row: CallRow) -> None:
        """A new call, which has its key from now on."""
        self._row, self._is_new = row, True

    def change(self, row: CallRow) -> None:
        """A call that is another now."""
        self._row = row

    def fitting(self, reservations: Iterable[Reservation]) -> dict[ScopeKey, Counted]:
        """Nothing: what is reserved is compared where it is written."""
        self.books.taken = Taken.of(reservations)
        return {}

    # --- what is written ----------------------------------------------------------------------------------------------

    def is_spelled(self) -> bool:
        """Whether all of it could be put into one statement."""
        desk, row, taken = self.desk, self._row, self.books.taken
        held = None if taken is None else held_of(desk, taken)
        if row is None or held is None or not desk.known.issuperset(held.places):
            return False
        moved = held.claiming if self._is_new else held.settled(self.books.spent)
        if moved is None:
            return False
        record = record_cells(desk.chain, self.sequence, self._records[0]) if self._records else NO_RECORD
        begun: list[Sent] = [b"%d" % self.owner, b"%d" % (desk.number + 1)]
        if self._is_new:
            begun += b"%d" % self.epoch, b"%d" % self.fence_floor
            self._step = claim_step(begun, (moved, self._run_cells(), record), row)
        else:
            self._step = call_step(begun, (moved, self._run_cells(), record), row)
        return True

    def _run_cells(self) -> Cells:
        run, books = self._run, self.books
        if run is None:
            return NO_RUN
        assumed = self.desk.glimpses.runs[run]
        changed = books.runs[run] if run in books.changed_runs else None
        return run_cells(place_of(*run), 0 if assumed is None else assumed.version, changed)

    def steps(self) -> list[Step]:
        """The whole batch."""
        return [] if self._step is None else [self._step]

    def committed(self) -> None:
        """All of it is on the disk: remember what outlives the batch."""
        self.desk.passed(self.sequence, self.digest)
        for run in self.books.changed_runs:
            self.desk.glimpses.run(run, self.books.runs[run])
        if self._row is not None:
            self.desk.remember(self._row)


class LoneBooks(Books):
    """What one call adds to its scopes, and the run that it is part of."""

    def __init__(self) -> None:
        self.runs = RunBook()
        self.changed_runs: set[RunKey] = set()
        self.taken: Taken | None = None
        self.spent = NOTHING

    def enter(self, usage: dict[ScopeKey, Counted]) -> None:
        """What is held is written as it was taken."""

    def settle(self, holds: Iterable[Reservation], *, spent: Amounts) -> None:
        """What an ended call held is replaced by what it used."""
        if type(holds) is Taken:
            self.taken, self.spent = holds, spent


# --- reservations as they are written ---------------------------------------------------------------------------------


def held_of(desk: Desk, taken: Taken) -> Held | None:
    """These reservations as they are written; None where their scopes do not take the same of what most calls take.

    Remembered by identity: most calls take what another took before.
    """
    found = desk.held.get(id(taken))
    if found is not None and found[0] is taken:
        return found[1]
    if len(desk.held) >= HELD_MAX:
        desk.held.clear()
    held = _held(taken)
    desk.held[id(taken)] = taken, held
    return held


def _held(taken: Taken) -> Held | None:
    rows = sorted((place_of_scope(scope), limits) for scope, _, limits in taken)
    places = tuple([place for place, _ in rows])
    amounts = {each.amounts for each in taken} or {NOTHING}
    if len(amounts) > 1 or len(set(places)) < len(places):
        return None
    each = amounts.pop()
    if each != Amounts(calls=each.calls, working_ms=each.working_ms, concurrent=each.concurrent):
        return None
    if not all(
        limit.unit in _LIMITED and limit.amount >= each[limit.unit.place] for _, limits in rows for limit in limits
    ):
        return None
    few = b"%d" % each.calls, b"%d" % each.working_ms, b"%d" % each.concurrent
    column, most = blobs(places), [_most(unit, [limits for _, limits in rows]) for unit in _LIMITED]
    return Held(places, [column, *few, *most, None, None], column, few)


_LIMITED: Final = (Unit.CALLS, Unit.CONCURRENT)


def _most(unit: Unit, limits: list[tuple[Limit, ...]]) -> Sent:
    """How much of a unit each scope may have; nothing, where none is limited."""
    found = [min([each.amount for each in some if each.unit is unit], default=None) for some in limits]
    if all(each is None for each in found):
        return None
    return bigints([None if each is None else min(each, SUM_MAX) for each in found])
