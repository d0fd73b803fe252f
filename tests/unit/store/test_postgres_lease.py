"""A lease: renewed while its process lives, held for what takes long, lost for good once it has run out."""

import asyncio
from dataclasses import replace

import psycopg
import pytest

from interlock.testing.store_contract_shared import claimed
from interlock.testing.store_values import Values
from tests.postgres import Opens

pytestmark = pytest.mark.requirement("IDEM-5")


async def test_a_lease_is_renewed_before_it_runs_out(postgres_stores: Opens) -> None:
    store, values = await postgres_stores(lease_s=0.5), Values()
    claim = await claimed(store, intent=values.intent("k"))
    for _ in range(4):
        # Each renewal raises what remains.
        before = store.remaining_s(claim)
        async with asyncio.timeout(5):
            while store.remaining_s(claim) <= before:
                before = store.remaining_s(claim)
                await store.epoch()
    assert await store.settle(values.settlement(claim)) is not None


async def test_a_lease_is_made_longer_for_what_takes_longer(postgres_url: str, postgres_stores: Opens) -> None:
    store, values = await postgres_stores(lease_s=5), Values()
    claim = await claimed(store, intent=values.intent("k"))
    assert store.remaining_s(claim) <= 5
    assert await store.renew(claim, 60)
    assert 60 <= store.remaining_s(claim) <= 65
    with psycopg.connect(postgres_url) as admin:
        ((left,),) = admin.execute("SELECT extract(epoch FROM until - clock_timestamp()) FROM owners").fetchall()
    assert store.remaining_s(claim) <= left


async def test_a_lease_that_has_run_out_is_never_held_again(postgres_url: str, postgres_stores: Opens) -> None:
    store, values = await postgres_stores(), Values()
    claim = await claimed(store, intent=values.intent("k"))
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("UPDATE owners SET until = clock_timestamp()")
    assert not await store.renew(claim, 60)
    await store.append(values.event())
    assert not await store.renew(claim, 0.1)
    again = await claimed(store, intent=values.intent("j"))
    assert await store.renew(again, 1)


async def test_no_other_claim_is_held(postgres_stores: Opens) -> None:
    store, values = await postgres_stores(), Values()
    claim = await claimed(store, intent=values.intent("k"))
    assert store.remaining_s(claim) > 0
    assert store.remaining_s(replace(claim, tenant="globex")) == 0
    await store.settle(values.settlement(claim))
    assert store.remaining_s(claim) == 0
