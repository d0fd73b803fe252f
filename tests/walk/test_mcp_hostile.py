"""MCP servers that answer slowly, endlessly, wrongly or not at all harm only themselves: others go on meanwhile."""

import asyncio
import json
import logging
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="MCP tools need an extra: pip install 'interlock[mcp]'")

from interlock import Gate, McpServer, McpTool, RetryRule, SpecInvalid, ToolCall, mcp_listing, mcp_tool
from interlock.core.observation import Observation
from interlock.importers.mcp import load_mcp, take_mcp_snapshot
from interlock.upstream import mcp_server_listing
from tests import mcp_raw as raw
from tests.execution import passing
from tests.gates import ALICE, ALL, code, opened
from tests.http_upstream import CHUNK, Exchange, upstream

pytestmark = [pytest.mark.requirement("TOOL-6"), pytest.mark.timeout(60)]

ENDS: Mapping[str, str] = {
    "waits": "TOOL_TIMEOUT",
    "dribbles": "TOOL_TIMEOUT",
    "never_ends": "TOOL_TIMEOUT",
    "is_large": "TOOL_UNAVAILABLE",
    "prints_garbage": "ok",
    "answers_nobody": "ok",
    "floods": "TOOL_TIMEOUT",
    "floods_with_progress": "TOOL_TIMEOUT",
    "floods_with_answers": "TOOL_TIMEOUT",
    "asks_without_listening": "TOOL_TIMEOUT",
    "changes_its_list": "ok",
    "closes": "TOOL_UNAVAILABLE",
    "complains": "ok",
    "breaks_its_schema": "OUTPUT_INVALID",
    "says_nothing_structured": "OUTPUT_INVALID",
    "answers_twice": "ok",
    "exhausts": "OUTPUT_INVALID",
    "bad_schemas": "ok",
    "same_cursor": "ok",
    "no_opening": "TOOL_UNAVAILABLE",
    "never_opens": "TOOL_UNAVAILABLE",
    "unknown_revision": "TOOL_UNAVAILABLE",
    "no_revision": "TOOL_UNAVAILABLE",
    "dies_at_start": "TOOL_UNAVAILABLE",
}
"""How a read ends that such a server is asked for once."""

QUICK = {"is_large", "closes", "bad_schemas", "unknown_revision", "dies_at_start"}
TASKS_MAX = 1_000


def server(way: str) -> McpServer:
    return McpServer(command=(sys.executable, raw.__file__, way))


def declared(found: McpServer, name: str, **more: Any) -> McpTool:
    options: dict[str, Any] = {"effect": "read", "retry": RetryRule(1), "output_schema": raw.OUTPUT, **more}
    return mcp_tool(name=name, description="Do it.", server=found, tool="tool1", input_schema=raw.GOOD, **options)


def patience_ms(end: str) -> int:
    """How long an answer is waited for: not at all where none will come."""
    return 1_000 if end == "TOOL_TIMEOUT" else 30_000


async def call(gate: Gate, name: str, thing: str = "7") -> Observation:
    seen = await gate.call(ToolCall("c", name, {"thing": thing}), principal=ALICE, task="t")
    assert isinstance(seen, Observation)
    return seen


async def meanwhile(gate: Gate, work: "asyncio.Future[Observation]") -> Observation:
    """Call another server for as long as the bad one is at it, and a few times more: each call ends well."""
    left = 10
    while left:
        left -= work.done()
        assert code(await call(gate, "good")) == "ok"
        assert len(asyncio.all_tasks()) < TASKS_MAX
        await passing(0.01)
    return await work


