"""Opening: the schema, and the chain that a process writes."""

import asyncio

import psycopg
import pytest

from interlock.core.effect import CallEvent
from interlock.core.errors import StoreError, StoreNewer
from interlock.ports import NotClaimed
from interlock.store.postgres import PostgresStore
from interlock.store.postgres_rows import place_of, write_head
from interlock.store.queries import POSTGRES, migrations
from interlock.testing.store_contract_shared import claimed, verified
from interlock.testing.store_values import TENANT, Values
from tests.postgres import Opens


@pytest.mark.requirement("AUD-2")
async def test_each_process_writes_a_chain_of_its_own_and_a_free_one_is_taken_up_again(postgres_stores: Opens) -> None:
    values = Values()
    first, second = await asyncio.gather(postgres_stores(), postgres_stores())
    for store in (first, second):
        await store.append(values.event())
    await first.close()
    third = await postgres_stores()
    receipts = [await store.append(values.event()) for store in (second, third)]
    assert sorted((each.chain, each.sequence) for each in receipts) == [("main", 2), ("main.2", 2)]


@pytest.mark.parametrize("version", [1, 6, 9, 10])
async def test_a_database_of_an_older_interlock_is_brought_over_with_what_it_holds(
    postgres_url: str, postgres_stores: Opens, version: int
) -> None:
    values = Values()
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("CREATE TABLE interlock_schema (version integer PRIMARY KEY)")
        for number, script in enumerate(migrations(POSTGRES)[:version], 1):
            admin.execute(script.encode())
            admin.execute("INSERT INTO interlock_schema VALUES (%s)", (number,))
        admin.execute(
            "INSERT INTO calls (place, tenant, id, state, fence, taken_over, owner, at_us, until_us, key_place, "
            "holds_key, task, head, operation_sealed) "
            "VALUES (%s, %s, 'old', 'succeeded', 3, false, 1, 0, 4e18, %s, true, 't', %s, '')",
            (place_of(TENANT, "old"), TENANT, place_of(TENANT, "k"), write_head(values.intent("k").operation)),
        )
    store = await postgres_stores()
    for _ in range(2):
        claim = await claimed(store, intent=values.intent("new", run=None))
        await store.settle(values.settlement(claim, CallEvent.PROVE_NOTHING_HAPPENED))
    assert await store.claim(values.intent("k", run=None)) is NotClaimed.KEY
    found = await store.find(TENANT, "old")
    assert found is not None
    assert found.fence == 3
    await verified(store)


async def test_a_database_of_a_newer_interlock_is_refused(postgres_url: str, postgres_stores: Opens) -> None:
    await (await postgres_stores()).close()
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("INSERT INTO interlock_schema VALUES (99)")
    with pytest.raises(StoreNewer, match="version 99"):
        await postgres_stores()


async def test_a_database_with_tables_of_another_program_is_refused(postgres_url: str, postgres_stores: Opens) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("CREATE TABLE calls (number text)")
    with pytest.raises(StoreError, match="another program"):
        await postgres_stores()


async def test_where_nobody_listens_the_fault_says_where_and_tells_no_password() -> None:
    with pytest.raises(StoreError, match=r"postgresql://127\.0\.0\.1:1/orders cannot be used") as fault:
        await PostgresStore.open("postgresql://alice:s3cret@127.0.0.1:1/orders", chain="main")
    assert "s3cret" not in str(fault.value)
