"""Sessions over HTTP go out through the guard on every hop, and nothing that one request meets ends another."""

import json
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("mcp", reason="MCP tools need an extra: pip install 'interlock[mcp]'")

from interlock import McpServer
from interlock.core.http_address import read_allowed
from interlock.core.outcome import Failed, Outcome, Succeeded
from interlock.core.redaction import Redactor
from interlock.core.refusals import Code
from interlock.runners.egress import GuardedNetwork
from interlock.runners.mcp import McpRunner
from interlock.runners.mcp_http import HttpWays
from interlock.runners.mcp_stdio import Processes
from interlock.runners.mcp_ways import Ways
from interlock.runners.onlooker import Telling
from tests.execution import invocation_of
from tests.http_upstream import Behaviour, Exchange, Names, Upstream, upstream
from tests.mcp_upstream import declared

VERSION = "2026-07-28"


async def answer(exchange: Exchange, result: dict[str, Any]) -> None:
    asked = json.loads(exchange.request.body)
    whole = {"jsonrpc": "2.0", "id": asked["id"], "result": {"resultType": "complete", **result}}
    await exchange.answer(200, json.dumps(whole).encode(), content_type="application/json")


async def discovered(exchange: Exchange) -> bool:
    """Whether it was the first word of a session, which is answered as a server of the newer era does."""
    if exchange.request.headers.get("mcp-method") != "server/discover":
        return False
    known = {"supportedVersions": [VERSION], "capabilities": {}, "ttlMs": 0, "cacheScope": "public"}
    await answer(exchange, known)
    return True


def runner(*addresses: str) -> McpRunner:
    names = Names(addresses) if addresses else None
    network = GuardedNetwork(resolver=names, allowed=read_allowed(["127.0.0.1"]))
    return McpRunner(
        ways=Ways(http=HttpWays(network), processes=Processes(Redactor())), telling=Telling(None, Redactor())
    )


async def once(
    behave: Behaviour, effect: str = "write", url: Callable[[Upstream], str] | None = None, **more: Any
) -> tuple[Outcome, Upstream]:
    async def whole(exchange: Exchange) -> None:
        if not await discovered(exchange):
            await behave(exchange)

    secrets = more.pop("secrets", None)
    async with upstream(whole) as found:
        place = f"{found.origin}/mcp" if url is None else url(found)
        tool = declared(McpServer(url=place, **more.pop("server", {})), effect=effect, **more)
        made = runner()
        made.bind(tool.spec(), code=tool.code)
        outcome = (await made.run(invocation_of(tool, {"thing": "7"}, secrets=secrets, within_s=10))).outcome
        await made.close()
        return outcome, found


def calls(found: Upstream) -> int:
    return sum(1 for each in found.received if each.headers.get("mcp-method") == "tools/call")


async def test_a_call_is_a_request_of_the_protocol_and_its_answer_a_result() -> None:
    async def does(exchange: Exchange) -> None:
        await answer(exchange, {"content": [], "structuredContent": {"n": 1}})

    outcome, found = await once(does)
    assert outcome == Succeeded(b'{"n":1}')
    headers = found.received[-1].headers
    assert (headers["mcp-name"], headers["mcp-protocol-version"]) == ("does_it", VERSION)
    assert "accept-encoding" not in headers


@pytest.mark.requirement("EXEC-6", "EXEC-8")
@pytest.mark.parametrize(("effect", "sent"), [("read", 1), ("write", 1)])
async def test_a_redirect_to_another_origin_is_not_followed_and_gets_no_credentials(effect: str, sent: int) -> None:
    async def other(exchange: Exchange) -> None:
        await exchange.answer(500)

    async with upstream(other) as elsewhere:

        async def moves(exchange: Exchange) -> None:
            await exchange.answer(307, location=f"{elsewhere.origin}/mcp")

        outcome, found = await once(moves, effect)
    assert isinstance(outcome, Failed)
    assert (outcome.nothing_happened, calls(found), elsewhere.connections) == (False, sent, 0)


@pytest.mark.requirement("EXEC-6", "IDEM-3")
async def test_a_redirect_within_the_origin_is_followed_for_a_read_and_not_for_an_effect() -> None:
    async def moves(exchange: Exchange) -> None:
        if exchange.request.target == "/mcp":
            await exchange.answer(307, location="/mcp/")
        else:
            await answer(exchange, {"content": []})

    read, seen = await once(moves, "read")
    assert (read, calls(seen)) == (Succeeded(b"null"), 2)
    written, found = await once(moves, "write")
    assert isinstance(written, Failed)
    assert (written.nothing_happened, calls(found)) == (False, 1)


@pytest.mark.requirement("EXEC-6")
async def test_a_name_that_leads_into_a_private_network_is_not_called() -> None:
    tool = declared(McpServer(url="http://api.example.com/mcp"))
    made = runner("10.0.0.1")
    made.bind(tool.spec(), code=tool.code)
    outcome = (await made.run(invocation_of(tool, {"thing": "7"}))).outcome
    await made.close()
    assert isinstance(outcome, Failed)
    assert (outcome.code, outcome.nothing_happened) == (Code.TOOL_UNAVAILABLE, True)
    assert "egress_allow" in outcome.message


@pytest.mark.requirement("OBS-4", "EXEC-5")
@pytest.mark.parametrize("media_type", ["application/json", "text/event-stream"])
async def test_an_answer_without_end_is_read_to_its_limit(media_type: str) -> None:
    async def endless(exchange: Exchange) -> None:
        head = f"HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\n\r\ndata: "
        await exchange.send(head.encode())
        while True:
            await exchange.send(b"x" * 65_536)

    outcome, found = await once(endless, message_bytes_max=1_000_000)
    assert isinstance(outcome, Failed)
    assert "too large" in outcome.message
    assert found.sent < 20_000_000


@pytest.mark.requirement("IDEM-3")
@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
async def test_a_status_without_a_word_of_the_protocol_proves_nothing(status: int) -> None:
    async def says(exchange: Exchange) -> None:
        await exchange.answer(status, b'{"detail": "no"}', content_type="application/json")

    outcome, found = await once(says)
    assert isinstance(outcome, Failed)
    assert (outcome.nothing_happened, calls(found)) == (False, 1)
    assert str(status) in outcome.message


async def test_an_error_of_the_protocol_under_a_status_is_that_error() -> None:
    async def says(exchange: Exchange) -> None:
        error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32020, "message": "headers"}}
        await exchange.answer(400, json.dumps(error).encode(), content_type="application/json")

    outcome, _ = await once(says)
    assert isinstance(outcome, Failed)
    assert (outcome.code, outcome.nothing_happened) == (Code.TOOL_ERROR, True)


@pytest.mark.requirement("EXEC-8")
async def test_a_credential_that_cannot_be_sent_is_not_shown_and_nothing_is_sent() -> None:
    async def does(exchange: Exchange) -> None:
        await answer(exchange, {"content": []})

    given: Any = {"credentials": [{"secret": "token"}]}
    outcome, found = await once(does, server=given, secrets={"token": "s3cret-value"})
    assert (outcome, found.received[0].headers["authorization"]) == (Succeeded(b"null"), "Bearer s3cret-value")
    outcome, found = await once(does, server=given, secrets={"token": "s3cret\r\nx: y"})
    assert isinstance(outcome, Failed)
    assert (outcome.code, outcome.nothing_happened, found.connections) == (Code.CONTEXT_MISSING, True, 0)
