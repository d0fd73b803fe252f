"""Processes tell each other what they let go of; what is no word of theirs is not heard."""

import asyncio

import psycopg
import pytest

from interlock.core.budget import ScopeKey
from interlock.testing.store_contract_shared import claimed
from interlock.testing.store_values import SCOPE, Values
from tests.postgres import Opens

pytestmark = pytest.mark.requirement("SCALE-2")


async def test_who_only_waits_listens_again_once_its_connection_was_lost(
    postgres_url: str, postgres_stores: Opens
) -> None:
    waiting, values = await postgres_stores(), Values()
    heard: asyncio.Queue[ScopeKey] = asyncio.Queue()
    waiting.wake_with(heard.put_nowait)
    bell = waiting._writer.bell
    assert bell is not None
    async with asyncio.timeout(20):
        await bell.is_listening.wait()
        bell.is_listening.clear()
        with psycopg.connect(postgres_url, autocommit=True) as admin:
            admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
        await bell.is_listening.wait()
        working = await postgres_stores()
        working.wake_with(lambda _: None)
        claim = await claimed(working, intent=values.intent(limit=5))
        await working.settle(values.settlement(claim))
        assert await heard.get() == SCOPE


async def test_who_waits_hears_what_another_process_lets_go_of(postgres_url: str, postgres_stores: Opens) -> None:
    waiting, working, values = await postgres_stores(), await postgres_stores(), Values()
    heard: asyncio.Queue[ScopeKey] = asyncio.Queue()
    own: list[ScopeKey] = []
    waiting.wake_with(heard.put_nowait)
    working.wake_with(own.append)
    free = await claimed(working, intent=values.intent())
    await working.settle(values.settlement(free))
    claim = await claimed(working, intent=values.intent(limit=5))
    bell = waiting._writer.bell
    assert bell is not None
    async with asyncio.timeout(10):
        await bell.is_listening.wait()
    await working.settle(values.settlement(claim))
    assert await asyncio.wait_for(heard.get(), 10) == SCOPE
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("SELECT pg_notify('interlock', 'nonsense')")
        admin.execute("SELECT pg_notify('interlock', '[[1], 2]')")
        admin.execute("SELECT pg_notify('interlock', '3')")
    again = await claimed(working, intent=values.intent(limit=5))
    await working.settle(values.settlement(again))
    assert await asyncio.wait_for(heard.get(), 10) == SCOPE
    assert heard.empty()
    assert own == []
