"""Calls in SQLite that did not end by themselves: found, taken over, and let go by work that outlived them.

The owner of a claimed call is the process that claimed it. That of an unknown one is the process where work goes on
that may still do it; where none does it is nobody, who is never alive.
"""

from __future__ import annotations

from interlock.core.chain import Receipt
from interlock.core.effect import CallState
from interlock.core.journal import Event
from interlock.core.recovery import NO_LOOKS, Looks
from interlock.ports import Claim, OpenCall, StoredOperation
from interlock.store.locks import Presence
from interlock.store.rules import FIRST_FENCE, may_take_over
from interlock.store.sqlite_calls import claim_again, open_sealed
from interlock.store.sqlite_db import Db, Row
from interlock.store.sqlite_desk import Desk, Place


def find(desk: Desk, *, place: Place) -> OpenCall | None:
    """One call, wherever it stands; of a read that was held in memory until it ended nothing is left but its record."""
    intent = desk.fused.get(place)
    if intent is not None:
        return OpenCall(
            intent.operation, CallState.CLAIMED, FIRST_FENCE, intent.at_us, orphaned=False, taken_over=False
        )
    row = desk.db.one("select_call", *place)
    return None if row is None else open_call(desk.db, row=row, presence=desk.presence)


def open_calls(db: Db, *, tenant: str | None, presence: Presence) -> tuple[OpenCall, ...]:
    """Every claimed or unknown call, oldest first."""
    rows = db.named("select_open_calls", {"tenant": tenant})
    return tuple(open_call(db, row=row, presence=presence) for row in rows)


def take_over(desk: Desk, *, found: OpenCall, event: Event) -> Claim | None:
    """Claim an orphaned or unknown call under a new fence, hold kept. None: another was faster, or its owner lives."""
    place = (found.operation.tenant, found.operation.id)
    row = desk.db.one("select_standing", *place)
    if row is None or not may_take_over(
        found, state=CallState(row[0]), fence=row[1], at_work=desk.presence.is_alive(row[2])
    ):
        return None
    taken = claim_again(desk, place=place)
    desk.chain.append(event)
    return taken


def work_ended(desk: Desk, *, claim: Claim, event: Event) -> Receipt:
    """Record what came late of work that went on; nobody is at it any more."""
    desk.db.run("work_ended", claim.tenant, claim.operation_id, claim.fence)
    return desk.chain.append(event)


def leave(desk: Desk) -> bool:
    """Strike this owner off. Whether work goes on that may still do what is listed as unknown."""
    desk.db.run("delete_owner", desk.owner)
    if desk.db.one("select_at_work", desk.owner) is None:
        return False
    desk.db.run("let_go_of_runs", desk.owner)
    return True


def open_call(db: Db, *, row: Row, presence: Presence, looks: Looks = NO_LOOKS) -> OpenCall:
    """A call as recovery finds it, from its row."""
    (
        tenant,
        operation_id,
        name,
        fence,
        owner,
        at_us,
        key,
        run,
        task,
        tool,
        source,
        version,
        spec_digest,
        digest,
        model_digest,
        principal,
        call_id,
        repeatable,
        operation_sealed,
        observation_sealed,
    ) = row
    place = (tenant, operation_id)
    operation = StoredOperation(
        operation_id,
        tenant,
        tool,
        source,
        version,
        spec_digest,
        digest,
        model_digest,
        principal,
        call_id,
        open_sealed(db, place=place, sealed=operation_sealed) or b"",
        key,
        run,
        task,
        bool(repeatable),
    )
    state = CallState(name)
    orphaned = not state.is_final and not presence.is_alive(owner)
    observation = open_sealed(db, place=place, sealed=observation_sealed)
    return OpenCall(operation, state, fence, at_us, orphaned, fence != FIRST_FENCE, observation, looks)
