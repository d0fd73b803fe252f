"""Plans of several processes: an operation is in one of them."""

import asyncio

import pytest

from interlock.ports import Effects
from interlock.testing.store_contract_shared import claimed
from interlock.testing.store_values import RUN, TENANT, Values
from tests.postgres import Opens


@pytest.mark.requirement("IDEM-6")
async def test_effects_of_a_run_are_found_the_last_first(postgres_stores: Opens) -> None:
    store, values = await postgres_stores(), Values()
    claims = [await claimed(store, intent=values.intent(f"k{number}")) for number in range(3)]
    await claimed(store, intent=values.intent())
    await asyncio.gather(*[store.settle(values.settlement(each)) for each in claims[:2]])
    found = await store.effects(Effects(TENANT, run=RUN))
    assert [each.call.operation.id for each in found] == [claims[at].operation_id for at in (2, 1, 0)]
    (one,) = await store.effects(Effects(TENANT, operations=(claims[1].operation_id, "none")))
    assert (one.call.operation.id, one.plan) == (claims[1].operation_id, None)
    assert await store.effects(Effects("globex", run=RUN)) == ()
