"""The part of a store's contract about budgets: what fits is held, what has ended is settled, nothing is oversold."""

# ruff: noqa: S101  (a contract is made of assertions)

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from interlock.core.budget import NOTHING, Amounts, Limit, Reservation, ScopeKey, ScopeKind, Unit, Usage
from interlock.core.effect import CallEvent
from interlock.ports import Claim, NotClaimed
from interlock.testing.store_contract_shared import ContractTests, Store, claimed
from interlock.testing.store_values import NOW_US, RUN, SCOPE, TENANT, Values, reserve


async def usage_of(store: Store, *, values: Values) -> Usage:
    """What the run has used and holds, as a decision sees it."""
    return Usage.read((await store.look(values.look())).usage[0])


class BudgetContract(ContractTests):
    """Usage, from reservation to settlement."""

    @pytest.mark.parametrize("fused", [False, True])
    async def test_parallel_claims_take_exactly_what_the_limit_allows(
        self, *, store: Store, values: Values, fused: bool
    ) -> None:
        intents = [values.read(limit=10) if fused else values.intent(limit=10) for _ in range(100)]
        answers = await asyncio.gather(*[store.claim(intent) for intent in intents])
        assert sum(isinstance(answer, Claim) for answer in answers) == 10
        assert answers.count(NotClaimed.BUDGET) == 90
        assert await usage_of(store, values=values) == Usage(NOTHING, Amounts(calls=10, concurrent=10))

    async def test_a_limit_counts_what_is_held_and_what_is_used(self, *, store: Store, values: Values) -> None:
        await store.settle(values.settlement(await claimed(store, intent=values.intent(limit=2))))
        await claimed(store, intent=values.intent(limit=2))
        assert await store.claim(values.intent(limit=2)) is NotClaimed.BUDGET
        assert await store.claim(values.intent(limit=0)) is NotClaimed.BUDGET

    async def test_a_settlement_replaces_what_was_held_by_what_was_spent(self, *, store: Store, values: Values) -> None:
        intent = replace(values.intent(), reservations=reserve(None, cost_micros=900))
        claim = await claimed(store, intent=intent)
        assert await usage_of(store, values=values) == Usage(NOTHING, Amounts(calls=1, cost_micros=900, concurrent=1))
        spent = Amounts(tokens=70, cost_micros=300, working_ms=20)
        await store.settle(values.settlement(claim, spent=spent))
        used = Amounts(calls=1, tokens=70, cost_micros=300, working_ms=20)
        assert await usage_of(store, values=values) == Usage(used, NOTHING)

    async def test_a_read_in_memory_is_settled_like_any_other(self, *, store: Store, values: Values) -> None:
        claim = await claimed(store, intent=values.read())
        await store.settle(values.settlement(claim, spent=Amounts(tokens=7)))
        assert await usage_of(store, values=values) == Usage(Amounts(calls=1, tokens=7), NOTHING)

    async def test_a_call_of_unknown_outcome_holds_what_was_spent_and_its_repeat_is_counted_like_any_other(
        self, *, store: Store, values: Values
    ) -> None:
        intent = replace(values.intent("k"), reservations=reserve(None, cost_micros=900))
        claim = await claimed(store, intent=intent)
        await store.settle(values.settlement(claim, CallEvent.LOSE_OUTCOME, spent=Amounts(cost_micros=700)))
        kept = Amounts(calls=1, cost_micros=700)
        assert await usage_of(store, values=values) == Usage(NOTHING, kept)
        again = replace(values.intent("k", limit=1), continues=claim.operation_id)
        assert await store.claim(again) is NotClaimed.BUDGET
        assert await usage_of(store, values=values) == Usage(NOTHING, kept)
        second = await claimed(store, intent=replace(again, reservations=reserve(2, cost_micros=900)))
        held = Amounts(calls=1, cost_micros=900, concurrent=1)
        assert await usage_of(store, values=values) == Usage(kept, held)
        await store.settle(values.settlement(second, spent=Amounts(cost_micros=5)))
        assert await usage_of(store, values=values) == Usage(Amounts(calls=2, cost_micros=705), NOTHING)

    async def test_what_is_proved_not_to_have_happened_counts_as_a_call_and_nothing_else(
        self, *, store: Store, values: Values
    ) -> None:
        claim = await claimed(store, intent=replace(values.intent(), reservations=reserve(None, cost_micros=900)))
        await store.settle(values.settlement(claim, CallEvent.PROVE_NOTHING_HAPPENED))
        assert await usage_of(store, values=values) == Usage(Amounts(calls=1), NOTHING)

    async def test_a_refused_claim_takes_nothing(self, *, store: Store, values: Values) -> None:
        other = ScopeKey(TENANT, ScopeKind.TENANT, "")
        reservations = (*reserve(None, scope=other), *reserve(0))
        refused = replace(values.intent("k"), reservations=reservations)
        assert await store.claim(refused) is NotClaimed.BUDGET
        assert all(usage == Usage() for _, usage in await store.usage(TENANT))
        assert await store.heads() == ()
        await claimed(store, intent=replace(refused, reservations=()))

    async def test_a_scope_that_is_named_twice_is_counted_twice(self, *, store: Store, values: Values) -> None:
        twice = reserve(3) + reserve(3)
        await claimed(store, intent=replace(values.intent(), reservations=twice))
        assert await store.claim(replace(values.intent(), reservations=twice)) is NotClaimed.BUDGET

    async def test_concurrency_is_given_back_and_can_be_taken_again(self, *, store: Store, values: Values) -> None:
        limit = (Limit(ScopeKind.RUN, Unit.CONCURRENT, 1),)
        intents = [
            replace(values.intent(), reservations=(Reservation(SCOPE, Amounts(concurrent=1), limit),)) for _ in range(3)
        ]
        first = await claimed(store, intent=intents[0])
        assert await store.claim(intents[1]) is NotClaimed.BUDGET
        await store.settle(values.settlement(first))
        await claimed(store, intent=intents[2])

    async def test_a_charge_is_counted_without_a_guard(self, *, store: Store, values: Values) -> None:
        await claimed(store, intent=values.intent(limit=1))
        for _ in range(2):
            await store.record(values.entry(calls=1))
        usage = Usage(Amounts(calls=2), Amounts(calls=1, concurrent=1))
        assert await usage_of(store, values=values) == usage
        assert await store.usage(TENANT) == ((SCOPE, usage),)

    async def test_windows_and_tenants_count_apart(self, *, store: Store, values: Values) -> None:
        window = ScopeKey(TENANT, ScopeKind.RUN, RUN, 60_000_000)
        await claimed(store, intent=replace(values.intent(), reservations=reserve(1, scope=window)))
        await claimed(store, intent=values.intent(limit=1))
        other = Values("globex")
        scope = ScopeKey("globex", ScopeKind.RUN, RUN)
        await claimed(store, intent=replace(other.intent(), reservations=reserve(1, scope=scope)))
        assert [scope for scope, _ in await store.usage("globex")] == [scope]
        assert len(await store.usage(TENANT)) == 2

    async def test_a_window_that_goes_on_is_not_forgotten(self, *, store: Store, values: Values) -> None:
        window = SCOPE._replace(window_us=NOW_US)
        hour = Reservation(window, Amounts(calls=1), (Limit(ScopeKind.RUN, Unit.CALLS, 1, window_s=3_600),))
        first, second = [replace(values.intent(), reservations=(hour,)) for _ in range(2)]
        await store.settle(values.settlement(await claimed(store, intent=first)))
        await store.purge(NOW_US + 10, windows_before_us=NOW_US)
        store = await self.after_crash(store)
        assert await store.claim(second) is NotClaimed.BUDGET
