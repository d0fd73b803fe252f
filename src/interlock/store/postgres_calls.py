"""Calls in PostgreSQL, from claim to settlement, and those that did not end by themselves: what one op of a batch does.

Every op says which rows it needs, guards, makes what may fail, and changes the sheet last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from interlock.core.budget import Limit, Taken, Unit
from interlock.core.chain import Receipt
from interlock.core.effect import CallState
from interlock.core.journal import Event
from interlock.core.labels import NO_LABELS
from interlock.core.recovery import NO_LOOKS, Looks
from interlock.ports import Claim, Entry, Intent, NotClaimed, OpenCall, Settlement
from interlock.store.books import kept_while_unknown
from interlock.store.postgres_approvals import place_of_approval, stored_approval, use_approvals
from interlock.store.postgres_rows import NOBODY, CallRow, open_call, place_of, write_head
from interlock.store.postgres_sheet import Needs, Sheet
from interlock.store.rows import write_labels
from interlock.store.rules import (
    FIRST_FENCE,
    is_key_over,
    is_usable,
    may_continue,
    may_look_up,
    may_take_over,
    settled_state,
)
from interlock.store.seal import of_call

CROWD: Final = 100_000
"""So many calls are never at work at once."""


@dataclass(frozen=True, slots=True)
class Claiming:
    """Take everything an intent names, or nothing."""

    intent: Intent

    def needs(self, needs: Needs, _: Sheet) -> None:
        intent, operation = self.intent, self.intent.operation
        needs.epoch = True
        needs.calls.add(place_of(operation.tenant, intent.continues or operation.id))
        if intent.continues is not None:
            needs.dead.add(place_of(operation.tenant, intent.continues))
        elif operation.key is not None:
            needs.keys.add(place_of(operation.tenant, operation.key))
        if intent.approval is not None:
            needs.approvals.add(place_of_approval(operation.tenant, intent.approval))
        for scope, _amounts, limits in intent.reservations:
            (needs.scopes if limits else needs.touched).add(scope)
        if operation.run is not None:
            needs.runs.add((operation.tenant, operation.run))

    def run(self, sheet: Sheet) -> Claim | NotClaimed:
        intent, operation = self.intent, self.intent.operation
        if intent.epoch != sheet.epoch:
            return NotClaimed.EPOCH
        run = operation.run
        if run is not None and not sheet.books.takes_calls((operation.tenant, run), at=intent.run_version):
            return NotClaimed.RUN
        if not _is_free(sheet, intent):
            return NotClaimed.KEY
        if intent.approval is not None and not is_usable(
            stored_approval(sheet, operation.tenant, intent.approval), intent=intent
        ):
            return NotClaimed.APPROVAL
        usage = sheet.fitting(intent.reservations)
        if usage is None:
            return NotClaimed.BUDGET
        new = None if intent.continues is not None else _claimed(sheet, intent)
        if intent.event is not None:
            sheet.append(intent.event)
        if new is not None:
            sheet.books.enter(usage)
            sheet.take(new)
        taken = new or _continued(sheet, intent)
        use_approvals(sheet, operation.tenant, key=operation.key, approval=intent.approval)
        if operation.run is not None:
            sheet.books.join((operation.tenant, operation.run), labels=intent.ceiling, tool=operation.tool)
        return Claim(taken.id, taken.tenant, taken.fence)


def _is_free(sheet: Sheet, intent: Intent) -> bool:
    """Whether the operation was never claimed and its key is free, or continues the call that holds it."""
    operation = intent.operation
    row = sheet.call(place_of(operation.tenant, intent.continues or operation.id))
    key_place = None if operation.key is None else place_of(operation.tenant, operation.key)
    if intent.continues is not None:
        return (
            row is not None and row.key_place == key_place and may_continue(row.state, at_work=_is_at_work(sheet, row))
        )
    if row is not None:
        return False
    holder = None if key_place is None else sheet.holders.get(key_place)
    return holder is None or is_key_over(holder.state, until_us=holder.until_us, at_us=intent.at_us)


def _is_at_work(sheet: Sheet, row: CallRow) -> bool:
    """Whether somebody may be at work on a call."""
    return row.owner != NOBODY and (row.owner == sheet.owner or row.owner_lives)


def _claimed(sheet: Sheet, intent: Intent) -> CallRow:
    operation = intent.operation
    tenant, operation_id = operation.tenant, operation.id
    key_place = None if operation.key is None else place_of(tenant, operation.key)
    before = None if key_place is None else sheet.holders.get(key_place)
    return CallRow(
        place=place_of(tenant, operation_id),
        tenant=tenant,
        id=operation_id,
        state=CallState.CLAIMED,
        fence=_first_fence(sheet, before, key_place),
        taken_over=False,
        owner=sheet.owner,
        at_us=intent.at_us,
        until_us=intent.at_us + intent.lifetime_us,
        settled_us=None,
        key_place=key_place,
        holds_key=key_place is not None,
        run=operation.run,
        task=operation.task,
        head=write_head(operation),
        holds=Taken.of(intent.reservations),
        labels=None,
        operation_sealed=sheet.seal.seal(operation.sealed, context=of_call(tenant, operation_id)),
        observation_sealed=None,
        looks_count=0,
        looks_next_us=0,
        looks_escalated=False,
        owner_lives=True,
    )


def _first_fence(sheet: Sheet, before: CallRow | None, key_place: bytes | None) -> int:
    """Higher than that of whoever held the key before, whatever became of it and of its row."""
    if key_place is None:
        return FIRST_FENCE
    return FIRST_FENCE + (sheet.fence_floor if before is None else before.fence)


def _continued(sheet: Sheet, intent: Intent) -> CallRow:
    """The call under a new fence. What it held is used up; the repeat holds anew."""
    row = sheet.calls[place_of(intent.operation.tenant, intent.continues or "")]
    sheet.books.use_up(row.holds)
    sheet.books.exchange((), kept=intent.reservations)
    row.holds = intent.reservations
    return _taken_again(sheet, row)


def _taken_again(sheet: Sheet, row: CallRow) -> CallRow:
    row.state, row.fence, row.taken_over = CallState.CLAIMED, row.fence + 1, True
    row.owner, row.owner_lives, row.looks = sheet.owner, True, NO_LOOKS
    sheet.change(row)
    return row


@dataclass(frozen=True, slots=True)
class Settling:
    """Write the outcome and release the hold. None: fenced, ended already, or claimed under a lease that was lost."""

    settlement: Settlement

    def needs(self, needs: Needs, sheet: Sheet) -> None:
        claim = self.settlement.claim
        place = place_of(claim.tenant, claim.operation_id)
        row = sheet.call(place)
        if row is None:
            needs.calls.add(place)
            return
        needs.touched.update(scope for scope, _, _ in row.holds)
        if row.run is not None and self.settlement.labels is not NO_LABELS:
            needs.runs.add((row.tenant, row.run))

    def run(self, sheet: Sheet) -> Receipt | None:
        settlement = self.settlement
        row = sheet.call(place_of(settlement.claim.tenant, settlement.claim.operation_id))
        if row is None or row.fence != settlement.claim.fence or not _is_own(sheet, row):
            return None
        state = settled_state(row.state, what=settlement.what)
        if state is None:
            return None
        labels, observation = write_labels(settlement.labels), settlement.observation
        context = of_call(row.tenant, row.id)
        sealed = None if observation is None else sheet.seal.seal(observation, context=context)
        receipt = sheet.append(settlement.event)
        _let_go(sheet, row, state=state, settlement=settlement)
        row.state, row.settled_us, row.labels, row.observation_sealed = state, settlement.at_us, labels, sealed
        sheet.change(row)
        if row.run is not None and settlement.labels is not NO_LABELS:
            sheet.books.join((row.tenant, row.run), labels=settlement.labels)
        return receipt


def _is_own(sheet: Sheet, row: CallRow) -> bool:
    """Whether this process may settle a call: the claim is its own still, or the outcome is unknown and nobody's."""
    return row.owner == sheet.owner or (row.state is CallState.UNKNOWN and row.owner == NOBODY)


