"""Usage and runs in memory: what fits is held, and nothing else changes."""

import pytest

from interlock.core.budget import NOTHING, SUM_MAX, Amounts, Reservation, Usage
from interlock.core.labels import NO_LABELS, Confidentiality, Labels
from interlock.store.books import Books, RunBook, UsageBook, kept_while_unknown
from interlock.testing.store_values import SCOPE, reserve

RUN = ("acme", "run-1")


@pytest.fixture
def books() -> Books:
    return Books(UsageBook(), runs=RunBook())


@pytest.mark.requirement("BUD-2")
def test_what_does_not_fit_changes_nothing(books: Books) -> None:
    assert books.fitting(reserve(None) + reserve(1)) is None
    assert books.usage == {}
    assert books.changed_usage == set()


@pytest.mark.requirement("BUD-2")
def test_a_hold_is_exchanged_for_what_was_spent_and_leaves_nothing(books: Books) -> None:
    holds = reserve(1, cost_micros=50)
    held = books.fitting(holds)
    assert held is not None
    books.enter(held)
    assert books.fitting(holds) is None
    kept = kept_while_unknown(holds, spent=Amounts(cost_micros=40, working_ms=2))
    books.exchange(holds, kept=kept)
    assert Usage.read(books.usage[SCOPE]).held == Amounts(calls=1, cost_micros=40, working_ms=2)
    books.settle(kept, spent=Amounts(1, 2, 3, 4, 5, 6))
    # Rounds and calls count as they were reserved, whatever is reported.
    assert books.usage[SCOPE] == Usage(Amounts(0, 1, 3, 4, 5, 0), NOTHING)
    assert books.changed_usage == {SCOPE}


@pytest.mark.requirement("BUD-2")
def test_a_sum_ends_at_what_a_store_can_hold(books: Books) -> None:
    held = (Reservation(SCOPE, Amounts(calls=1, cost_micros=SUM_MAX)),)
    for _ in range(2):
        books.exchange((), kept=held)
        books.use_up(held)
        books.exchange((), kept=held)
        books.settle(held, spent=Amounts(tokens=SUM_MAX, cost_micros=1))
    usage = Usage.read(books.usage[SCOPE])
    assert (usage.used, usage.held) == (Amounts(calls=4, tokens=SUM_MAX, cost_micros=SUM_MAX), NOTHING)


def test_every_unit_is_counted_by_itself(books: Books) -> None:
    amounts = Amounts(1, 20, 300, 4_000, 50_000, 600_000)
    books.charge((Reservation(SCOPE, amounts),) * 2)
    assert Usage.read(books.usage[SCOPE]).used == Amounts(2, 40, 600, 8_000, 100_000, 1_200_000)
    held = books.fitting((Reservation(SCOPE, amounts),))
    assert held is not None
    assert Usage.read(held[SCOPE]).held == amounts


@pytest.mark.requirement("POL-6")
def test_the_version_of_a_run_rises_with_what_a_decision_reads_and_with_nothing_else(books: Books) -> None:
    secret = Labels(Confidentiality.RESTRICTED)
    for change, version in (
        ({"labels": NO_LABELS}, 0),
        ({"labels": NO_LABELS, "tool": "read"}, 1),
        ({"labels": NO_LABELS, "tool": "read"}, 1),
        ({"labels": secret, "tool": "read"}, 2),
        ({"labels": Labels(Confidentiality.INTERNAL)}, 2),
        ({"labels": NO_LABELS, "denied": "digest"}, 3),
        ({"labels": NO_LABELS, "denied": "digest"}, 3),
    ):
        books.join(RUN, **change)
        assert books.runs[RUN].version == version
        assert books.takes_calls(RUN, at=version)
    assert not books.takes_calls(RUN, at=2)
    assert books.takes_calls(RUN, at=None)
    books.end(RUN, why="done")
    assert not books.takes_calls(RUN, at=None)
    assert not books.takes_calls(RUN, at=4)
