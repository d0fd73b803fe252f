"""The part of a store's contract about look-ups: which calls are due, and how often each was looked up."""

# ruff: noqa: S101  (a contract is made of assertions)

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Protocol, cast

from interlock.core.effect import CallEvent, CallState
from interlock.core.recovery import NO_LOOKS, Looks
from interlock.ports import LookUps, OpenCall
from interlock.testing.store_contract_shared import ContractTests, Store, claimed, verified
from interlock.testing.store_values import NOW_US, TENANT, Values


class LookUpStore(Store, LookUps, Protocol):
    """A store that counts look-ups."""


LATER_US = NOW_US + 1_000


async def lost(store: LookUpStore, values: Values, *, key: str = "k") -> OpenCall:
    """A call that is unknown, as recovery finds it."""
    claim = await claimed(store, intent=values.intent(key))
    await store.settle(values.settlement(claim, CallEvent.LOSE_OUTCOME))
    found = await store.find(TENANT, claim.operation_id)
    assert found is not None
    return found


class LookUpContract(ContractTests):
    """Look-ups of calls whose outcome is unknown."""

    async def found_after_crash(self, store: LookUpStore) -> LookUpStore:
        """The same data as the next process finds it; `after_crash` gives back a store of the same kind."""
        return cast("LookUpStore", await self.after_crash(store))

    async def test_an_unknown_call_is_due_at_its_time(self, *, store: LookUpStore, values: Values) -> None:
        found = await lost(store, values)
        assert await store.note_looks(found, Looks(1, LATER_US), values.event()) is not None
        early, late = await store.due(LATER_US - 1, 9), await store.due(LATER_US, 9)
        assert (early.calls, early.unknown) == ((), 1)
        assert (late.calls, late.unknown) == ((replace(found, looks=Looks(1, LATER_US)),), 1)
        assert await store.looks(TENANT) == {(TENANT, found.operation.id): Looks(1, LATER_US)}
        assert await store.looks("globex") == {}
        await verified(store)

    async def test_of_those_that_count_a_look_up_at_once_one_does(self, *, store: LookUpStore, values: Values) -> None:
        found = await lost(store, values)
        noting = [store.note_looks(found, Looks(1, LATER_US), values.event()) for _ in range(5)]
        assert sum(receipt is not None for receipt in await asyncio.gather(*noting)) == 1
        counted = replace(found, looks=Looks(1, LATER_US))
        assert await store.note_looks(counted, Looks(2, LATER_US, escalated=True), values.event()) is not None
        assert (await store.looks())[TENANT, found.operation.id].escalated

    async def test_a_call_that_was_repeated_since_counts_anew(self, *, store: LookUpStore, values: Values) -> None:
        found = await lost(store, values)
        await store.note_looks(found, Looks(9, LATER_US), values.event())
        again = await claimed(store, intent=replace(values.intent("k"), continues=found.operation.id))
        assert await store.note_looks(replace(found, looks=Looks(9, LATER_US)), Looks(10), values.event()) is None
        await store.settle(values.settlement(again, CallEvent.LOSE_OUTCOME))
        (due,) = (await store.due(NOW_US, 9)).calls
        assert (due.looks, due.fence) == (NO_LOOKS, found.fence + 1)
        assert await store.looks() == {}

    async def test_what_somebody_is_at_work_on_is_neither_due_nor_looked_up(
        self, *, store: LookUpStore, values: Values
    ) -> None:
        claim = await claimed(store, intent=values.intent("k"))
        assert await store.due(LATER_US, 9) == await store.due(LATER_US, 0)
        await store.settle(replace(values.settlement(claim, CallEvent.LOSE_OUTCOME), goes_on=True))
        due = await store.due(LATER_US, 9)
        assert (due.calls, due.unknown) == ((), 1)
        found = await store.find(TENANT, claim.operation_id)
        assert found is not None
        assert await store.note_looks(found, Looks(1), values.event()) is None

    async def test_what_a_dead_process_claimed_is_due_at_once_oldest_first(
        self, *, store: LookUpStore, values: Values
    ) -> None:
        late, early = values.intent("a"), replace(values.intent("b"), at_us=NOW_US - 1)
        for intent in (late, early):
            await claimed(store, intent=intent)
        store = await self.found_after_crash(store)
        due = await store.due(0, 9)
        assert [each.operation for each in due.calls] == [early.operation, late.operation]
        assert {(each.state, each.orphaned) for each in due.calls} == {(CallState.CLAIMED, True)}
        assert [each.operation for each in (await store.due(0, 1)).calls] == [early.operation]

    async def test_what_is_claimed_is_due_before_what_is_unknown(self, *, store: LookUpStore, values: Values) -> None:
        unknown, claim = replace(values.intent("a"), at_us=NOW_US - 1), values.intent("b")
        lost = await claimed(store, intent=unknown)
        await store.settle(values.settlement(lost, CallEvent.LOSE_OUTCOME))
        await claimed(store, intent=claim)
        store = await self.found_after_crash(store)
        assert [each.operation for each in (await store.due(NOW_US, 9)).calls] == [claim.operation, unknown.operation]
        assert [each.operation for each in (await store.due(NOW_US, 1)).calls] == [claim.operation]

    async def test_counted_look_ups_outlive_the_process(self, *, store: LookUpStore, values: Values) -> None:
        found = await lost(store, values)
        await store.note_looks(found, Looks(3, LATER_US, escalated=True), values.event())
        store = await self.found_after_crash(store)
        assert await store.looks() == {(TENANT, found.operation.id): Looks(3, LATER_US, escalated=True)}
        await store.purge(LATER_US)
        assert len(await store.looks()) == 1
        assert (await store.due(LATER_US, 9)).calls[0].looks.count == 3
