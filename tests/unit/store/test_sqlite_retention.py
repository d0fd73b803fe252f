"""Retention goes through everything in steps that are small."""

from dataclasses import replace

import pytest

from interlock.core.budget import Amounts, Reservation
from interlock.core.effect import CallEvent
from interlock.ports import Claim
from interlock.store import sqlite_approvals, sqlite_calls, sqlite_retention
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


def swept(desk: Desk, *, before_us: int) -> None:
    desk.chain.write()
    desk.books.write(desk.db, fused=())
    for step in sqlite_retention.steps(desk.db, before_us=before_us):
        sqlite_retention.purge(desk.db, step=step)


def count(desk: Desk, table: str) -> int:
    row = desk.db.connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int((row or (0,))[0])


@pytest.mark.requirement("AUD-4")
def test_a_call_that_was_emptied_is_dropped_by_the_next_purge_and_open_ones_never(desk: Desk) -> None:
    for state in (CallEvent.SUCCEED, CallEvent.LOSE_OUTCOME):
        taken = sqlite_calls.claim(desk, intent=values.intent())
        assert isinstance(taken, Claim)
        sqlite_calls.settle(desk, settlement=values.settlement(taken, state))
    sqlite_calls.claim(desk, intent=values.intent())
    for left in (3, 2, 2):
        swept(desk, before_us=NOW_US + 2 * DAY_US)
        assert count(desk, "calls") == left
    whole = desk.db.connection.execute("SELECT count(*) FROM calls WHERE operation_sealed <> x''").fetchone()
    assert whole == (2,)


@pytest.mark.requirement("AUD-4", "OBS-5", "IDEM-2")
def test_closed_questions_go_with_their_operations_and_others_stay(desk: Desk) -> None:
    waiting, granted, used, answering = (values.asking(key) for key in ("w", "g", "u", "a"))
    for asking in (waiting, granted, used, answering):
        sqlite_approvals.ask(desk, asking=asking)
    for asking in (granted, used, answering):
        sqlite_approvals.change(desk, step=values.granted(asking))
    for asking, lifetime_us in ((used, DAY_US), (answering, 9 * DAY_US)):
        intent = replace(values.resumed(asking), lifetime_us=lifetime_us)
        taken = sqlite_calls.claim(desk, intent=intent)
        assert isinstance(taken, Claim)
        sqlite_calls.settle(desk, settlement=values.settlement(taken))
    swept(desk, before_us=NOW_US + 2 * DAY_US)
    left = {each.id for each in sqlite_approvals.approvals(desk.db, tenant=None, state=None)}
    assert left == {asking.approval.id for asking in (waiting, granted, answering)}


def test_rate_windows_are_dropped_stretch_by_stretch(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_retention, "STEP_ROWS", 3)
    scopes = [SCOPE._replace(id=f"r{number % 4}", window_us=number) for number in range(1, 21)]
    desk.books.charge([Reservation(scope, Amounts(calls=1)) for scope in (SCOPE, *scopes)])
    swept(desk, before_us=15)
    left = [row[2] for row in desk.db.all("select_usage_of_tenant", "acme")]
    assert sorted(left) == [0, 15, 16, 17, 18, 19, 20]
