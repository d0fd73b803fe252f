"""Look-ups in SQLite: what is not due is not read, and what has ended is forgotten."""

from dataclasses import replace

import pytest

from interlock.core.effect import CallEvent
from interlock.core.recovery import Looks
from interlock.ports import OpenCall
from interlock.store import sqlite_calls, sqlite_look_ups, sqlite_recovery, sqlite_retention
from interlock.store.sqlite_desk import Desk
from interlock.testing.store_values import TENANT, Values
from tests.unit.store.test_sqlite_recovery import unknown

pytestmark = pytest.mark.requirement("IDEM-3", "IDEM-4")
values = Values()


def found(desk: Desk) -> OpenCall:
    call = sqlite_recovery.find(desk, place=(TENANT, unknown(desk, goes_on=False).operation_id))
    assert call is not None
    return call


def due(desk: Desk, at_us: int) -> list[OpenCall]:
    return list(sqlite_look_ups.due(desk.db, at_us=at_us, limit=9, presence=desk.presence).calls)


def test_what_is_not_due_is_not_read(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    call = found(desk)
    assert sqlite_look_ups.note(desk, call=call, changed=Looks(1, 5), event=values.event()) is not None
    assert due(desk, 5) == [replace(call, looks=Looks(1, 5))]
    monkeypatch.setattr(sqlite_look_ups, "open_call", None)
    assert due(desk, 4) == []


def test_retention_forgets_look_ups_of_calls_that_have_ended(desk: Desk) -> None:
    call = found(desk)
    sqlite_look_ups.note(desk, call=call, changed=Looks(1, 5), event=values.event())
    claim = sqlite_recovery.take_over(desk, found=call, event=values.event())
    assert claim is not None
    sqlite_calls.settle(desk, settlement=values.settlement(claim, CallEvent.SUCCEED))
    for step in sqlite_retention.steps(desk.db, before_us=0):
        sqlite_retention.purge(desk.db, step=step)
    assert desk.db.one("select_looks_of", TENANT, call.operation.id, call.fence) is None
