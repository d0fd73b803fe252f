"""The contract notices stores that take over from the living, or twice."""

import pytest

from interlock.core.journal import Event
from interlock.ports import Claim, OpenCall
from interlock.store.memory import MemoryStore
from interlock.testing.store_contract_recovery import RecoveryContract
from interlock.testing.store_contract_shared import Store
from interlock.testing.store_values import Values


class TakesFromTheLiving(MemoryStore):
    async def take_over(self, found: OpenCall, event: Event) -> Claim | None:
        self.abandon()
        return await super().take_over(found, event)


class TakesTwice(MemoryStore):
    async def take_over(self, found: OpenCall, event: Event) -> Claim | None:
        await super().take_over(found, event)
        return Claim(found.operation.id, found.operation.tenant, found.fence + 1)


class Recovering(RecoveryContract):
    async def after_crash(self, store: Store) -> Store:
        assert isinstance(store, MemoryStore)
        store.abandon()
        return store


@pytest.mark.parametrize(
    ("broken", "test"),
    [
        (TakesFromTheLiving, "test_the_claim_of_a_living_process_is_not_taken_over"),
        (TakesTwice, "test_an_unknown_call_is_taken_over_with_its_observation"),
        (TakesTwice, "test_an_orphaned_claim_is_taken_over_once_and_settled_without_a_leak"),
    ],
)
async def test_a_store_that_breaks_it_fails(broken: type[MemoryStore], test: str) -> None:
    with pytest.raises((AssertionError, ValueError)):
        await getattr(Recovering(), test)(store=broken(), values=Values())
    await getattr(Recovering(), test)(store=MemoryStore(), values=Values())
