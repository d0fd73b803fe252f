"""Look-ups of unknown calls in SQLite: which are due, and how often each was looked up."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.core.chain import Receipt
from interlock.core.effect import CallState
from interlock.core.journal import Event
from interlock.core.recovery import NO_LOOKS, Looks
from interlock.ports import Due, OpenCall
from interlock.store.locks import Presence
from interlock.store.rules import may_look_up
from interlock.store.sqlite_db import Db, Row
from interlock.store.sqlite_desk import Desk, Place
from interlock.store.sqlite_recovery import open_call


def due(db: Db, *, at_us: int, limit: int, presence: Presence) -> Due:
    """At most so many calls at which nobody is at work, oldest first. Only these are opened whole."""
    with db.one_moment():
        rows = [row for row in db.all("select_due", at_us) if not presence.is_alive(row[3])][:limit]
        calls = [_call(db, row=row, presence=presence) for row in rows]
        (unknown,) = db.one("count_unknown") or (0,)
    return Due(tuple(calls), unknown)


def looks(db: Db, *, tenant: str | None) -> Mapping[Place, Looks]:
    """Of every unknown call that was looked up or escalated."""
    rows = db.named("select_looks", {"tenant": tenant})
    return {(row[0], row[1]): _looks(row[2:]) for row in rows}


def note(desk: Desk, *, call: OpenCall, changed: Looks, event: Event) -> Receipt | None:
    """Count a look-up, or give up. None: the call, or how often it was looked up, is not as `call` has it."""
    place = (call.operation.tenant, call.operation.id)
    row = desk.db.one("select_standing", *place)
    held = desk.db.one("select_looks_of", *place, call.fence)
    counted = NO_LOOKS if held is None else _looks(held)
    if row is None or not may_look_up(
        call, state=CallState(row[0]), fence=row[1], at_work=desk.presence.is_alive(row[2]), looks=counted
    ):
        return None
    desk.db.run("put_looks", *place, call.fence, changed.count, changed.next_us, changed.escalated)
    return desk.chain.append(event)


def _call(db: Db, *, row: Row, presence: Presence) -> OpenCall:
    whole = db.one("select_call", row[0], row[1])
    if whole is None:
        raise LookupError(row[1])
    return open_call(db, row=whole, presence=presence, looks=_looks(row[4:]))


def _looks(row: Row) -> Looks:
    count, next_us, escalated = row
    return Looks(count, next_us, bool(escalated))
