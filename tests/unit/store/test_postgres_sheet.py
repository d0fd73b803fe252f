"""A sheet: what is needed is read once, what has changed is written, and nothing else."""

from collections.abc import Sequence

from interlock.core.budget import Amounts, Reservation
from interlock.store.postgres_calls import Claiming, Recording
from interlock.store.postgres_rows import place_of
from interlock.store.postgres_sheet import Desk, Needs, Sheet
from interlock.store.seal import NoSeal
from interlock.testing.store_values import RUN, SCOPE, TENANT, Values


def sheet() -> Sheet:
    return Sheet(Desk(NoSeal(), owner=1, chain=1, name="main", number=0, sequence=0, digest=bytes(32)))


def names(steps: Sequence[tuple[str, object]]) -> list[str]:
    return [name for name, _ in steps]


def test_what_was_read_is_not_needed_again() -> None:
    needs, page = Needs(), sheet()
    Claiming(Values().intent("k", limit=1)).needs(needs, page)
    assert needs.anything
    assert (needs.keys, needs.runs, needs.scopes) == ({place_of(TENANT, "k")}, {(TENANT, RUN)}, {SCOPE})
    assert not needs.beyond(needs).anything


def test_rows_are_locked_in_one_order() -> None:
    needs, page = Needs(), sheet()
    Claiming(Values().intent("k", limit=1)).needs(needs, page)
    steps = page.reads(needs)
    assert names(steps) == [
        "share_epoch",
        "select_epoch",
        "select_calls",
        "select_fence_floor",
        "insert_usage",
        "lock_usage",
        "lock_runs",
    ]
    assert not page.take_in(needs, steps, [[], [(0,)], [], [(0,)], [], [], []])


def test_a_record_that_charges_reads_nothing() -> None:
    needs, page, values = Needs(), sheet(), Values()
    recording = Recording(values.entry(calls=2))
    recording.needs(needs, page)
    assert not needs.anything
    assert recording.run(page).sequence == 1
    assert names(page.writes()) == ["add_usage", "append_record"]


def test_what_comes_to_nothing_is_not_written() -> None:
    page = sheet()
    hold = (Reservation(SCOPE, Amounts(calls=1, concurrent=1)),)
    page.books.exchange((), kept=hold)
    page.books.exchange(hold, kept=())
    assert page.writes() == []
