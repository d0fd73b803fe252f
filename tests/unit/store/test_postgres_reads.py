"""Reads: many looks in one trip, a lost connection, and no connection at all."""

import asyncio

import psycopg
import pytest

from interlock.core.errors import StoreError
from interlock.store import postgres_reads
from interlock.testing.store_contract_shared import claimed
from interlock.testing.store_values import Values
from tests.postgres import Opens


async def test_looks_that_wait_together_are_each_answered_with_their_own(postgres_stores: Opens) -> None:
    store, values = await postgres_stores(), Values()
    await claimed(store, intent=values.intent("k1"))
    seen = await asyncio.gather(*[store.look(values.look(f"k{number}")) for number in range(8)])
    assert [each.prior is not None for each in seen] == [number == 1 for number in range(8)]


async def test_a_read_survives_the_loss_of_its_connection(postgres_url: str, postgres_stores: Opens) -> None:
    store = await postgres_stores()
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
    assert await store.epoch() == 0


async def test_where_every_connection_is_busy_a_read_is_answered_and_not_hung(
    monkeypatch: pytest.MonkeyPatch, postgres_stores: Opens
) -> None:
    monkeypatch.setattr(postgres_reads, "FREE_WITHIN_S", 0.2)
    store, go_on = await postgres_stores(), asyncio.Event()

    busy = asyncio.Semaphore(0)

    async def hold(_: object) -> None:
        busy.release()
        await go_on.wait()

    holding = [asyncio.create_task(store._reader.on_line(hold)) for _ in range(postgres_reads.LINES_MAX)]
    for _ in holding:
        await busy.acquire()
    with pytest.raises(StoreError, match="busy"):
        await store.epoch()
    go_on.set()
    await asyncio.gather(*holding)
    assert await store.epoch() == 0
