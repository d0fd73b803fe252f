"""What a server lists is read once for many calls, and again where it can have become something else."""

import asyncio
from math import inf
from typing import Any, cast

import pytest

pytest.importorskip("mcp", reason="MCP tools need an extra: pip install 'interlock[mcp]'")

from interlock.core.drift import Drift, Grade
from interlock.core.mcp_listed import Listed, read_listed
from interlock.runners.exchange import NoAnswer
from interlock.runners.mcp_exchange import McpExchange
from interlock.runners.mcp_pages import Page
from interlock.runners.mcp_pins import BELIEVED_S, Pins
from interlock.runners.mcp_session import Session
from tests.mcp_snapshots import entry

pytestmark = pytest.mark.requirement("REG-9")


class Server:
    """A session with a server that lists this."""

    def __init__(self, *entries: Any) -> None:
        self.entries = entries
        self.list_version = 0
        self.reads = 0

    async def is_told(self) -> bool:
        return True

    async def page(self, cursor: str | None, *, exchange: McpExchange) -> Page | NoAnswer:
        self.reads += 1
        return Page(self.entries, None) if self.entries else NoAnswer("gone")


async def grade(pins: Pins, *passing: str) -> Grade | str:
    reviewed = read_listed(entry())
    assert isinstance(reviewed, Listed)
    found = await pins.held("send", reviewed.document, passing=passing)
    return found.grade if isinstance(found, Drift) else found.reason


def held(server: Server, believed_s: float = inf) -> Pins:
    return Pins(cast(Session, server), bytes_max=1_000, believed_s=believed_s)


async def test_it_is_read_once_until_the_server_says_that_it_has_changed() -> None:
    server = Server(entry())
    pins = held(server)
    assert [await grade(pins), await grade(pins), server.reads] == [Grade.SAME, Grade.SAME, 1]
    server.entries = (entry(title="T"),)
    server.list_version += 1
    assert [await grade(pins), await grade(pins), server.reads] == [Grade.TEXT, Grade.TEXT, 2]
    assert await grade(pins, "text") is Grade.SAME
    assert await grade(pins, "widened") is Grade.TEXT


async def test_what_may_be_another_server_is_not_believed_for_ever() -> None:
    server = Server(entry())
    pins = held(server, believed_s=-1)
    assert await grade(pins) is Grade.SAME
    server.entries = (entry("other"),)
    assert await grade(pins) is Grade.GONE
    assert server.reads == 2


async def test_one_that_promised_a_word_and_changed_without_one_is_believed_for_a_minute_from_then_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server, loop = Server(entry()), asyncio.get_running_loop()
    pins = held(server, believed_s=600)
    assert await grade(pins) is Grade.SAME
    assert pins._until_s - loop.time() > BELIEVED_S
    pins._until_s = 0.0  # its time is over
    server.entries = (entry(title="T"),)
    assert (await grade(pins), server.reads) == (Grade.TEXT, 2)
    assert 0 < pins._until_s - loop.time() <= BELIEVED_S
    assert "without a word" in caplog.text


async def test_one_that_gives_its_word_or_lists_in_another_order_goes_on_being_believed() -> None:
    server, loop = Server(entry(), entry("other")), asyncio.get_running_loop()
    pins = held(server, believed_s=600)
    assert await grade(pins) is Grade.SAME
    server.entries = (entry(title="T"), entry("other"))
    server.list_version += 1
    assert await grade(pins) is Grade.TEXT
    pins._until_s = 0.0
    server.entries = (entry("other"), entry(title="T"))
    assert (await grade(pins), server.reads) == (Grade.TEXT, 3)
    assert pins._until_s - loop.time() > BELIEVED_S


async def test_a_list_that_is_what_it_was_is_not_looked_through_again() -> None:
    server = Server(entry())
    pins = held(server, believed_s=600)
    assert await grade(pins) is Grade.SAME
    before, pins._until_s = pins._tools, 0.0
    assert (await grade(pins), server.reads) == (Grade.SAME, 2)
    assert pins._tools is before


async def test_two_of_one_name_are_none_and_one_that_cannot_be_read_is_none() -> None:
    assert await grade(held(Server(entry(), entry()))) is Grade.SAME
    assert await grade(held(Server(entry(), entry(title="T")))) is Grade.GONE
    assert await grade(held(Server(entry(inputSchema=7)))) is Grade.GONE


async def test_a_list_that_was_not_had_is_asked_for_again() -> None:
    server = Server()
    pins = held(server)
    assert await grade(pins) == "gone"
    server.entries = (entry(),)
    assert await grade(pins) is Grade.SAME