@pytest.mark.parametrize("way", [pytest.param(way, marks=() if way in QUICK else pytest.mark.slow) for way in ENDS])
async def test_a_bad_server_harms_only_itself(way: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    tools = [
        declared(server("does_well"), "good"),
        declared(server(way), "bad", timeout_ms=1_000 if way == "never_opens" else patience_ms(ENDS[way])),
    ]
    async with opened(":memory:", tools, ALL) as gate:
        assert code(await call(gate, "good")) == "ok"
        seen = await meanwhile(gate, asyncio.ensure_future(call(gate, "bad")))
        assert code(seen) == ENDS[way]
        assert seen.data in (None, {"thing": "7"})
    assert len(caplog.text) < 20_000


async def test_an_effect_whose_result_breaks_its_schema_was_executed_once_and_shows_nothing_of_it() -> None:
    tools = [declared(server("breaks_its_schema"), "acts", effect="write")]
    async with opened(":memory:", tools, ALL) as gate:
        first, again = [await call(gate, "acts") for _ in range(2)]
    assert (code(first), code(again), again.replayed) == ("OUTPUT_INVALID", "OUTPUT_INVALID", True)
    assert first.operation_id == again.operation_id
    assert (first.data, again.data) == (None, None)


@pytest.mark.parametrize("way", ["same_cursor", "endless_cursors"])
async def test_a_list_that_leads_in_a_circle_or_nowhere_is_given_up(way: str) -> None:
    with pytest.raises(SpecInvalid, match="does not end"):
        await mcp_listing(server(way))


async def test_bad_schemas_among_fifteen_tools_are_left_out_alone_and_told() -> None:
    snapshot = take_mcp_snapshot(
        await mcp_server_listing(server("bad_schemas")), server=server("bad_schemas"), owner="x"
    )
    found = load_mcp(replace(snapshot, tools={key: replace(each, allow=True) for key, each in snapshot.tools.items()}))
    sound = {f"tool{at}" for at in range(15)} - {f"tool{at}" for at in (3, 4, 5, 6, 8, 9)}
    assert {each.name for each in found.tools} == sound
    assert len(snapshot.not_tools) + len(found.refused) == 6
    async with opened(":memory:", found.tools, ALL) as gate:
        for each in sound:
            assert code(await call(gate, each)) == "ok"


@pytest.mark.parametrize("way", ["dies_at_start", "unknown_revision"])
async def test_a_server_that_fails_is_started_again_at_growing_pauses_only(way: str, tmp_path: Path) -> None:
    script, log = tmp_path / "server.py", tmp_path / "log"
    script.write_text(
        f"import runpy, sys\nopen({str(log)!r}, 'a').write('started\\n')\n"
        f"sys.argv = ['', {way!r}]\nrunpy.run_path({raw.__file__!r}, run_name='__main__')\n"
    )
    found = McpServer(command=(sys.executable, "server.py"), folder=str(tmp_path))
    async with opened(":memory:", [declared(found, f"tool{at}") for at in range(40)], ALL) as gate:
        ends = [code(await call(gate, f"tool{at}")) for at in range(40)]
    assert {*ends} == {"TOOL_UNAVAILABLE"}
    assert log.read_text().count("started") <= 4


async def test_a_server_that_refuses_the_newer_era_with_the_librarys_own_code_is_spoken_to_in_the_older() -> None:
    restarted = []

    async def of_its_time(exchange: Exchange) -> None:
        asked = json.loads(exchange.request.body or b"{}")
        method, of = asked.get("method"), asked.get("id")
        refusal = raw.message(id=None, error={"code": -32000, "message": "Bad Request: Server not initialized"})
        known = exchange.request.headers.get("mcp-session-id") == f"s{len(restarted)}"
        if method == "initialize":
            body = next(raw.opened("", of))
            await exchange.answer(200, body, content_type="application/json", mcp_session_id=f"s{len(restarted)}")
        elif of is None:
            await exchange.answer(202 if exchange.request.method == "POST" else 405)
        elif method == "tools/call" and known:
            await sent(exchange, raw.said(of))
        else:
            await exchange.answer(400, refusal, content_type="application/json")

    async with upstream(of_its_time) as found:
        server = McpServer(url=f"{found.origin}/mcp")
        tools = [declared(server, "good"), declared(server, "acts", effect="write")]
        async with opened(":memory:", tools, ALL, egress_allow=["127.0.0.1"]) as gate:
            assert code(await call(gate, "good")) == "ok"
            restarted.append(1)
            assert code(await call(gate, "good")) == "ok"
            restarted.append(1)
            assert code(await call(gate, "acts")) == "OUTCOME_UNKNOWN"  # by the protocol 404 says that nobody looked
            assert code(await call(gate, "acts", "8")) == "ok"


@pytest.mark.parametrize("status", [404, 405])
async def test_a_server_of_the_transport_before_streamable_http_is_refused_in_words(status: int) -> None:
    async def oldest(exchange: Exchange) -> None:
        await exchange.answer(status)

    async with upstream(oldest) as found:
        with pytest.raises(SpecInvalid, match="HTTP with SSE, is not spoken here"):
            await mcp_listing(McpServer(url=f"{found.origin}/sse"), egress_allow=["127.0.0.1"])


Answer = Callable[[Exchange, Any], Awaitable[None]]


def over_http(answer: Answer) -> Callable[[Exchange], Awaitable[None]]:
    """A server of the older era, which answers calls so."""

    async def behave(exchange: Exchange) -> None:
        asked = json.loads(exchange.request.body or b"{}")
        method, of = asked.get("method"), asked.get("id")
        if exchange.request.method != "POST":
            await exchange.answer(405)
        elif of is None or method is None:
            await exchange.answer(202)
        elif method == "tools/call":
            await answer(exchange, of)
        elif method == "initialize":
            await sent(exchange, next(raw.opened("", of)))
        else:
            await sent(exchange, raw.message(id=of, error={"code": -32601, "message": "no"}))

    return behave


async def sent(exchange: Exchange, body: bytes) -> None:
    await exchange.answer(200, body, content_type="application/json")


async def streamed(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")


async def dribbles(exchange: Exchange, of: Any) -> None:
    await streamed(exchange)
    for at in raw.said(of):
        await exchange.send(bytes([at]))
        await passing(0.1)


async def never_ends(exchange: Exchange, of: Any) -> None:
    await streamed(exchange)
    await exchange.send(b"data: ")
    while True:
        await exchange.send(CHUNK)


async def is_large(exchange: Exchange, of: Any) -> None:
    await sent(exchange, raw.said(of, "x" * 20_000_000))


async def floods(exchange: Exchange, of: Any) -> None:
    await streamed(exchange)
    for at in range(10**9):
        await exchange.send(b"".join(b"data: " + raw.notice(at * 50 + each) + b"\n" for each in range(50)))


async def asks_without_end(exchange: Exchange, of: Any) -> None:
    await streamed(exchange)
    for at in range(10**9):
        await exchange.send(b"data: " + raw.message(id=f"p{at}", method="ping") + b"\n")


async def answers_another(exchange: Exchange, of: Any) -> None:
    await sent(exchange, raw.said(10_000))


async def is_no_json(exchange: Exchange, of: Any) -> None:
    await exchange.answer(200, b"<html>", content_type="text/html")


async def closes(exchange: Exchange, of: Any) -> None:
    await streamed(exchange)
    await exchange.send(b"data: " + raw.said(of)[:40])
    exchange.reset()


OVER_HTTP: Mapping[str, tuple[Answer, str]] = {
    "dribbles": (dribbles, "TOOL_TIMEOUT"),
    "never ends": (never_ends, "TOOL_UNAVAILABLE"),
    "is large": (is_large, "TOOL_UNAVAILABLE"),
    "floods": (floods, "TOOL_TIMEOUT"),
    "asks without end": (asks_without_end, "TOOL_TIMEOUT"),
    "answers another": (answers_another, "TOOL_TIMEOUT"),
    "is no json": (is_no_json, "TOOL_ERROR"),
    "closes": (closes, "TOOL_UNAVAILABLE"),
}


@pytest.mark.parametrize("way", OVER_HTTP)
async def test_a_bad_server_over_http_harms_only_itself(way: str) -> None:
    answer, end = OVER_HTTP[way]

    async def well(exchange: Exchange, of: Any) -> None:
        await sent(exchange, raw.said(of))

    async with upstream(over_http(answer)) as bad, upstream(over_http(well)) as good:
        tools = [
            declared(McpServer(url=f"{good.origin}/mcp"), "good"),
            declared(McpServer(url=f"{bad.origin}/mcp"), "bad", timeout_ms=patience_ms(end)),
        ]
        async with opened(":memory:", tools, ALL, egress_allow=["127.0.0.1"]) as gate:
            assert code(await call(gate, "good")) == "ok"
            seen = await meanwhile(gate, asyncio.ensure_future(call(gate, "bad")))
            assert code(seen) == end
        assert bad.sent < 100_000_000
