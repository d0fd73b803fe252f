"""The cache of usage and runs: what has changed is written, but not what is held in memory alone."""

import pytest

from interlock.core.budget import NOTHING, Amounts, Usage
from interlock.core.labels import NO_LABELS
from interlock.store import sqlite_books
from interlock.store.sqlite_desk import Desk
from interlock.testing.store_values import SCOPE, Values, reserve

RUN = ("acme", "run-1")
values = Values()


def test_what_was_written_is_read_again(desk: Desk) -> None:
    books = desk.books
    books.charge(tuple(each._replace(amounts=Amounts(1, 2, 3, 4, 5, 6)) for each in reserve(None)))
    books.join(RUN, labels=NO_LABELS, tool="save")
    before = (books.usage[SCOPE], books.runs[RUN])
    books.write(desk.db, fused=())
    assert (books.changed_usage, books.changed_runs) == (set(), set())
    books.forget()
    assert (books.usage[SCOPE], books.runs[RUN]) == before
    assert sqlite_books.usage_of(desk.db, tenant="acme") == {SCOPE: before[0]}


@pytest.mark.requirement("BUD-2")
def test_what_reads_hold_in_memory_is_not_written(desk: Desk) -> None:
    reads = [values.read(), values.read()]
    for intent in (*reads, values.intent()):
        held = desk.books.fitting(intent.reservations)
        assert held is not None
        desk.books.enter(held)
    desk.books.write(desk.db, fused=reads)
    assert sqlite_books.stored_usage(desk.db, scope=SCOPE).held == Amounts(calls=1, concurrent=1)
    assert Usage.read(desk.books.usage[SCOPE]).held == Amounts(calls=3, concurrent=3)


def test_too_much_is_forgotten_but_not_what_is_only_in_memory(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_books, "CACHED_MAX", 1)
    books, read = desk.books, values.read()
    held = books.fitting(read.reservations)
    assert held is not None
    books.usage.update(held)
    others = [SCOPE._replace(id=str(number)) for number in range(5)]
    assert all(Usage.read(books.usage[scope]).held == NOTHING for scope in others)
    for number in range(5):
        assert books.runs["acme", str(number)].version == 0
    books.join(RUN, labels=NO_LABELS, tool="save")
    books.trim(fused=[read])
    assert list(books.usage) == [SCOPE]
    assert list(books.runs) == [RUN]