def _let_go(sheet: Sheet, row: CallRow, *, state: CallState, settlement: Settlement) -> None:
    """What becomes of the holds, and of who is at work on it."""
    if state is CallState.UNKNOWN:
        kept = kept_while_unknown(row.holds, spent=settlement.spent)
        sheet.books.exchange(row.holds, kept=kept)
        row.holds = kept
        if not settlement.goes_on:
            row.owner, row.owner_lives = NOBODY, False
    else:
        sheet.books.settle(row.holds, spent=settlement.spent)
        sheet.let_go.update([scope for scope, _, limits in row.holds if limits and _may_be_waited_for(limits)])
        row.holds = ()


def _may_be_waited_for(limits: tuple[Limit, ...]) -> bool:
    """Whether the end of a call may let another begin: what was counted stays so, and some limits are never reached."""
    return any(
        limit.amount < CROWD if limit.unit is Unit.CONCURRENT else limit.unit not in _COUNTED for limit in limits
    )


_COUNTED: Final = (Unit.ROUNDS, Unit.CALLS)


@dataclass(frozen=True, slots=True)
class Recording:
    """Write a record that claims nothing."""

    entry: Entry

    def needs(self, needs: Needs, _: Sheet) -> None:
        needs.touched.update(scope for scope, _, _ in self.entry.charges)
        if self.entry.run is not None and self.entry.labels is not NO_LABELS:
            needs.runs.add((self.entry.event.tenant, self.entry.run))

    def run(self, sheet: Sheet) -> Receipt:
        entry = self.entry
        receipt = sheet.append(entry.event)
        sheet.books.charge(entry.charges)
        if entry.run is not None and entry.labels is not NO_LABELS:
            sheet.books.join((entry.event.tenant, entry.run), labels=entry.labels)
        return receipt


