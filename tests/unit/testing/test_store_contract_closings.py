"""The contract notices stores that keep a proposal for ever, or keep the first of two."""

from collections.abc import Mapping

import pytest

from interlock.core.chain import Receipt
from interlock.core.journal import Event
from interlock.core.recovery import Closing
from interlock.ports import OpenCall
from interlock.store.memory import MemoryStore
from interlock.testing.store_contract_closings import ClosingContract
from interlock.testing.store_contract_shared import Store
from interlock.testing.store_values import Values


class KeepsForEver(MemoryStore):
    async def closings(self, tenant: str) -> Mapping[str, Closing]:
        return {place[1]: closing for place, (_, closing) in self._closings.items() if place[0] == tenant}


class KeepsTheFirst(MemoryStore):
    async def propose_closing(self, call: OpenCall, closing: Closing, event: Event) -> Receipt | None:
        first = (await self.closings(call.operation.tenant)).get(call.operation.id, closing)
        return await super().propose_closing(call, first, event)


class Lives(ClosingContract):
    async def after_crash(self, store: Store) -> Store:
        return store


@pytest.mark.parametrize(
    ("broken", "test"),
    [
        (KeepsForEver, "test_a_proposal_ends_with_what_it_was_made_about"),
        (KeepsTheFirst, "test_what_one_person_proposed_is_there_for_another"),
    ],
)
async def test_a_store_that_breaks_it_fails(broken: type[MemoryStore], test: str) -> None:
    with pytest.raises(AssertionError):
        await getattr(Lives(), test)(store=broken(), values=Values())
    await getattr(Lives(), test)(store=MemoryStore(), values=Values())
