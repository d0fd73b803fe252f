"""The runner of HTTP tools sends what was declared, once, and says how far it got."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from interlock.core.errors import SpecInvalid
from interlock.core.http_address import read_allowed
from interlock.core.http_template import Credential, HttpCode, HttpError
from interlock.core.outcome import Failed, Outcome, Succeeded
from interlock.core.refusals import Code
from interlock.declare.http import HttpTool, http_tool
from interlock.declare.http_options import HttpLookUp
from interlock.declare.http_request import HttpParameter
from interlock.runners.egress import GuardedNetwork
from interlock.runners.http import HttpRunner
from interlock.runtime.bounded import Overdue, bounded
from tests import http_upstream as server
from tests.execution import LoopClock, invocation_of
from tests.http_upstream import Behaviour, Exchange, Names, Upstream, status, upstream

THING = HttpParameter("thing", "path")
KIND = HttpParameter("kind", "header", wire_name="Accept")


def declared(origin: str, effect: str = "write", **more: Any) -> HttpTool:
    options = {
        "name": "act",
        "description": "Act on a thing.",
        "effect": effect,
        "method": "GET" if effect == "read" else "POST",
        "url": f"{origin}/things/{{thing}}",
        "parameters": [THING],
    }
    return http_tool(**{**options, **more})


@asynccontextmanager
async def running(
    behave: Behaviour, effect: str = "write", **more: Any
) -> AsyncIterator[tuple[HttpRunner, HttpTool, Upstream]]:
    async with upstream(behave) as found:
        tool = declared(found.origin, effect, **more)
        runner = HttpRunner(clock=LoopClock(), network=GuardedNetwork(allowed=read_allowed(["127.0.0.1"])))
        runner.bind(tool.spec(), code=tool.code)
        yield runner, tool, found
        await runner.close()


async def once(
    behave: Behaviour, arguments: Mapping[str, object] | None = None, effect: str = "write", **more: Any
) -> tuple[Outcome, Upstream]:
    secrets = more.pop("secrets", None)
    async with running(behave, effect, **more) as (runner, tool, found):
        invocation = invocation_of(tool, arguments or {"thing": "7"}, secrets=secrets)
        return (await runner.run(invocation)).outcome, found


@pytest.mark.requirement("IDEM-3", "AUD-5")
async def test_an_effect_carries_its_key_its_fence_and_its_trace() -> None:
    outcome, found = await once(server.ok)
    assert outcome == Succeeded(b'{"done":true}')
    headers = found.received[0].headers
    assert len(headers["idempotency-key"]) == 64
    assert headers["interlock-fence"] == "7"
    assert headers["traceparent"].startswith("00-")
    _, read = await once(server.ok, effect="read")
    assert not {"idempotency-key", "interlock-fence"} & read.received[0].headers.keys()
    assert "traceparent" in read.received[0].headers


async def test_the_headers_of_key_and_fence_are_named_or_left_out_as_declared() -> None:
    _, found = await once(server.ok, key_header="X-Request-Id", fence_header="")
    assert "x-request-id" in found.received[0].headers
    assert not {"idempotency-key", "interlock-fence"} & found.received[0].headers.keys()


async def test_an_argument_may_be_a_header_that_is_else_sent_with_a_default() -> None:
    _, found = await once(server.ok, {"thing": "7", "kind": "text/csv"}, parameters=[THING, KIND])
    assert found.received[0].headers["accept"] == "text/csv"


@pytest.mark.requirement("EXEC-6")
async def test_what_cannot_stand_in_the_request_is_not_sent() -> None:
    for value in ("..", "%2e%2e", "a\\b", ""):
        outcome, found = await once(server.ok, {"thing": value})
        assert isinstance(outcome, Failed)
        assert (outcome.code, outcome.nothing_happened) == (Code.TOOL_ARGUMENT_INVALID, True)
        assert found.connections == 0


@pytest.mark.requirement("EXEC-8")
async def test_a_credential_is_sent_and_one_that_cannot_be_is_not_shown() -> None:
    _, found = await once(server.ok, credentials=[Credential("token")], secrets={"token": "s3cret-value"})
    assert found.received[0].headers["authorization"] == "Bearer s3cret-value"
    outcome, found = await once(server.ok, credentials=[Credential("token")], secrets={"token": "s3cret\r\nX: 1"})
    assert isinstance(outcome, Failed)
    assert (outcome.code, outcome.nothing_happened, found.connections) == (Code.CONTEXT_MISSING, True, 0)
    assert "s3cret" not in outcome.message


@pytest.mark.requirement("EXEC-1", "EXEC-2")
async def test_a_deadline_before_the_request_went_out_proves_that_nothing_happened() -> None:
    class Hanging(Names):
        async def resolve(self, host: str, port: int) -> list[str]:
            await asyncio.Event().wait()
            return []

    tool = declared("http://api.example.com")
    runner = HttpRunner(clock=LoopClock(), network=GuardedNetwork(resolver=Hanging([])))
    runner.bind(tool.spec(), code=tool.code)
    invocation = invocation_of(tool, {"thing": "7"}, within_s=0.05)
    done = await bounded(runner.run(invocation), until_s=invocation.deadline_s)
    assert not isinstance(done, Overdue)
    assert isinstance(done.outcome, Failed)
    assert (done.outcome.code, done.outcome.nothing_happened) == (Code.TOOL_UNAVAILABLE, True)


@pytest.mark.requirement("EXEC-1", "EXEC-2")
async def test_a_deadline_after_it_proves_nothing_and_a_cancellation_gets_out() -> None:
    async with running(server.silence) as (runner, tool, found):
        invocation = invocation_of(tool, {"thing": "7"}, within_s=1.0)
        done = await bounded(runner.run(invocation), until_s=invocation.deadline_s)
        assert not isinstance(done, Overdue)
        assert isinstance(done.outcome, Failed)
        assert (done.outcome.code, done.outcome.nothing_happened) == (Code.TOOL_TIMEOUT, False)
        work = asyncio.ensure_future(runner.run(invocation_of(tool, {"thing": "8"})))
        while len(found.received) < 2:
            await asyncio.to_thread(lambda: None)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work


@pytest.mark.requirement("OBS-5")
@pytest.mark.parametrize("charset", ["utf-8", "gbk"])
async def test_no_half_of_a_credential_is_where_an_answer_is_cut(charset: str) -> None:
    token = "planted-token-" + "0123456789" * 20

    async def echo(exchange: Exchange) -> None:
        said = exchange.request.headers["authorization"].removeprefix("Bearer ").encode()
        await exchange.answer(200, b"a" * 800 + said + b"b" * 50_000, content_type=f"text/plain; charset={charset}")

    more: dict[str, Any] = {"credentials": [Credential("token")], "secrets": {"token": token}}
    outcome, _ = await once(echo, effect="read", output_bytes_max=1_000, **more)
    assert isinstance(outcome, Succeeded)
    assert (b"planted" in outcome.data, b"aaa[redacted]bbb" in outcome.data) == (False, True)


@pytest.mark.requirement("IDEM-3")
async def test_a_look_up_is_a_read_with_its_own_request_and_proves_what_it_declares() -> None:
    async def looked_up(answer: Behaviour, *not_happened: int) -> tuple[Outcome | None, Upstream]:
        async with upstream(answer) as found:
            look_up = HttpLookUp(
                f"{found.origin}/log/{{thing}}",
                parameters=(THING, HttpParameter("reference", "query", is_key=True)),
                not_happened=not_happened,
            )
            tool = declared(found.origin, reconcile=look_up)
            runner = HttpRunner(clock=LoopClock(), network=GuardedNetwork(allowed=read_allowed(["127.0.0.1"])))
            runner.bind(tool.spec(), code=tool.code)
            outcome = await runner.reconcile(invocation_of(tool, {"thing": "7"}))
            await runner.close()
            return outcome, found

    outcome, found = await looked_up(server.ok)
    assert outcome == Succeeded(b'{"done":true}')
    asked = found.received[0]
    assert asked.method == "GET"
    assert asked.target.startswith("/log/7?reference=")
    assert len(asked.target) == len("/log/7?reference=") + 64
    assert "idempotency-key" not in asked.headers
    proved, _ = await looked_up(status(404), 404)
    assert isinstance(proved, Failed)
    assert proved.nothing_happened
    for answer in (status(404), status(500), server.reset_before_commit):
        assert (await looked_up(answer))[0] is None
    for page in (server.ok, status(404)):  # where one logs in: neither says anything of what was looked up
        outcome, found = await looked_up(server.in_turn(status(302, location="/login"), page), 404)
        assert (outcome, len(found.received)) == (None, 1)


async def test_a_tool_without_a_look_up_or_code_here_says_so() -> None:
    async with running(server.ok) as (runner, tool, _):
        assert await runner.reconcile(invocation_of(tool, {"thing": "7"})) is None
        assert await runner.precondition(invocation_of(tool, {"thing": "7"})) is None
        assert await runner.resolve(invocation_of(tool, {"thing": "7"}).operation) is None
    other = HttpRunner(clock=LoopClock())
    outcome = (await other.run(invocation_of(tool, {"thing": "7"}))).outcome
    assert isinstance(outcome, Failed)
    assert (outcome.code, outcome.nothing_happened) == (Code.TOOL_UNAVAILABLE, True)
    assert await other.reconcile(invocation_of(tool, {"thing": "7"})) is None


def test_requests_of_another_tool_are_not_bound() -> None:
    tool, other = declared("http://a.example.com"), declared("http://b.example.com")
    for code in (other.code, object()):
        with pytest.raises(SpecInvalid, match="act"):
            HttpRunner(clock=LoopClock()).bind(tool.spec(), code=code)
    assert isinstance(tool.code, HttpCode)


@pytest.mark.requirement("EXEC-2")
async def test_a_declared_status_is_the_tools_own_error() -> None:
    outcome, _ = await once(status(409, retry_after="9"), errors=[HttpError(409, "TAKEN", nothing_happened=True)])
    assert isinstance(outcome, Failed)
    assert (outcome.tool_code, outcome.nothing_happened, outcome.retry_after_s) == ("TAKEN", True, 9.0)
