"""Sessions are shared by those who may share one, opened again when they are over, and bounded."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

pytest.importorskip("mcp", reason="MCP tools need an extra: pip install 'interlock[mcp]'")

from mcp.server.lowlevel import Server
from mcp.shared.memory import create_client_server_memory_streams

from interlock.runners.exchange import NoAnswer
from interlock.runners.mcp_pool import REST_MAX_S, REST_S, RESTS_MAX, Rests, Sessions
from interlock.runners.mcp_session import Opening
from interlock.runners.mcp_stdio import NotStarted
from interlock.runners.mcp_ways import Waits
from tests.execution import VirtualLoop, passing

WAITS = Waits(5.0, 100_000)


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, object]]:
    """A loop that needs no time."""
    return "asyncio", {"loop_factory": VirtualLoop}


class Servers:
    """Servers in this process; how many were started and are left."""

    def __init__(self) -> None:
        self.started = 0
        self.left = 0

    @property
    def opening(self) -> Opening:
        @asynccontextmanager
        async def open_one(lost: asyncio.Event) -> AsyncIterator[tuple[Any, Any]]:
            self.started += 1
            self.left += 1
            server: Server[Any] = Server("one")
            async with create_client_server_memory_streams() as (client, (read, write)):
                task = asyncio.create_task(server.run(read, write, server.create_initialization_options()))
                task.add_done_callback(lambda _: lost.set())
                try:
                    yield client
                finally:
                    task.cancel()
                    await asyncio.wait((task,))
                    self.left -= 1

        return open_one


async def test_one_key_has_one_session_and_another_key_another() -> None:
    servers, sessions = Servers(), Sessions()

    async def used(key: str) -> None:
        async with sessions.of(key, servers.opening, waits=WAITS):
            pass

    await asyncio.gather(*[used(key) for key in "aabab"])
    assert servers.started == 2
    await sessions.close()
    assert servers.left == 0
    with pytest.raises(NotStarted):
        await used("a")


async def test_one_that_is_over_is_opened_again() -> None:
    servers, sessions = Servers(), Sessions()
    async with sessions.of("a", servers.opening, waits=WAITS) as session:
        await session.close()
    async with sessions.of("a", servers.opening, waits=WAITS) as other:
        assert other is not session
    await sessions.close()


async def test_there_are_only_so_many_and_the_one_that_waited_longest_makes_room() -> None:
    servers, sessions = Servers(), Sessions(sessions_max=2)
    async with sessions.of("a", servers.opening, waits=WAITS), sessions.of("b", servers.opening, waits=WAITS):
        with pytest.raises(NotStarted, match="too many sessions"):
            async with sessions.of("c", servers.opening, waits=WAITS):
                pass
    async with sessions.of("c", servers.opening, waits=WAITS):
        pass
    await sessions.close()
    assert (servers.started, servers.left) == (3, 0)


async def test_one_that_does_not_answer_is_given_up() -> None:
    @asynccontextmanager
    async def mute(_: asyncio.Event) -> AsyncIterator[tuple[Any, Any]]:
        async with create_client_server_memory_streams() as (client, _):
            yield client

    sessions = Sessions()
    with pytest.raises(NotStarted, match="not there in time"):
        async with sessions.of("a", mute, waits=Waits(0.1, 1_000)):
            pass
    await sessions.close()


@asynccontextmanager
async def closed(lost: asyncio.Event) -> AsyncIterator[tuple[Any, Any]]:
    """A server that ends before it says anything."""
    async with create_client_server_memory_streams() as (client, _):
        lost.set()
        yield client


async def tried(sessions: Sessions, key: str, opening: Opening) -> str:
    try:
        async with sessions.of(key, opening, waits=WAITS):
            return ""
    except NotStarted as no:
        return no.why.reason


async def test_a_server_that_fails_is_tried_again_at_once_the_first_time_and_then_at_growing_pauses() -> None:
    sessions, servers, loop = Sessions(), Servers(), asyncio.get_running_loop()
    assert [await tried(sessions, "a", closed) for _ in range(3)] == [
        "the connection broke off",
        "the connection broke off",
        "the connection broke off (it is tried again in a moment)",
    ]
    assert await tried(sessions, "b", closed) == "the connection broke off"
    await passing(REST_S * 2.1)
    began, pauses = loop.time(), []
    while len(pauses) < 12:
        if "in a moment" not in await tried(sessions, "a", closed):
            pauses.append(round(loop.time() - began, 1))
            began = loop.time()
        await passing(0.1)
    assert pauses == sorted(pauses)
    assert pauses[-1] == pytest.approx(REST_MAX_S, abs=0.2)
    await passing(REST_MAX_S)
    assert await tried(sessions, "a", servers.opening) == ""
    await sessions.close()


def test_only_so_many_failures_are_remembered() -> None:
    async def fail() -> None:
        rests = Rests()
        for number in range(RESTS_MAX + 10):
            rests.failed(number, NoAnswer("no"))
            rests.failed(number, NoAnswer("no"))
        rests.check(0)
        with pytest.raises(NotStarted):
            rests.check(RESTS_MAX)
        rests.answered(RESTS_MAX)
        rests.check(RESTS_MAX)

    asyncio.run(fail())
