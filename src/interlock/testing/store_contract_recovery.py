"""The part of a store's contract about recovery: what a dead process leaves is found, taken over once, and settled."""

# ruff: noqa: S101  (a contract is made of assertions)

from __future__ import annotations

import asyncio
from dataclasses import replace

from interlock.core.budget import NOTHING, Amounts, Usage
from interlock.core.effect import CallEvent, CallState
from interlock.ports import Claim, NotClaimed
from interlock.testing.store_contract_shared import ContractTests, Store, claimed, verified
from interlock.testing.store_values import NOW_US, TENANT, Values


class RecoveryContract(ContractTests):
    """Calls whose process died, or whose outcome is unknown."""

    async def test_open_calls_are_listed_oldest_first(self, *, store: Store, values: Values) -> None:
        late, early, ended = values.intent(), replace(values.intent(), at_us=NOW_US - 1), values.intent()
        claims = [await claimed(store, intent=intent) for intent in (late, early, ended)]
        await store.settle(values.settlement(claims[2]))
        await store.settle(values.settlement(claims[1], CallEvent.LOSE_OUTCOME))
        found = await store.open_calls()
        assert [(each.operation, each.state) for each in found] == [
            (early.operation, CallState.UNKNOWN),
            (late.operation, CallState.CLAIMED),
        ]
        assert [each.orphaned for each in found] == [True, False]
        assert await store.open_calls(TENANT) == found
        assert await store.open_calls("globex") == ()

    async def test_the_claim_of_a_living_process_is_not_taken_over(self, *, store: Store, values: Values) -> None:
        await claimed(store, intent=values.intent())
        (found,) = await store.open_calls()
        assert await store.take_over(found, values.event()) is None
        assert await store.take_over(replace(found, orphaned=True), values.event()) is None

    async def test_an_orphaned_claim_is_taken_over_once_and_settled_without_a_leak(
        self, *, store: Store, values: Values
    ) -> None:
        first = await claimed(store, intent=values.intent("k"))
        store = await self.after_crash(store)
        (found,) = await store.open_calls()
        assert (found.operation.id, found.state, found.orphaned) == (first.operation_id, CallState.CLAIMED, True)
        assert await store.claim(values.intent("k")) is not None
        takers = [store.take_over(found, values.event()) for _ in range(5)]
        (second,) = [claim for claim in await asyncio.gather(*takers) if claim is not None]
        assert second == Claim(first.operation_id, TENANT, first.fence + 1)
        assert await store.settle(values.settlement(first)) is None
        assert await store.settle(values.settlement(second)) is not None
        assert (await store.look(values.look())).usage == (Usage(Amounts(calls=1), NOTHING),)
        assert await store.open_calls() == ()
        await verified(store)

    async def test_an_unknown_call_is_taken_over_with_its_observation(self, *, store: Store, values: Values) -> None:
        claim = await claimed(store, intent=values.intent("k"))
        settlement = values.settlement(claim, CallEvent.LOSE_OUTCOME)
        await store.settle(settlement)
        (found,) = await store.open_calls()
        assert (found.state, found.observation) == (CallState.UNKNOWN, settlement.observation)
        taken = await store.take_over(found, values.event())
        assert taken == replace(claim, fence=claim.fence + 1)
        assert await store.take_over(found, values.event()) is None

    async def test_an_unknown_call_at_which_work_goes_on_belongs_to_its_process_until_that_has_ended(
        self, *, store: Store, values: Values
    ) -> None:
        claim = await claimed(store, intent=values.intent("k"))
        await store.settle(replace(values.settlement(claim, CallEvent.LOSE_OUTCOME), goes_on=True))
        again = replace(values.intent("k"), continues=claim.operation_id)
        assert await store.claim(again) is NotClaimed.KEY
        await store.work_ended(replace(claim, fence=claim.fence + 1), values.event())
        (found,) = await store.open_calls()
        prior = (await store.look(values.look("k"))).prior
        assert prior is not None
        assert (found.orphaned, prior.goes_on) == (False, True)
        assert (await store.work_ended(claim, values.event())).sequence == 4
        (found,) = await store.open_calls()
        prior = (await store.look(values.look("k"))).prior
        assert prior is not None
        assert (found.orphaned, prior.goes_on) == (True, False)
        assert isinstance(await store.claim(again), Claim)

    async def test_a_read_in_memory_leaves_nothing_behind_that_nobody_releases(
        self, *, store: Store, values: Values
    ) -> None:
        await claimed(store, intent=values.read())
        store = await self.after_crash(store)
        for found in await store.open_calls():
            taken = await store.take_over(found, values.event())
            assert taken is not None
            await store.settle(values.settlement(taken, CallEvent.PROVE_NOTHING_HAPPENED))
        assert Usage.read((await store.look(values.look())).usage[0]).held == NOTHING

    async def test_everything_that_was_answered_is_still_there(self, *, store: Store, values: Values) -> None:
        asking = values.asking("a")
        await store.ask(asking)
        epoch = await store.publish((values.registered("save"),), values.event())
        claim = await claimed(store, intent=replace(values.intent("k"), epoch=epoch))
        await store.settle(values.settlement(claim))
        before = (await store.look(values.look("k")), await store.versions(), await store.heads())
        store = await self.after_crash(store)
        assert (await store.look(values.look("k")), await store.versions(), await store.heads()) == before
        assert await store.approval(TENANT, asking.approval.id) == (asking.approval, asking.operation)
        assert await store.epoch() == epoch

    async def test_what_is_not_there_is_not_found(self, *, store: Store, values: Values) -> None:
        claim = await claimed(store, intent=values.intent())
        assert await store.find(TENANT, "none") is None
        assert await store.find("globex", claim.operation_id) is None
