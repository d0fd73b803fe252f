"""Writes a batch in one trip: what others read first is assumed as it was last seen, and guarded where it is written.

    assumed                                 guarded by
    a key has no call                       the index of keys, and the floor of fences, read after the key was taken
    the epoch                               a comparison under the lock that a change of it needs
    a run stands at a version               a comparison under the lock of its row
    a reservation fits                      the sums of its scope once it was added, under the lock of its row

Where a guard fails the server undoes all of it, and the batch is carried out by who locks and reads first. So nothing
is decided here but what holds when it is committed. Rows are locked in the order in which those others do it: calls,
usage, runs; keys are taken last. Where all of it is one call, all of it is one statement.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain

from interlock.core.budget import (
    SUM_MAX,
    Amounts,
    Counted,
    Limit,
    Packed,
    Reservation,
    ScopeKey,
    Taken,
    Unit,
    packed,
    unpacked,
)
from interlock.ports import Intent, NotClaimed
from interlock.store.books import UNUSED
from interlock.store.postgres_arrays import bigints, blobs
from interlock.store.postgres_calls import Claiming
from interlock.store.postgres_line import Sent, Spelled, Step
from interlock.store.postgres_lone import LoneSheet, lone
from interlock.store.postgres_ops import Op, carried_out
from interlock.store.postgres_rows import place_of, place_of_scope
from interlock.store.postgres_sheet import Desk, Needs, Sheet
from interlock.store.postgres_single import NO_RECORD, NO_RUN, call_step, claim_step, record_cells, run_cells


def assumed(desk: Desk, ops: Sequence[Op[object]]) -> tuple[AssumedSheet | LoneSheet, list[object]] | None:
    """The ops carried out on what was last seen, ready to be written; None where they have to read."""
    if len(ops) == 1 and (found := lone(desk, ops[0])) is not None:
        return found
    sheet, needs = AssumedSheet(desk), Needs()
    for op in ops:
        if not isinstance(op, Claiming):
            op.needs(needs, sheet)
        elif not sheet.assume(op.intent, needs):
            return None
    if needs.anything_but_runs or not sheet.assume_runs(needs):
        return None
    results = [carried_out(op, sheet) for op in ops]
    # Who was refused on what was assumed may not be on what is.
    if any(isinstance(each, NotClaimed) for each in results) or not sheet.measure():
        return None
    return sheet, results


class AssumedSheet(Sheet):
    """A sheet on which nothing was read. Usage on it counts from zero: what is added is all that is known."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._decided_under: int | None = None
        self._versions: list[tuple[bytes, int]] = []
        self._peaks: defaultdict[ScopeKey, list[Packed]] = defaultdict(list)
        self._limits: defaultdict[ScopeKey, dict[int, tuple[Limit, ...]]] = defaultdict(dict)
        self._room: dict[tuple[ScopeKey, int], int] = {}
        self._inserted: tuple[bytes, ...] = ()

    def assume(self, intent: Intent, needs: Needs) -> bool:
        """Whether a claim can do without reading; which runs it needs is noted."""
        operation, glimpses = intent.operation, self.desk.glimpses
        if intent.approval is not None or intent.continues is not None:
            return False
        if self._decided_under not in (None, intent.epoch):
            return False
        if operation.key is not None:
            if glimpses.floor is None or place_of(operation.tenant, operation.key) in glimpses.taken:
                return False
            self.fence_floor = glimpses.floor
        self._decided_under = self.epoch = intent.epoch
        if operation.run is not None:
            needs.runs.add((operation.tenant, operation.run))
        return True

    def assume_runs(self, needs: Needs) -> bool:
        """Whether it was seen where all of these runs stand."""
        known = self.desk.glimpses.runs
        if not needs.runs <= known.keys():
            return False
        for run in needs.runs:
            facts = known[run]
            if facts is not None:
                self.books.runs[run] = facts
                self._runs.add(run)
                self._versions.append((place_of(*run), facts.version))
        return True

    def fitting(self, reservations: Iterable[Reservation]) -> dict[ScopeKey, Counted]:
        """The usage with every reservation held. Whether it fits is looked at for all of them together."""
        taken = Taken.of(reservations)
        found = taken.added(self.books.usage)
        for scope, amounts, limits in taken:
            if limits:
                used, held = found[scope]
                peaks, total = self._peaks[scope], Packed(used + held)
                if peaks and peaks[-1] == total - packed(amounts):
                    peaks[-1] = total  # it only rose since
                else:
                    peaks.append(total)
                self._limits[scope][id(limits)] = limits
        return found

    def measure(self) -> bool:
        """Work out what scopes may have had before for each claim to fit in its turn; False where one cannot."""
        for scope, peaks in self._peaks.items():
            highest = _lanes(peaks[0])
            if len(peaks) > 1:
                highest = Amounts._make(map(max, *map(_lanes, peaks)))
            for limit in chain.from_iterable(self._limits[scope].values()):
                place, room = (scope, limit.unit.place), limit.amount - highest[limit.unit.place]
                self._room[place] = min(self._room.get(place, room), room)
        return min(self._room.values(), default=0) >= 0

    def steps(self) -> list[Step]:
        """All that carries the batch out, from its beginning to its commit."""
        step = self._in_one()
        return [*self._begins(), *self.writes(), ("commit", ())] if step is None else [step]

    def writes(self) -> list[Step]:
        """The steps that write what the ops have made of it, each with its guard."""
        return [
            *self._old_call_steps(),
            *self._usage_steps(),
            *self._guard_steps(),
            *self._run_steps(),
            *self._new_call_steps(),
            *self._void_steps(),
            *self._approval_steps(),
            *self._chain_steps(),
        ]

    def committed(self) -> None:
        """All of it is on the disk: its scopes are there from now on."""
        super().committed()
        self.desk.know(self._inserted)

    def _begins(self) -> list[Step]:
        begin: Step = ("begin", ())
        number = self.desk.number + 1
        if self._decided_under is None:
            return [begin, ("begin_batch", (self.desk.owner, number))]
        return [begin, ("begin_claims", (self.desk.owner, number, self._decided_under))]

    # --- one call -----------------------------------------------------------------------------------------------------

    def _in_one(self) -> Step | None:
        """All of it as one statement; None where it is more than one call, or something new beside it."""
        if len(self.changed) != 1 or len(self._records) > 1 or self._asked or self._moved:
            return None
        ((place, row),) = self.changed.items()
        is_new = place in self._new
        moved, run = self._moved_usage(), self._moved_run()
        if moved is None or run is None:
            return None
        moved[1:1] = [None] * 5
        record = record_cells(self.desk.chain, self.sequence, self._records[0]) if self._records else NO_RECORD
        begun: list[Sent] = [b"%d" % self.owner, b"%d" % (self.desk.number + 1)]
        if not is_new:
            return call_step(begun, (moved[:-1], run, record), row)
        return claim_step([*begun, b"%d" % self.epoch, b"%d" % self.fence_floor], (moved, run, record), row)

    def _moved_run(self) -> list[Sent] | None:
        """The one run that was looked at, if any; None where there are more, or one is new."""
        changed = self.books.changed_runs
        if not self._versions:
            return None if changed else NO_RUN
        if len(self._versions) > 1 or not changed <= self._runs:
            return None
        ((place, version),) = self._versions
        return run_cells(place, version, next((self.books.runs[run] for run in changed), None))

    # --- usage --------------------------------------------------------------------------------------------------------

    def _moved_usage(self) -> list[Sent] | None:
        """What has changed in scopes, as columns; None where one of them may not be there yet."""
        usage, limited = self.books.usage, {scope for scope, _ in self._room}
        changed = [scope for scope in self.books.changed_usage if scope in limited or usage[scope] != UNUSED]
        scopes, places, column = _in_order(frozenset(changed))
        if not self.desk.known.issuperset(places):
            return None
        amounts = ",".join([_twelve(*usage[scope]) for scope in scopes])
        return [column, f"{{{amounts}}}".encode(), self._most(scopes) if self._room else None]

    def _most(self, scopes: tuple[ScopeKey, ...]) -> bytes:
        """What may be used and held of each unit in the end."""
        found = ["NULL"] * (6 * len(scopes))
        at = {scope: 6 * number for number, scope in enumerate(scopes)}
        for (scope, unit), most in self._most_in_the_end():
            found[at[scope] + unit] = str(most)
        return f"{{{','.join(found)}}}".encode()

    def _most_in_the_end(self) -> list[tuple[tuple[ScopeKey, int], int]]:
        """Of each limited unit of each scope what it may have at most, once all is added."""
        return [(place, min(room + self._sum(*place), SUM_MAX)) for place, room in self._room.items()]

    def _usage_steps(self) -> list[Step]:
        if not self.books.changed_usage:
            return []
        alike = self._alike()
        if alike is not None:
            return [("move_usage_alike", alike)]
        moved = self._moved_usage()
        if moved is not None:
            return [("move_usage", Spelled(moved, (1, 0, 0)))]
        columns = self._usage_columns({scope for scope, _ in self._room})
        self._inserted = tuple(map(place_of_scope, self.books.changed_usage))
        if not self._room or not columns:
            return [("add_usage", columns)] if columns else []
        limited, most = zip(*self._most_in_the_end(), strict=True)
        places = blobs([place_of_scope(scope) for scope, _ in limited])
        units = bigints([unit + 1 for _, unit in limited])
        return [("add_usage_within", (*columns, places, units, bigints(most)))]

    def _alike(self) -> dict[str, object] | None:
        """What all scopes take where that is the same, of what most calls take; None otherwise."""
        scopes, places, column = _in_order(frozenset(self.books.changed_usage))
        amounts = {self.books.usage[scope] for scope in scopes}
        if len(amounts) > 1 or not self.desk.known.issuperset(places):
            return None
        used, held = map(_lanes, amounts.pop())
        few = Amounts(calls=held.calls, working_ms=held.working_ms, concurrent=held.concurrent)
        if held != few or used != Amounts(calls=used.calls, working_ms=used.working_ms):
            return None
        most = dict(self._most_in_the_end())
        calls = bigints([most.pop((scope, Unit.CALLS.place), None) for scope in scopes])
        concurrent = bigints([most.pop((scope, Unit.CONCURRENT.place), None) for scope in scopes])
        if most:
            return None
        return {
            "places": column,
            "calls": used.calls,
            "working_ms": used.working_ms,
            "held_calls": held.calls,
            "held_working_ms": held.working_ms,
            "held_concurrent": held.concurrent,
            "most_calls": calls,
            "most_concurrent": concurrent,
        }

    def _sum(self, scope: ScopeKey, unit: int) -> int:
        """What the whole batch adds to a scope."""
        used, held = self.books.usage[scope]
        return _lanes(used + held)[unit]

    # --- what comes of keys and runs ----------------------------------------------------------------------------------

    def _guard_steps(self) -> list[Step]:
        if not self._versions:
            return []
        places, versions = zip(*sorted(self._versions), strict=True)
        return [("guard_runs", (blobs(places), bigints(versions), len(places)))]

    def _void_steps(self) -> list[Step]:
        """Keys were taken, so the floor of fences is looked at too."""
        return [("end_claims", (blobs(sorted(self.voided)), self.fence_floor))] if self.voided else []


@lru_cache(4_096)
def _lanes(number: int) -> Amounts:
    """What a number holds. Remembered, for most calls take the same."""
    return unpacked(number)


@lru_cache(4_096)
def _twelve(used: int, held: int) -> str:
    """What was added to a scope, by its digits."""
    return ",".join(map(str, (*_lanes(used), *_lanes(held))))


@lru_cache(512)
def _in_order(scopes: frozenset[ScopeKey]) -> tuple[tuple[ScopeKey, ...], tuple[bytes, ...], bytes]:
    """Scopes in the order of their places, the places, and these as a column."""
    rows = sorted((place_of_scope(scope), scope) for scope in scopes)
    places = tuple([place for place, _ in rows])
    return tuple([scope for _, scope in rows]), places, blobs(places)
