"""The contract notices stores that oversell or leak."""

from collections.abc import Iterable

import pytest

from interlock.core.budget import Amounts, Reservation, ScopeKey, Usage
from interlock.store.books import Books, RunBook, UsageBook
from interlock.store.memory import MemoryStore
from interlock.testing.store_contract_budgets import BudgetContract
from interlock.testing.store_values import Values


class Oversells(Books):
    def fitting(self, reservations: Iterable[Reservation]) -> dict[ScopeKey, Usage] | None:
        return super().fitting([each._replace(limits=()) for each in reservations])


class Leaks(Books):
    def settle(self, holds: Iterable[Reservation], *, spent: Amounts) -> None:
        return None


class TakesBeforeItChecks(Books):
    def fitting(self, reservations: Iterable[Reservation]) -> dict[ScopeKey, Usage] | None:
        for each in reservations:
            found = super().fitting([each])
            if found is None:
                return None
            self.enter(found)
        return {}


class KeepsThePlace(Books):
    def exchange(self, holds: Iterable[Reservation], *, kept: Iterable[Reservation]) -> None:
        return None


class ForgetsTheFirstTry(Books):
    def use_up(self, holds: Iterable[Reservation]) -> None:
        self.exchange(holds, kept=())


def store_with(books: type[Books]) -> MemoryStore:
    store = MemoryStore()
    store._books = books(UsageBook(), runs=RunBook())
    return store


@pytest.mark.parametrize(
    ("books", "test"),
    [
        (Oversells, "test_a_limit_counts_what_is_held_and_what_is_used"),
        (Oversells, "test_a_scope_that_is_named_twice_is_counted_twice"),
        (Leaks, "test_a_settlement_replaces_what_was_held_by_what_was_spent"),
        (Leaks, "test_concurrency_is_given_back_and_can_be_taken_again"),
        (TakesBeforeItChecks, "test_a_refused_claim_takes_nothing"),
        (
            ForgetsTheFirstTry,
            "test_a_call_of_unknown_outcome_holds_what_was_spent_and_its_repeat_is_counted_like_any_other",
        ),
        (KeepsThePlace, "test_a_call_of_unknown_outcome_holds_what_was_spent_and_its_repeat_is_counted_like_any_other"),
    ],
)
async def test_a_store_that_breaks_it_fails(books: type[Books], test: str) -> None:
    with pytest.raises(AssertionError):
        await getattr(BudgetContract(), test)(store=store_with(books), values=Values())
    await getattr(BudgetContract(), test)(store=MemoryStore(), values=Values())
