"""A server of either era is heard where it says that its list of tools has changed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

pytest.importorskip("mcp", reason="MCP tools need an extra: pip install 'interlock[mcp]'")

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.memory import create_client_server_memory_streams

from interlock.runners.mcp_session import Session
from tests.execution import passing

pytestmark = pytest.mark.requirement("REG-9")


async def no_tools(_: Any, __: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[])


@asynccontextmanager
async def session_with(server: Server[Any]) -> AsyncIterator[Session]:
    """A session with a server of the official library in this process, of the newer era."""

    @asynccontextmanager
    async def opening(lost: asyncio.Event) -> AsyncIterator[tuple[Any, Any]]:
        async with create_client_server_memory_streams() as (client, (read, write)):
            task = asyncio.create_task(server.run(read, write, server.create_initialization_options()))
            task.add_done_callback(lambda _: lost.set())
            yield client
            task.cancel()
            await asyncio.wait((task,))

    session = Session(opening, bytes_max=100_000)
    await session.there()
    assert session.about.protocol > "2026"
    yield session
    await session.close()


async def until(session: Session, version: int) -> None:
    while session.list_version < version:
        await passing(0.01)


async def test_one_that_agrees_to_say_it_is_heard_each_time_and_when_it_says_no_more() -> None:
    bus = InMemorySubscriptionBus()
    handler = ListenHandler(bus)
    async with session_with(Server("one", on_list_tools=no_tools, on_subscriptions_listen=handler)) as session:
        assert await session.is_told()
        assert session.list_version == 0
        for version in (1, 2):
            await bus.publish(ToolsListChanged())
            await until(session, version)
        assert await session.is_told()
        handler.close()
        await until(session, 3)  # it says no more, so what it lists is not known any more


async def test_one_that_does_not_is_known_not_to() -> None:
    async with session_with(Server("one", on_list_tools=no_tools)) as session:
        assert not await session.is_told()
        assert not await session.is_told()


async def test_one_that_refuses_is_asked_once() -> None:
    asked: list[str] = []

    async def refuses(_: Any, __: Any) -> Any:
        asked.append("listen")
        raise RuntimeError("no")

    async with session_with(Server("one", on_list_tools=no_tools, on_subscriptions_listen=refuses)) as session:
        assert [await session.is_told(), await session.is_told()] == [False, False]
    assert asked == ["listen"]


async def test_who_did_not_wait_for_its_word_does_not_make_it_given() -> None:
    given = asyncio.Event()
    inner = ListenHandler(InMemorySubscriptionBus())

    async def hesitates(context: Any, params: Any) -> Any:
        await given.wait()
        return await inner(context, params)

    async with session_with(Server("one", on_list_tools=no_tools, on_subscriptions_listen=hesitates)) as session:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(session.is_told(), 0.05)
        second = asyncio.create_task(session.is_told())
        await passing(0.05)
        assert not second.done()
        given.set()
        assert await second
