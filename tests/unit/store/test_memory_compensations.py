"""Plans in memory by themselves; their behaviour is the contract's."""

from interlock.ports import Effects
from interlock.store.memory import MemoryStore
from interlock.testing.store_contract_compensation import begins, plan_of
from interlock.testing.store_values import TENANT, Values


async def test_a_plan_of_an_operation_that_is_not_there_is_kept_all_the_same() -> None:
    store, values = MemoryStore(), Values()
    plan = plan_of("gone")
    assert await store.write_plan(begins(values, plan, ("gone", b"{}"))) is not None
    assert await store.plan(TENANT, plan.id) == plan
    assert await store.effects(Effects(TENANT, operations=("gone",))) == ()
