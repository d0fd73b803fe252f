"""The contract notices stores that begin a plan twice, forget who was first, or tell nobody."""

from dataclasses import replace

import pytest

from interlock.core.chain import Receipt
from interlock.core.compensation_plan import CompensationPlan
from interlock.ports import EffectCall, Effects, PlanChange
from interlock.store.memory import MemoryStore
from interlock.testing.store_contract_compensation import CompensationContract
from interlock.testing.store_contract_shared import Store
from interlock.testing.store_values import Values


class BeginsTwice(MemoryStore):
    async def write_plan(self, change: PlanChange) -> Receipt | None:
        self._planned.clear()
        return await super().write_plan(change)


class ForgetsWhoWasFirst(MemoryStore):
    async def write_plan(self, change: PlanChange) -> Receipt | None:
        stored = self._plans.get((change.changed.tenant, change.changed.id))
        if stored is not None and change.expected is not None:
            changed = replace(change.changed, version=stored.version + 1)
            change = replace(change, expected=stored, changed=changed)
        return await super().write_plan(change)


class TellsNobody(MemoryStore):
    async def write_plan(self, change: PlanChange) -> Receipt | None:
        return await super().write_plan(replace(change, restated=()))


class ForwardsOnly(MemoryStore):
    async def effects(self, wanted: Effects) -> tuple[EffectCall, ...]:
        return tuple(reversed(await super().effects(wanted)))


class GoesOnForEver(MemoryStore):
    async def plans(self, tenant: str | None, *, going_on: bool = False) -> tuple[CompensationPlan, ...]:
        return await super().plans(tenant)


class Remembers(CompensationContract):
    async def after_crash(self, store: Store) -> Store:
        assert isinstance(store, MemoryStore)
        store.abandon()
        return store


@pytest.mark.parametrize(
    ("broken", "test"),
    [
        (BeginsTwice, "test_a_plan_takes_its_operations_once"),
        (ForgetsWhoWasFirst, "test_of_those_that_change_a_plan_at_once_one_does"),
        (TellsNobody, "test_what_is_told_of_an_effect_changes_with_its_plan"),
        (ForwardsOnly, "test_effects_that_were_done_or_may_have_been_come_last_first"),
        (GoesOnForEver, "test_plans_that_go_on_are_those_that_run_or_wait"),
    ],
)
async def test_a_store_that_breaks_it_fails(broken: type[MemoryStore], test: str) -> None:
    with pytest.raises((AssertionError, ValueError)):
        await getattr(Remembers(), test)(store=broken(), values=Values())
    await getattr(Remembers(), test)(store=MemoryStore(), values=Values())
