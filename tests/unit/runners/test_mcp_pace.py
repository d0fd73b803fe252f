"""A server that says more than anybody asked for is read more slowly, and what it does not read is not kept."""

import asyncio
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp", reason="MCP tools need an extra: pip install 'interlock[mcp]'")

from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCResponse

from interlock.runners.mcp_pace import ASKED_MAX, DECLINED_MAX, Asked, Declining, Pace
from tests.execution import VirtualLoop, passing


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, object]]:
    """A loop that needs no time."""
    return "asyncio", {"loop_factory": VirtualLoop}


async def test_as_much_as_may_be_is_read_at_once_and_the_rest_at_its_rate() -> None:
    loop = asyncio.get_running_loop()
    pace, began = Pace(burst=100, rate_per_s=10), loop.time()
    await pace.take(100)
    assert loop.time() == began
    await pace.take(20)
    assert loop.time() - began == pytest.approx(2.0)
    await pace.take(0)
    await passing(60)
    await pace.take(100)
    assert loop.time() - began == pytest.approx(62.0)


def test_the_first_answer_to_a_request_was_asked_for_and_no_other() -> None:
    asked = Asked()
    asked.put(1)
    assert [asked.answered(each) for each in (2, "x", 1, 1)] == [False, False, True, False]
    for each in range(ASKED_MAX + 5):
        asked.put(each)
    assert not asked.answered(0)
    assert asked.answered(ASKED_MAX)


class Deaf:
    """A stream that nobody reads."""

    def __init__(self) -> None:
        self.sent = 0

    async def send(self, item: Any) -> None:
        self.sent += 1
        await asyncio.Event().wait()


async def test_only_so_many_answers_wait_for_a_server_that_does_not_read_them() -> None:
    deaf = Deaf()
    stream = Declining(deaf)
    answer = SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=1, result={}))
    tasks = [asyncio.create_task(stream.send(answer)) for _ in range(DECLINED_MAX + 10)]
    done, left = await asyncio.wait(tasks, timeout=1)
    assert (len(left), deaf.sent) == (DECLINED_MAX, DECLINED_MAX)
    assert {type(each.exception()) for each in done} == {anyio.ClosedResourceError}
    ours = asyncio.create_task(stream.send(SessionMessage(JSONRPCNotification(jsonrpc="2.0", method="m"))))
    await asyncio.wait((ours,), timeout=1)
    assert deaf.sent == DECLINED_MAX + 1
    for each in (*left, ours):
        each.cancel()
    await asyncio.wait((*left, ours))
