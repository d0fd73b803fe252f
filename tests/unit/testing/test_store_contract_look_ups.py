"""The contract notices stores that count a look-up twice, or forget the fence."""

import pytest

from interlock.core.chain import Receipt
from interlock.core.journal import Event
from interlock.core.recovery import Looks
from interlock.ports import Due, OpenCall
from interlock.store.memory import MemoryStore
from interlock.testing.store_contract_look_ups import LookUpContract
from interlock.testing.store_contract_shared import Store
from interlock.testing.store_values import Values


class CountsForAll(MemoryStore):
    async def note_looks(self, call: OpenCall, looks: Looks, event: Event) -> Receipt | None:
        await super().note_looks(call, looks, event)
        return await self.append(event)


class AlwaysDue(MemoryStore):
    async def due(self, at_us: int, limit: int) -> Due:
        return await super().due(2**62, limit)


class ForgetsTheFence(MemoryStore):
    def _looks_of(self, call: object) -> Looks:
        return next(iter(self._looks.values()), (0, Looks()))[1]


class Forgets(LookUpContract):
    async def after_crash(self, store: Store) -> Store:
        assert isinstance(store, MemoryStore)
        store.abandon()
        return store


@pytest.mark.parametrize(
    ("broken", "test"),
    [
        (CountsForAll, "test_of_those_that_count_a_look_up_at_once_one_does"),
        (CountsForAll, "test_what_somebody_is_at_work_on_is_neither_due_nor_looked_up"),
        (AlwaysDue, "test_an_unknown_call_is_due_at_its_time"),
        (ForgetsTheFence, "test_a_call_that_was_repeated_since_counts_anew"),
    ],
)
async def test_a_store_that_breaks_it_fails(broken: type[MemoryStore], test: str) -> None:
    with pytest.raises((AssertionError, ValueError)):
        await getattr(Forgets(), test)(store=broken(), values=Values())
    await getattr(Forgets(), test)(store=MemoryStore(), values=Values())
