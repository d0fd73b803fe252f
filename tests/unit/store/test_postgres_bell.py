"""Processes tell each other what they let go of; what is no word of theirs is not heard."""

import asyncio
from dataclasses import replace

import psycopg
import pytest

from interlock.core.budget import Amounts, Limit, Reservation, ScopeKey, ScopeKind, Unit
from interlock.ports import Intent
from interlock.store.postgres_calls import CROWD
from interlock.testing.store_contract_shared import claimed
from interlock.testing.store_values import SCOPE, Values
from tests.postgres import Opens

pytestmark = pytest.mark.requirement("SCALE-2")


def limited(values: Values, unit: Unit = Unit.CONCURRENT, amount: int = 5, scope: ScopeKey = SCOPE) -> Intent:
    """A call of a scope with a limit."""
    limit = Limit(ScopeKind.RUN, unit, amount)
    return replace(values.intent(), reservations=(Reservation(scope, Amounts(calls=1, concurrent=1), (limit,)),))


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
        claim = await claimed(working, intent=limited(values))
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
    claim = await claimed(working, intent=limited(values))
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
    again = await claimed(working, intent=limited(values))
    await working.settle(values.settlement(again))
    assert await asyncio.wait_for(heard.get(), 10) == SCOPE
    assert heard.empty()
    assert own == []


@pytest.mark.parametrize(("unit", "amount"), [(Unit.CALLS, 50), (Unit.CONCURRENT, CROWD)])
async def test_nobody_hears_of_what_nobody_waits_for(postgres_stores: Opens, unit: Unit, amount: int) -> None:
    waiting, working, values = await postgres_stores(), await postgres_stores(), Values()
    heard: asyncio.Queue[ScopeKey] = asyncio.Queue()
    waiting.wake_with(heard.put_nowait)
    working.wake_with(lambda _: None)
    bell = waiting._writer.bell
    assert bell is not None
    await asyncio.wait_for(bell.is_listening.wait(), 10)
    later = SCOPE._replace(id=f"{SCOPE.id}-later")  # what is told at once is told in order
    for intent in (limited(values, unit, amount), limited(values, scope=later)):
        await working.settle(values.settlement(await claimed(working, intent=intent)))
    assert await asyncio.wait_for(heard.get(), 10) == later
