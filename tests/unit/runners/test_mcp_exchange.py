"""What is known of a call is known to whatever writes for it, and all of it is let go of at its end."""

import asyncio
from contextvars import copy_context

import pytest

from interlock.runners.exchange import NoAnswer
from interlock.runners.mcp_exchange import GivenUp, McpExchange, current, entered


async def test_the_first_reason_is_kept() -> None:
    exchange = McpExchange(1_000)
    exchange.broke(NoAnswer("one"))
    exchange.broke(NoAnswer("two"))
    assert exchange.fault == NoAnswer("one")


async def test_a_task_that_is_given_the_callers_context_finds_the_exchange() -> None:
    exchange = McpExchange(1_000)
    with entered(exchange):
        context = copy_context()
    assert current() is None
    assert context.run(current) is exchange


async def test_what_still_waits_for_an_exchange_that_is_over_stops() -> None:
    exchange = McpExchange(1_000)
    waiting = asyncio.ensure_future(exchange.within(asyncio.Event().wait()))
    await asyncio.to_thread(lambda: None)
    exchange.give_up()
    with pytest.raises(GivenUp):
        await waiting
    with pytest.raises(GivenUp):
        await exchange.within(asyncio.Event().wait())


async def test_a_wait_may_be_bounded() -> None:
    with pytest.raises(TimeoutError):
        await McpExchange(1_000).within(asyncio.Event().wait(), seconds=0.01)
