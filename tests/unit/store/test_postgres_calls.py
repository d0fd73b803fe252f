"""Claims of several processes: fences that only rise, and leases without which nothing is written."""

import asyncio
from dataclasses import replace

import psycopg
import pytest

from interlock.core.budget import NOTHING
from interlock.core.effect import CallEvent, CallState
from interlock.ports import Claim
from interlock.testing.store_contract_shared import claimed, verified
from interlock.testing.store_values import SCOPE, TENANT, Values
from tests.postgres import Opens


def end_leases(url: str) -> None:
    """As if every process had stood still for longer than its lease lasts."""
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("UPDATE owners SET until = clock_timestamp()")


@pytest.mark.requirement("IDEM-5")
async def test_the_fences_of_a_key_never_go_back(postgres_stores: Opens) -> None:
    store, values, fences = await postgres_stores(), Values(), []
    for what in (CallEvent.PROVE_NOTHING_HAPPENED, CallEvent.LOSE_OUTCOME):
        claim = await claimed(store, intent=values.intent("k"))
        await store.settle(values.settlement(claim, what))
        fences.append(claim.fence)
    again = await claimed(store, intent=replace(values.intent("k"), continues=claim.operation_id))
    await store.settle(values.settlement(again, CallEvent.PROVE_NOTHING_HAPPENED))
    last = await claimed(store, intent=values.intent("k"))
    fences += [again.fence, last.fence]
    assert fences == sorted(set(fences))
    found = await store.find(TENANT, last.operation_id)
    assert found is not None
    assert not found.taken_over


@pytest.mark.requirement("IDEM-5", "BUD-2")
async def test_a_process_whose_lease_has_run_out_settles_nothing_and_its_calls_are_taken_over(
    postgres_url: str, postgres_stores: Opens
) -> None:
    late, other, values = await postgres_stores("late"), await postgres_stores("other"), Values()
    claim = await claimed(late, intent=values.intent("k"))
    end_leases(postgres_url)
    assert await late.settle(values.settlement(claim)) is None
    assert late.remaining_s(claim) == 0
    (found,) = await other.open_calls()
    assert found.orphaned
    taken = await other.take_over(found, values.event())
    assert taken == replace(claim, fence=claim.fence + 1)
    assert await late.settle(values.settlement(claim)) is None
    assert await other.settle(values.settlement(taken, CallEvent.PROVE_NOTHING_HAPPENED)) is not None
    assert dict(await other.usage(TENANT))[SCOPE].held == NOTHING
    await verified(other)


@pytest.mark.requirement("IDEM-5")
async def test_work_that_ends_after_the_lease_is_recorded_and_gives_nothing_back(
    postgres_url: str, postgres_stores: Opens
) -> None:
    store, values = await postgres_stores(), Values()
    claim = await claimed(store, intent=values.intent("k"))
    await store.settle(replace(values.settlement(claim, CallEvent.LOSE_OUTCOME), goes_on=True))
    end_leases(postgres_url)
    assert [each.orphaned for each in await store.open_calls()] == [True]
    assert (await store.work_ended(claim, values.event())).sequence > 0


async def test_a_lease_that_was_never_set_is_over(postgres_url: str, postgres_stores: Opens) -> None:
    first, second, values = await postgres_stores("first"), await postgres_stores("second"), Values()
    await claimed(first, intent=values.intent("k"))
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("UPDATE owners SET until = NULL")
    (found,) = await second.open_calls()
    assert found.orphaned
    assert await second.take_over(found, values.event()) is not None


@pytest.mark.requirement("IDEM-3", "BUD-2")
async def test_of_claims_of_one_key_in_several_processes_one_wins(postgres_stores: Opens) -> None:
    stores = [await postgres_stores() for _ in range(3)]
    values = Values()
    claims = [store.claim(values.intent("k", limit=40)) for store in stores * 16]
    assert sum(isinstance(answer, Claim) for answer in await asyncio.gather(*claims)) == 1
    fitting = [store.claim(values.intent(limit=10)) for store in stores * 16]
    assert sum(isinstance(answer, Claim) for answer in await asyncio.gather(*fitting)) == 9
    assert {each.state for each in await stores[0].open_calls()} == {CallState.CLAIMED}
    assert len(await verified(stores[0])) == len({head.chain for head in await stores[0].heads()})
