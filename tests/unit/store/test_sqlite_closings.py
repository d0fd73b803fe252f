"""Proposals to close calls in SQLite: forgotten once the call has ended."""

from interlock.core.effect import CallEvent
from interlock.store import sqlite_calls, sqlite_closings, sqlite_recovery, sqlite_retention
from interlock.store.sqlite_desk import Desk
from interlock.testing.store_contract_closings import CLOSING
from interlock.testing.store_values import TENANT, Values
from tests.unit.store.test_sqlite_recovery import unknown

values = Values()


def test_retention_forgets_proposals_about_calls_that_have_ended(desk: Desk) -> None:
    call = sqlite_recovery.find(desk, place=(TENANT, unknown(desk, goes_on=False).operation_id))
    assert call is not None
    assert sqlite_closings.propose(desk, call=call, closing=CLOSING, event=values.event()) is not None
    assert sqlite_closings.closings(desk.db, tenant=TENANT) == {call.operation.id: CLOSING}
    claim = sqlite_recovery.take_over(desk, found=call, event=values.event())
    assert claim is not None
    sqlite_calls.settle(desk, settlement=values.settlement(claim, CallEvent.SUCCEED))
    for step in sqlite_retention.steps(desk.db, before_us=0):
        sqlite_retention.purge(desk.db, step=step)
    assert desk.db.connection.execute("SELECT count(*) FROM closings").fetchone() == (0,)