@dataclass(frozen=True, slots=True)
class Appending:
    """Write an event that changes nothing else."""

    event: Event

    def needs(self, needs: Needs, _: Sheet) -> None:
        """Nothing."""

    def run(self, sheet: Sheet) -> Receipt:
        return sheet.append(self.event)


@dataclass(frozen=True, slots=True)
class Finding:
    """One call, wherever it stands, after the writes that were handed over before."""

    tenant: str
    operation_id: str

    def needs(self, needs: Needs, _: Sheet) -> None:
        needs.calls.add(place_of(self.tenant, self.operation_id))

    def run(self, sheet: Sheet) -> OpenCall | None:
        row = sheet.calls.get(place_of(self.tenant, self.operation_id))
        return None if row is None else open_call(row, seal=sheet.seal)


@dataclass(frozen=True, slots=True)
class TakingOver:
    """Claim an orphaned or unknown call under a new fence, hold kept. None: another was faster, or its owner lives."""

    found: OpenCall
    event: Event

    def needs(self, needs: Needs, _: Sheet) -> None:
        place = place_of(self.found.operation.tenant, self.found.operation.id)
        needs.calls.add(place)
        needs.dead.add(place)

    def run(self, sheet: Sheet) -> Claim | None:
        found = self.found
        row = sheet.calls.get(place_of(found.operation.tenant, found.operation.id))
        if row is None or not may_take_over(found, state=row.state, fence=row.fence, at_work=_is_at_work(sheet, row)):
            return None
        sheet.append(self.event)
        taken = _taken_again(sheet, row)
        return Claim(taken.id, taken.tenant, taken.fence)


@dataclass(frozen=True, slots=True)
class WorkEnding:
    """Record what came late of work that went on; nobody is at it any more."""

    claim: Claim
    event: Event

    def needs(self, needs: Needs, _: Sheet) -> None:
        needs.calls.add(place_of(self.claim.tenant, self.claim.operation_id))

    def run(self, sheet: Sheet) -> Receipt:
        row = sheet.calls.get(place_of(self.claim.tenant, self.claim.operation_id))
        receipt = sheet.append(self.event)
        standing = None if row is None else (row.state, row.fence, row.owner)
        if row is not None and standing == (CallState.UNKNOWN, self.claim.fence, sheet.owner):
            row.owner, row.owner_lives = NOBODY, False
            sheet.change(row)
        return receipt


@dataclass(frozen=True, slots=True)
class Noting:
    """Count a look-up, or give up. None: the call, or how often it was looked up, is not as `call` has it."""

    call: OpenCall
    looks: Looks
    event: Event

    def needs(self, needs: Needs, _: Sheet) -> None:
        needs.calls.add(place_of(self.call.operation.tenant, self.call.operation.id))

    def run(self, sheet: Sheet) -> Receipt | None:
        row = sheet.calls.get(place_of(self.call.operation.tenant, self.call.operation.id))
        if row is None or not may_look_up(
            self.call, state=row.state, fence=row.fence, at_work=_is_at_work(sheet, row), looks=row.looks
        ):
            return None
        receipt = sheet.append(self.event)
        row.looks = self.looks
        sheet.change(row)
        return receipt
