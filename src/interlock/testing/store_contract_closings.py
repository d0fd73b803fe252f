"""The part of a store's contract about closings by two people: what one proposed is there for the other."""

# ruff: noqa: S101  (a contract is made of assertions)

from __future__ import annotations

from dataclasses import replace
from typing import Protocol, cast

from interlock.core.effect import CallEvent
from interlock.core.recovery import Closing
from interlock.ports import Closings, OpenCall
from interlock.testing.store_contract_shared import ContractTests, Store, claimed, verified
from interlock.testing.store_values import NOW_US, TENANT, Values

CLOSING = Closing("olga", happened=True, evidence="it lies in the outbox", at_us=NOW_US)


class ClosingStore(Store, Closings, Protocol):
    """A store that keeps what one person proposed."""


class ClosingContract(ContractTests):
    """Proposals to close calls whose outcome is unknown."""

    async def unknown(self, store: ClosingStore, values: Values) -> OpenCall:
        """A call that is unknown, as recovery finds it."""
        claim = await claimed(store, intent=values.intent("k"))
        await store.settle(values.settlement(claim, CallEvent.LOSE_OUTCOME))
        found = await store.find(TENANT, claim.operation_id)
        assert found is not None
        return found

    async def test_what_one_person_proposed_is_there_for_another(self, *, store: ClosingStore, values: Values) -> None:
        found = await self.unknown(store, values)
        assert await store.closings(TENANT) == {}
        assert await store.propose_closing(found, CLOSING, values.event()) is not None
        assert await store.closings(TENANT) == {found.operation.id: CLOSING}
        assert await store.closings("globex") == {}
        other = replace(CLOSING, by="otto", happened=False)
        assert await store.propose_closing(found, other, values.event()) is not None
        store = cast("ClosingStore", await self.after_crash(store))
        assert await store.closings(TENANT) == {found.operation.id: other}
        await verified(store)

    async def test_a_proposal_ends_with_what_it_was_made_about(self, *, store: ClosingStore, values: Values) -> None:
        found = await self.unknown(store, values)
        await store.propose_closing(found, CLOSING, values.event())
        taken = await store.take_over(found, values.event())
        assert taken is not None
        assert await store.closings(TENANT) == {}
        assert await store.propose_closing(found, CLOSING, values.event()) is None
        await store.settle(values.settlement(taken, CallEvent.LOSE_OUTCOME))
        assert await store.closings(TENANT) == {}
        again = await store.find(TENANT, found.operation.id)
        assert again is not None
        assert await store.propose_closing(again, CLOSING, values.event()) is not None
        await store.purge(NOW_US)
        assert len(await store.closings(TENANT)) == 1
