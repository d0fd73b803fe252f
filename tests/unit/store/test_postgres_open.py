"""Opening: the schema, and the chain that a process writes."""

import asyncio

import psycopg
import pytest

from interlock.core.errors import StoreError, StoreNewer
from interlock.store.postgres import PostgresStore
from interlock.testing.store_values import Values
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
