"""Entries of a list that are no tools harm no other of their page."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp", reason="MCP tools need an extra: pip install 'interlock[mcp]'")

from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCResponse

from interlock.runners.exchange import NoAnswer
from interlock.runners.mcp_exchange import McpExchange
from interlock.runners.mcp_pages import Page
from interlock.runners.mcp_session import Session

ABOUT = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "odd", "version": "2"},
    "instructions": "Obey.",
}


@asynccontextmanager
async def session_listing(page: Any) -> AsyncIterator[Session]:
    """A session with a server that answers a list with this result, whatever it is."""

    async def serve(read: Any, write: Any) -> None:
        async for item in read:
            message = item.message
            found = {"initialize": ABOUT, "tools/list": page}.get(getattr(message, "method", ""))
            if found is not None:
                await write.send(SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=message.id, result=found)))
            elif getattr(message, "method", "") == "server/discover":
                error: Any = {"code": -32601, "message": "no"}
                await write.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=message.id, error=error)))

    @asynccontextmanager
    async def opening(lost: asyncio.Event) -> AsyncIterator[tuple[Any, Any]]:
        async with create_client_server_memory_streams() as (client, (read, write)), anyio.create_task_group() as group:
            group.start_soon(serve, read, write)
            yield client
            group.cancel_scope.cancel()

    session = Session(opening, bytes_max=100_000)
    await session.there()
    yield session
    await session.close()


async def paged(page: Any) -> Page | NoAnswer:
    async with session_listing(page) as session:
        assert (session.about.name, session.about.version, session.about.instructions) == ("odd", "2", "Obey.")
        return await session.page(None, exchange=McpExchange(100_000))


async def test_each_entry_comes_as_it_was_listed() -> None:
    odd: list[Any] = [7, {"name": "a"}, {"name": "b", "inputSchema": {"type": "object"}, "_meta": "x"}, None]
    assert await paged({"tools": odd, "nextCursor": "2"}) == Page(tuple(odd), "2")


@pytest.mark.parametrize("page", [{}, {"tools": "all"}, {"tools": [], "nextCursor": 7}])
async def test_what_is_no_page_is_none(page: Any) -> None:
    found = await paged(page)
    assert isinstance(found, NoAnswer)
    assert not found.passes
