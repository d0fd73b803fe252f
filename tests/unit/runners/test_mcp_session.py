"""A session speaks both eras, offers a server nothing, and tells how a call ended."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

pytest.importorskip("mcp", reason="MCP tools need an extra: pip install 'interlock[mcp]'")

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.memory import create_client_server_memory_streams

from interlock.core.mcp_answer import Refused, Said
from interlock.runners.exchange import NoAnswer
from interlock.runners.mcp_exchange import McpExchange
from interlock.runners.mcp_session import Illegible, Session

CallTool = Callable[[Any, types.CallToolRequestParams], Awaitable[Any]]


@asynccontextmanager
async def session_with(call_tool: CallTool) -> AsyncIterator[Session]:
    """A session with a server of the official library in this process."""
    server: Server[Any] = Server("one", on_call_tool=call_tool)

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
    yield session
    await session.close()


async def called(call_tool: CallTool) -> Said | Refused | Illegible | NoAnswer:
    async with session_with(call_tool) as session:
        return await session.call("act", {"a": 1}, meta={"traceparent": "00-1"}, exchange=McpExchange(100_000))


async def test_a_result_comes_as_it_was_said() -> None:
    async def says(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        meta: Any = params.meta
        return types.CallToolResult(content=[], structured_content={**(params.arguments or {}), **dict(meta)})

    found = await called(says)
    assert isinstance(found, Said)
    shown: Any = found.result["structuredContent"]
    assert (shown["a"], shown["traceparent"]) == (1, "00-1")


async def test_an_error_of_the_protocol_comes_by_its_code() -> None:
    async def refuses(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        raise MCPError(-31_999, "no")

    assert await called(refuses) == Refused(-31_999)


async def test_an_error_with_the_code_that_the_library_has_for_a_lost_connection_is_the_servers() -> None:
    async def refuses(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        raise MCPError(types.CONNECTION_CLOSED, "busy")

    assert await called(refuses) == Refused(types.CONNECTION_CLOSED)


@pytest.mark.requirement("TOOL-6")
async def test_what_a_server_asks_for_is_declined() -> None:
    declined: list[int] = []

    async def asks(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        for ask in (ctx.session.list_roots, lambda: ctx.session.elicit_form("Name?", {"type": "object"})):
            try:
                await ask()
            except MCPError as fault:
                declined.append(fault.code)
            except Exception:  # noqa: BLE001 - the library may know before it asks that it would be declined
                declined.append(0)
        return types.CallToolResult(content=[])

    assert isinstance(await called(asks), Said)
    assert len(declined) == 2


async def test_a_call_that_is_cancelled_is_cancelled_at_the_server_too() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def hangs(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    async with session_with(hangs) as session:
        work = asyncio.ensure_future(session.call("act", {}, meta={}, exchange=McpExchange(1_000)))
        await begun.wait()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        await asyncio.wait_for(ended.wait(), 5)


async def test_a_session_that_ends_says_so_to_whoever_waits_in_it() -> None:
    begun = asyncio.Event()

    async def hangs(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with session_with(hangs) as session:
        work = asyncio.ensure_future(session.call("act", {}, meta={}, exchange=McpExchange(1_000)))
        await begun.wait()
        await session.close()
        assert isinstance(await work, NoAnswer)
        assert session.is_over
