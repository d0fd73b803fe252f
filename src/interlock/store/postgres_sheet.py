"""What one batch works on: rows as they were read, what its ops have made of them, and how that is written.

Nothing of it touches the database but the steps that it names: which rows an op needs, and what is to be written. An op
that raises has changed nothing, so that the others of its batch are written all the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Final

from interlock.core.budget import Amounts, Counted, Packed, Reservation, ScopeKey, Taken, Usage, unpacked
from interlock.core.chain import Receipt, link
from interlock.core.effect import CallState
from interlock.core.journal import RECORD, Event, Payload
from interlock.store.books import UNUSED, Books, RunBook, RunKey, UsageBook
from interlock.store.postgres_arrays import bigints, blobs, texts
from interlock.store.postgres_columns import (
    APPROVAL,
    CALL,
    WHAT_CHANGES,
    columns,
    facts_columns,
    scope_columns,
    value_of,
)
from interlock.store.postgres_glimpses import Glimpses
from interlock.store.postgres_line import Row, Step
from interlock.store.postgres_rows import ApprovalRow, CallRow, copied, place_of, place_of_scope, read_call
from interlock.store.postgres_run_sheet import RunSheet
from interlock.store.postgres_single import Held, Recorded
from interlock.store.rows import frame, framed, read_run
from interlock.store.seal import Seal, of_record

KNOWN_MAX: Final = 65_536
"""How many usage rows are remembered to be there, before all are forgotten."""

_PLACE_BITS: Final = 40


@dataclass(slots=True)
class Desk:
    """What outlives a batch: who this process is, where its chain stands, and the claims that it will settle.

    `number` is that of the last batch that is known to be committed. `claimed` are this owner's own claims, which
    nobody else changes while its lease lasts. `known` are the places of usage rows that there were, `glimpses` what was
    seen of others, `held` reservations as one call writes them, by identity.
    """

    seal: Seal
    owner: int
    chain: int
    name: str
    number: int
    sequence: int
    digest: bytes
    claimed: dict[bytes, CallRow] = field(default_factory=dict)
    known: set[bytes] = field(default_factory=set)
    glimpses: Glimpses = field(default_factory=Glimpses)
    held: dict[int, tuple[Taken, Held | None]] = field(default_factory=dict)

    def passed(self, sequence: int, digest: bytes) -> None:
        """Another batch is committed, after which the chain stands there."""
        self.number += 1
        self.sequence, self.digest = sequence, digest

    def remember(self, row: CallRow) -> None:
        """A call is another now: whether its key is taken, and whether this process has claimed it."""
        if row.key_place is not None:
            self.glimpses.take([row.key_place])
        if row.state is CallState.CLAIMED and row.owner == self.owner:
            row.operation_sealed, row.observation_sealed = b"", None
            self.claimed[row.place] = row
        else:
            self.claimed.pop(row.place, None)

    def know(self, places: Iterable[bytes]) -> None:
        """Remember that usage rows are there."""
        if len(self.known) >= KNOWN_MAX:
            self.known.clear()
        self.known.update(places)


@dataclass(slots=True)
class Needs:
    """Which rows ops want to read. `touched` are scopes that they add to without reading them."""

    epoch: bool = False
    calls: set[bytes] = field(default_factory=set)
    keys: set[bytes] = field(default_factory=set)
    dead: set[bytes] = field(default_factory=set)
    approvals: set[bytes] = field(default_factory=set)
    questions: set[bytes] = field(default_factory=set)
    scopes: set[ScopeKey] = field(default_factory=set)
    touched: set[ScopeKey] = field(default_factory=set)
    runs: set[RunKey] = field(default_factory=set)
    heads: set[bytes] = field(default_factory=set)
    begun: set[bytes] = field(default_factory=set)

    @property
    def anything(self) -> bool:
        """Whether there is something to read before the ops can be carried out."""
        return self.anything_but_runs or bool(self.runs)

    @property
    def anything_but_runs(self) -> bool:
        """Whether there is more than runs, which may have been seen before."""
        return self.epoch or any(
            (self.calls, self.keys, self.approvals, self.questions, self.scopes, self.heads, self.begun)
        )

    def beyond(self, other: Needs) -> Needs:
        """What is needed that was not needed before."""
        return Needs(
            self.epoch and not other.epoch,
            self.calls - other.calls,
            self.keys - other.keys,
            self.dead - other.dead,
            self.approvals - other.approvals,
            self.questions - other.questions,
            self.scopes - other.scopes - other.touched,
            self.touched - other.scopes - other.touched,
            self.runs - other.runs,
            self.heads - other.heads,
            self.begun - other.begun,
        )


class Sheet:
    """The rows of one batch."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.seal = desk.seal
        self.owner = desk.owner
        self.epoch = self.fence_floor = 0
        self.calls: dict[bytes, CallRow] = {}
        self.holders: dict[bytes, CallRow] = {}
        self.approvals: dict[bytes, ApprovalRow] = {}
        self.books = Books(UsageBook(), runs=RunBook())
        self.runs = RunSheet()
        self.voided: set[bytes] = set()
        self.changed: dict[bytes, CallRow] = {}
        self._new: set[bytes] = set()
        self._asked: dict[bytes, ApprovalRow] = {}
        self._moved: dict[bytes, ApprovalRow] = {}
        self._usage: dict[ScopeKey, Usage] = {}
        self._runs: set[RunKey] = set()
        self.let_go: set[ScopeKey] = set()
        self._records: list[Recorded] = []
        self.sequence, self.digest = desk.sequence, desk.digest

    # --- what ops do --------------------------------------------------------------------------------------------------

    def call(self, place: bytes) -> CallRow | None:
        """One call, as it was read or as this process has claimed it itself."""
        row = self.calls.get(place)
        if row is None and (own := self.desk.claimed.get(place)) is not None:
            row = self.calls[place] = copied(own)
        return row

    def take(self, row: CallRow) -> None:
        """A new call, which has its key from now on."""
        self.calls[row.place] = self.changed[row.place] = row
        self._new.add(row.place)
        if row.key_place is not None:
            before = self.holders.get(row.key_place)
            if before is not None:
                before.holds_key = False
                self.change(before)
            self.holders[row.key_place] = row

    def change(self, row: CallRow) -> None:
        """A call that is another now."""
        self.changed[row.place] = row

    def ask(self, row: ApprovalRow) -> None:
        """A new approval."""
        self.approvals[row.place] = self._asked[row.place] = row

    def move(self, row: ApprovalRow) -> None:
        """An approval that is another now."""
        if row.place not in self._asked:
            self._moved[row.place] = row

    def fitting(self, reservations: Iterable[Reservation]) -> dict[ScopeKey, Counted] | None:
        """The usage with every reservation held; None where one of them does not fit."""
        return self.books.fitting(reservations)

    def append(self, event: Event) -> Receipt:
        """Put the event at the end of the chain. Raises before it has changed anything."""
        sequence = self.sequence + 1
        body = event.body(self.desk.name, sequence)
        digest = link(self.digest, body=body)
        place = place_in_chain(self.desk.chain, sequence=sequence)
        first, kept = _framed(event.payloads)
        sealed = None if kept is None else self.seal.seal(kept, context=of_record(place))
        self._records.append((place, digest, body, event, first, sealed))
        self.sequence, self.digest = sequence, digest
        return Receipt(self.desk.name, sequence, digest.hex())

    # --- what is read -------------------------------------------------------------------------------------------------

    def reads(self, needs: Needs) -> list[Step]:
        """The steps that read what is needed, in the order in which every batch locks."""
        steps: list[Step] = [("share_epoch", ()), ("select_epoch", ())] if needs.epoch else []
        if needs.dead:
            steps.append(("wait_for_the_dead", (blobs(sorted(needs.dead)),)))
        if needs.calls or needs.keys:
            steps.append(("select_calls", (blobs(sorted(needs.calls)), blobs(sorted(needs.keys)))))
        if needs.keys:
            steps.append(("select_fence_floor", ()))
        if needs.questions:
            steps.append(("lock_questions", (bigints(sorted(map(_lock_of, needs.questions))),)))
        if needs.approvals or needs.questions:
            steps.append(("lock_approvals", (blobs(sorted(needs.approvals)), blobs(sorted(needs.questions)))))
        scopes = sorted((place_of_scope(scope), scope) for scope in needs.scopes | needs.touched)
        new = [(place, scope) for place, scope in scopes if place not in self.desk.known]
        if new:
            steps.append(("insert_usage", scope_columns(new)))
        if scopes:
            steps.append(("lock_usage", (blobs([place for place, _ in scopes]),)))
        if needs.runs:
            steps.append(("lock_runs", (blobs(sorted(place_of(*run) for run in needs.runs)),)))
        return [*steps, *self.runs.reads(needs.heads, begun=needs.begun)]

    def take_in(self, needs: Needs, steps: list[Step], found: list[list[Row]]) -> bool:
        """What was read. False: a usage row that was known is gone, so that it is not locked; read all anew."""
        rows = {name: each for (name, _), each in zip(steps, found, strict=True)}
        for (epoch,) in rows.get("select_epoch", ()):
            self.epoch = epoch
        for (floor,) in rows.get("select_fence_floor", ()):
            self.fence_floor = self.desk.glimpses.floor = floor
        for row in rows.get("select_calls", ()):
            call = read_call(row)
            # This process's own claim may be here already, without what settling it needs not: others need that.
            self.calls.setdefault(call.place, call).operation_sealed = call.operation_sealed
            if call.holds_key and call.key_place is not None:
                self.holders.setdefault(call.key_place, self.calls[call.place])
        for row in rows.get("lock_approvals", ()):
            self.approvals.setdefault(row[0], ApprovalRow(*row))
        scopes = {place_of_scope(scope): scope for scope in needs.scopes | needs.touched}
        for place, *amounts in rows.get("lock_usage", ()):
            scope = scopes.pop(place)
            self.desk.know((place,))
            self.books.usage[scope] = self._usage[scope] = Usage(Amounts(*amounts[:6]), Amounts(*amounts[6:]))
        self.desk.glimpses.used(self._usage)
        runs = {place_of(*run): run for run in needs.runs}
        for run in needs.runs:
            self.desk.glimpses.run(run, None)
        for place, version, facts, ended in rows.get("lock_runs", ()):
            run = runs[place]
            self.books.runs[run] = read_run(run[1], version=version, facts=facts, ended=ended)
            self._runs.add(run)
            self.desk.glimpses.run(run, self.books.runs[run])
        self.runs.take_in(rows, begun=needs.begun)
        self.desk.known.difference_update(scopes)
        return not scopes

    # --- what is written ----------------------------------------------------------------------------------------------

    def writes(self) -> list[Step]:
        """The steps that write what the ops have made of it. A key is given up before it is taken."""
        return [
            *self.runs.writes(),
            *self._old_call_steps(),
            *self._new_call_steps(),
            *self._void_steps(),
            *self._approval_steps(),
            *self._usage_steps(),
            *self._run_steps(),
            *self._chain_steps(),
        ]

    def _old_call_steps(self) -> list[Step]:
        old = [row for place, row in sorted(self.changed.items()) if place not in self._new]
        if len(old) == 1:
            return [("update_call", {name: value_of(old[0], name) for name in WHAT_CHANGES})]
        return [("update_calls", columns(old, of=WHAT_CHANGES))] if old else []

    def _new_call_steps(self) -> list[Step]:
        new = [self.changed[place] for place in sorted(self._new)]
        if len(new) == 1:
            return [("insert_call", tuple([value_of(new[0], name) for name in CALL]))]
        return [("insert_calls", columns(new, of=CALL))] if new else []

    def _void_steps(self) -> list[Step]:
        return [("void_pending", (blobs(sorted(self.voided)),))] if self.voided else []

    def _approval_steps(self) -> list[Step]:
        steps: list[Step] = []
        if self._moved:
            moved = list(self._moved.values())
            places, states = blobs([row.place for row in moved]), texts([row.state for row in moved])
            steps.append(("update_approvals", (places, states, blobs([row.approval_sealed for row in moved]))))
        if self._asked:
            steps.append(("insert_approvals", columns(list(self._asked.values()), of=APPROVAL)))
        return steps

    def _usage_steps(self) -> list[Step]:
        columns = self._usage_columns()
        return [("add_usage", columns)] if columns else []

    def _usage_columns(self, guarded: Collection[ScopeKey] = ()) -> tuple[object, ...]:
        """What has changed in scopes, those that are guarded in any case; nothing where nothing has."""
        rows = []
        for scope in self.books.changed_usage:
            (was_used, was_held), (used, held) = self._usage.get(scope, UNUSED), self.books.usage[scope]
            if (used, held) != (was_used, was_held) or scope in guarded:
                added = (*unpacked(Packed(used - was_used)), *unpacked(Packed(held - was_held)))
                rows.append((place_of_scope(scope), scope, added))
        if not rows:
            return ()
        rows.sort()
        scopes = scope_columns([(place, scope) for place, scope, _ in rows])
        return (*scopes, bigints([amount for _, _, added in rows for amount in added]))

    def _run_steps(self) -> list[Step]:
        runs = sorted((place_of(*key), key) for key in self.books.changed_runs)
        old = [(place, self.books.runs[key]) for place, key in runs if key in self._runs]
        new = [(place, key, self.books.runs[key]) for place, key in runs if key not in self._runs]
        steps: list[Step] = []
        if old:
            steps.append(("update_runs", (blobs([place for place, _ in old]), *facts_columns([run for _, run in old]))))
        if new:
            names = texts([key[0] for _, key, _ in new]), texts([key[1] for _, key, _ in new])
            places = blobs([place for place, *_ in new])
            steps.append(("insert_runs", (places, *names, *facts_columns([run for *_, run in new]))))
        return steps

    def _chain_steps(self) -> list[Step]:
        if not self._records:
            return []
        head = (self.sequence, self.digest, self.desk.chain)
        if len(self._records) == 1:
            place, digest, body, each, first, sealed = self._records[0]
            found = (each.tenant, each.kind, each.at_us, each.call, each.subject, first, sealed)
            return [("append_record", (*head, place, digest, body, *found))]
        places, digests, bodies, events, firsts, kept = zip(*self._records, strict=True)
        columns = (
            bigints(places),
            blobs(digests),
            blobs(bodies),
            texts([each.tenant for each in events]),
            texts([each.kind for each in events]),
            bigints([each.at_us for each in events]),
            texts([each.call for each in events]),
            texts([each.subject for each in events]),
            blobs(firsts),
            blobs(kept),
        )
        return [("append_records", (*head, *columns))]

    def committed(self) -> None:
        """All of it is on the disk: remember what outlives the batch."""
        self.desk.passed(self.sequence, self.digest)
        for run in self.books.changed_runs:
            self.desk.glimpses.run(run, self.books.runs[run])
        for row in self.changed.values():
            self.desk.remember(row)


def _framed(payloads: tuple[Payload, ...]) -> tuple[bytes | None, bytes | None]:
    """The record, and what is sealed beside it; most events have the record alone."""
    if len(payloads) == 1 and payloads[0].name == RECORD:
        return framed(payloads[0]), None
    record = [each for each in payloads if each.name == RECORD]
    return frame(record), frame([each for each in payloads if each.name != RECORD])


def place_in_chain(chain: int, *, sequence: int) -> int:
    """The row of a record."""
    return chain << _PLACE_BITS | sequence


def _lock_of(place: bytes) -> int:
    """A number to lock a key by; two keys that share one wait for each other, no more."""
    return int.from_bytes(place[:8], "big", signed=True)
