"""Retention goes through everything in steps that are small."""

import pytest

from interlock.core.budget import Amounts, Reservation
from interlock.store import sqlite_calls, sqlite_retention
from interlock.store.sqlite_desk import Desk
from interlock.testing.store_values import DAY_US, NOW_US, SCOPE, Values

values = Values()


@pytest.mark.requirement("AUD-4")
def test_every_record_and_call_is_reached(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_retention, "STEP_ROWS", 2)
    for _ in range(5):
        taken = sqlite_calls.claim(desk, intent=values.intent())
        sqlite_calls.settle(desk, settlement=values.settlement(taken))  # type: ignore[arg-type]  # it is a claim
    desk.chain.write()
    for step in sqlite_retention.steps(desk.db, before_us=NOW_US + 2 * DAY_US):
        sqlite_retention.purge(desk.db, step=step)
    count = desk.db.connection.execute
    assert count("SELECT count(*) FROM audit WHERE kept_sealed IS NOT NULL").fetchone() == (0,)
    assert count("SELECT count(*) FROM audit WHERE record IS NULL").fetchone() == (0,)
    assert count("SELECT count(*) FROM calls WHERE operation_sealed <> x''").fetchone() == (0,)


def test_rate_windows_that_are_over_are_dropped_unless_something_is_held_in_them(desk: Desk) -> None:
    old, held, new = (SCOPE._replace(id=name, window_us=at) for name, at in (("a", 5), ("b", 5), ("c", 50)))
    desk.books.charge([Reservation(scope, Amounts(calls=1)) for scope in (SCOPE, old, new)])
    fitting = desk.books.fitting([Reservation(held, Amounts(calls=1))])
    assert fitting is not None
    desk.books.enter(fitting)
    desk.books.write(desk.db, fused=())
    for step in sqlite_retention.steps(desk.db, before_us=50):
        sqlite_retention.purge(desk.db, step=step)
    desk.books.forget()
    left = desk.db.all("select_usage_of_tenant", "acme")
    assert [(row[1], row[2]) for row in left] == [("b", 5), ("c", 50), ("run-1", 0)]
