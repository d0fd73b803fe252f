"""What went wrong for others between a request and its repeat, replayed by HTTP tools through a whole gate."""

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from interlock import HttpParameter, HttpTool, RetryRule, Status, ToolCall, http_tool
from tests import http_upstream as server
from tests.gates import ALICE, ALL, code, opened
from tests.http_upstream import Exchange, in_turn, status, upstream

pytestmark = [pytest.mark.trouble]

Case = Callable[[str], Mapping[str, Any]]
LOOPBACK = ["127.0.0.1"]


def declared(origin: str, effect: str = "read", **more: Any) -> HttpTool:
    options = {
        "name": "fetch",
        "description": "Fetch a page by its number.",
        "effect": effect,
        "method": "GET" if effect == "read" else "POST",
        "url": f"{origin}/pages/{{page}}",
        "parameters": [HttpParameter("page", "path", {"type": "integer"})],
        "retry": RetryRule(2, backoff_ms=40, backoff_max_ms=40),
    }
    return http_tool(**{**options, **more})


def fetch(page: int = 1) -> ToolCall:
    return ToolCall(f"c{page}", "fetch", {"page": page})


@pytest.mark.requirement("EXEC-2")
async def test_ret_01_no_header_loses_the_repeat_or_hastens_it(trouble_case: Case) -> None:
    """A wait within the deadline is kept, garbage and the past mean the back-off, and what is too long is told."""
    headers = [*trouble_case("RET-01")["input"]["headers"], "Wed, 21 Oct 2015 07:28:00 GMT", "0", "-0", "+", "\t"]
    waits: dict[str, tuple[str, int, float | None]] = {}
    for header in headers:
        async with upstream(in_turn(status(429, retry_after=header), server.ok)) as found:
            started = time.monotonic()
            async with opened(
                ":memory:", [declared(found.origin)], ALL, egress_allow=LOOPBACK, deadline_ms=1_500
            ) as gate:
                seen = await gate.call(fetch(), principal=ALICE)
            waits[header] = (code(seen), len(found.received), seen.retry_after_s)
            assert len(found.received) == 1 or time.monotonic() - started >= 0.004
    too_long = "9999999999999999999999999999999999999999"
    assert waits.pop(too_long) == ("TOOL_UNAVAILABLE", 1, 86_400.0)
    assert waits.pop("1.5") == ("TOOL_UNAVAILABLE", 1, 2.0)  # rounded up, and more than the deadline leaves
    dated = waits.pop("Wed, 21 Oct 2026 07:28:00 GMT")
    assert dated[0] in ("ok", "TOOL_UNAVAILABLE")  # before that day it is a wait that is told, after it the past
    assert set(waits.values()) == {("ok", 2, None)}


@pytest.mark.requirement("EXEC-2", "EXEC-3")
async def test_ret_02_an_overloaded_origin_is_neither_hammered_nor_asked_in_step(trouble_case: Case) -> None:
    parallel, asked = trouble_case("RET-02")["input"]["parallel"], list[float]()

    async def overloaded(exchange: Exchange) -> None:
        asked.append(time.monotonic())
        await exchange.answer(429)

    async with upstream(overloaded) as found:
        tools = [declared(found.origin, retry=RetryRule(5, backoff_ms=200, backoff_max_ms=400))]
        async with opened(":memory:", tools, ALL, egress_allow=LOOPBACK) as gate:
            seen = await asyncio.gather(*[gate.call(fetch(page), principal=ALICE) for page in range(parallel)])
            after = await gate.call(fetch(99), principal=ALICE)
    assert {code(each) for each in (*seen, after)} == {"TOOL_UNAVAILABLE"}
    assert len(asked) <= 2 * parallel  # five attempts each would be allowed; the origin's breaker ends it
    again = sorted(asked)[parallel:]
    assert all(moment - min(asked) >= 0.015 for moment in again)
    assert after.retry_after_s is not None


@pytest.mark.requirement("EXEC-1", "EXEC-2")
async def test_ret_03_a_call_that_is_given_up_is_let_go_of_and_holds_up_no_other(trouble_case: Case) -> None:
    given = trouble_case("RET-03")["input"]
    assert (given["server_tool"], given["client_timeout_s"]) == ("sleep 600", 1)
    let_go = asyncio.Event()

    async def sleeps(exchange: Exchange) -> None:
        if exchange.request.target.endswith("/1"):
            exchange.upstream.commit(exchange.request)
            assert await exchange.reader.read() == b""  # the connection is closed: the server can stop its work
            let_go.set()
        else:
            await server.ok(exchange)

    async with upstream(sleeps) as found:
        tool = declared(found.origin, "write", timeout_ms=given["client_timeout_s"] * 1_000, concurrency=1)
        async with opened(":memory:", [tool], ALL, egress_allow=LOOPBACK) as gate:
            given_up = await gate.call(fetch(1), principal=ALICE, task="t")
            await asyncio.wait_for(let_go.wait(), 5)
            next_one = await gate.call(fetch(2), principal=ALICE, task="t")
            cancelled = asyncio.ensure_future(gate.call(fetch(1), principal=ALICE, task="u"))
            while len(found.received) < 3:
                await asyncio.to_thread(lambda: None)
            cancelled.cancel()
            await asyncio.gather(cancelled, return_exceptions=True)
            last = await gate.call(fetch(3), principal=ALICE, task="t")
    assert given_up.status is Status.UNKNOWN
    assert (next_one.status, last.status) == (Status.OK, Status.OK)
