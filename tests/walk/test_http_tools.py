"""HTTP tools behind a whole gate: at most once whatever the server does, guarded ways out, credentials that stay in."""

import asyncio
import json
import logging
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from interlock import Host, Principal, Settings, ToolCall
from interlock.core.artifact import Page
from interlock.core.http_template import Credential, CredentialPlace, HttpError
from interlock.core.observation import Observation, Status
from interlock.core.tool import RetryRule
from interlock.declare.http import HttpTool, http_tool
from interlock.declare.http_options import HttpLookUp
from interlock.declare.http_request import HttpParameter
from tests import http_upstream as server
from tests.gates import ALICE, ALL, code, opened, records
from tests.http_upstream import Behaviour, Exchange, Names, in_turn, status, upstream

LOOPBACK = ["127.0.0.1"]
THING = HttpParameter("thing", "path")
CLIENTS = 64


class Vault:
    """Credentials of each tenant."""

    async def fetch(self, names: tuple[str, ...], principal: Principal) -> Mapping[str, str]:
        return {name: f"s3cret-{name}-of-{principal.tenant}" for name in names}


def declared(origin: str, effect: str = "write", **more: Any) -> HttpTool:
    options = {
        "name": "act",
        "description": "Act on a thing.",
        "effect": effect,
        "method": "GET" if effect == "read" else "POST",
        "url": f"{origin}/things/{{thing}}",
        "parameters": [THING],
        "key": ["thing"],
        "retry": RetryRule(3, backoff_ms=1, backoff_max_ms=2),
    }
    return http_tool(**{**options, **more})


def act(thing: str = "7", *, id: str = "c") -> ToolCall:  # noqa: A002 - as the call names it
    return ToolCall(id, "act", {"thing": thing})


@pytest.mark.requirement("IDEM-1", "IDEM-3", "EXEC-2")
@pytest.mark.parametrize("effect", ["write", "destructive"])
async def test_a_server_that_ignores_the_key_does_each_operation_at_most_once(effect: str, gate_path: str) -> None:
    ways: tuple[Behaviour, ...] = (
        server.ok,
        server.reset_after_commit,
        server.ok,
        server.reset_before_commit,
        status(500, commits=True),
        server.ok,
        status(503, commits=True),
        server.wrong_length,
        server.ok,
        status(429, retry_after="0"),
    )

    async def any_way(exchange: Exchange) -> None:
        await ways[len(exchange.upstream.received) % len(ways)](exchange)

    async with (
        upstream(any_way) as found,
        opened(gate_path, [declared(found.origin, effect)], ALL, egress_allow=LOOPBACK) as gate,
    ):

        async def client(number: int) -> list[Observation]:
            """Each operation is delivered twice at once, and proposed again after it."""
            twice = [gate.call(act(f"t{number % 32}"), principal=ALICE, task="t") for _ in range(2)]
            seen = list(await asyncio.gather(*twice))
            return [*seen, await gate.call(act(f"t{number % 32}"), principal=ALICE, task="t")]

        seen = await asyncio.gather(*map(client, range(CLIENTS)))
        assert found.done
        assert max(found.done.values()) == 1
        sent = [each.target for each in found.received]
        assert len(sent) == len(set(sent))
        assert 20 <= len(sent) <= 32  # else it was the breaker that kept them apart
        done = {target for target, _ in found.done}
        for number, each in enumerate(seen):
            if any(one.status is Status.OK for one in each):
                assert f"/things/t{number % 32}" in done


@pytest.mark.requirement("IDEM-3")
async def test_a_lost_effect_is_found_again_by_its_look_up(tmp_path: Path) -> None:
    async def log(exchange: Exchange) -> None:
        is_look_up = exchange.request.method == "GET"
        await (server.ok(exchange) if is_look_up else server.reset_after_commit(exchange))

    path = str(tmp_path / "gate.db")
    async with upstream(log) as found:
        look_up = HttpLookUp(f"{found.origin}/log/{{thing}}", parameters=(THING,), not_happened=(404,))
        tool = declared(found.origin, reconcile=look_up)
        async with opened(path, [tool], ALL, egress_allow=LOOPBACK) as gate:
            assert (await gate.call(act(), principal=ALICE, task="t")).status is Status.UNKNOWN
        async with opened(path, [tool], ALL, egress_allow=LOOPBACK) as gate:
            again = await gate.call(act(), principal=ALICE, task="t")
        assert (again.status, again.data, again.replayed) == (Status.OK, {"done": True}, True)
    assert [each.method for each in found.received].count("POST") == 1


@pytest.mark.requirement("EXEC-8")
@pytest.mark.parametrize(
    "credential",
    [
        Credential("token"),
        Credential("token", CredentialPlace.BASIC, user="user"),
        Credential("token", CredentialPlace.HEADER, "X-Key"),
        Credential("token", CredentialPlace.QUERY, "key"),
        Credential("token", CredentialPlace.COOKIE, "key"),
    ],
)
async def test_a_credential_that_the_server_sends_back_is_shown_nowhere(
    credential: Credential, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    async def echo(exchange: Exchange) -> None:
        shown = {"target": exchange.request.target, "headers": exchange.request.headers}
        await exchange.answer(200, json.dumps(shown).encode(), content_type="application/json")

    async with upstream(in_turn(echo, server.reset_after_commit, echo)) as found:
        tool = declared(found.origin, "read", credentials=[credential])
        async with opened(":memory:", [tool], ALL, host=Host(secrets=Vault()), egress_allow=LOOPBACK) as gate:
            seen = [await gate.call(act(f"t{number}"), principal=ALICE, run="r") for number in range(2)]
            told = [repr(seen), *[gate.for_model(each) for each in seen], str(await records(gate)), caplog.text]
    assert "s3cret" in repr(found.received) or "czNjcmV0" in repr(found.received)
    assert [each.status for each in seen] == [Status.OK, Status.OK]
    for each in told:
        assert "s3cret" not in each
        assert "czNjcmV0" not in each


@pytest.mark.requirement("EXEC-6", "EXEC-8")
async def test_a_redirect_to_another_origin_takes_no_credential_along() -> None:
    async with upstream(server.ok) as other, upstream(status(302, location=f"{other.origin}/b")) as found:
        tool = declared(found.origin, "read", credentials=[Credential("token")])
        async with opened(":memory:", [tool], ALL, host=Host(secrets=Vault()), egress_allow=LOOPBACK) as gate:
            assert code(await gate.call(act(), principal=ALICE)) == "ok"
    assert found.received[0].headers["authorization"] == "Bearer s3cret-token-of-acme"
    assert "s3cret" not in repr(other.received)


@pytest.mark.requirement("EXEC-6")
async def test_a_name_that_leads_elsewhere_the_second_time_is_not_followed() -> None:
    async with upstream(server.ok) as found:
        names = Names(["127.0.0.1"], ["169.254.169.254"])
        tool = declared(f"http://rebinding.example.com:{found.port}")
        async with opened(":memory:", [tool], ALL, host=Host(resolver=names), egress_allow=LOOPBACK) as gate:
            first = await gate.call(act("1"), principal=ALICE, task="t")
            second = await gate.call(act("2"), principal=ALICE, task="t")
    assert (first.status, code(second)) == (Status.OK, "TOOL_UNAVAILABLE")
    assert found.received[0].headers["host"] == f"rebinding.example.com:{found.port}"
    assert len(found.received) == 1


@pytest.mark.requirement("EXEC-6")
async def test_nothing_private_is_reached_unless_the_settings_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    async with upstream(server.ok) as proxy, upstream(server.ok) as found:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.origin)
        for allowed, ended in (([], "TOOL_UNAVAILABLE"), (LOOPBACK, "ok")):
            async with opened(":memory:", [declared(found.origin)], ALL, egress_allow=allowed) as gate:
                assert code(await gate.call(act(), principal=ALICE, task="t")) == ended
    assert (len(found.received), proxy.connections) == (1, 0)


@pytest.mark.requirement("EXEC-3")
async def test_an_origin_that_does_not_answer_is_left_alone_by_all_its_tools() -> None:
    async with upstream(server.reset_at_once) as found:
        tools = [declared(found.origin, "read", name=name) for name in ("one", "two", "three")]
        async with opened(":memory:", tools, ALL, egress_allow=LOOPBACK) as gate:
            for name in ("one", "two", "three"):
                last = await gate.call(ToolCall(name, name, {"thing": "7"}), principal=ALICE)
    assert len(found.received) == 5
    assert (code(last), last.retryable) == ("TOOL_UNAVAILABLE", True)
    assert last.retry_after_s is not None
    assert last.retry_after_s > 1


@pytest.mark.requirement("EXEC-2", "IDEM-3")
async def test_a_status_that_proves_that_nothing_happened_frees_the_operation() -> None:
    async with upstream(in_turn(status(409), server.ok)) as found:
        tool = declared(found.origin, errors=[HttpError(409, "TAKEN", nothing_happened=True)])
        async with opened(":memory:", [tool], ALL, egress_allow=LOOPBACK) as gate:
            first = await gate.call(act(), principal=ALICE, task="t")
            again = await gate.call(act(), principal=ALICE, task="t")
    assert first.error is not None
    assert first.error.details == {"tool_code": "TAKEN"}
    assert (again.status, again.replayed) == (Status.OK, False)


@pytest.mark.requirement("OBS-4")
async def test_a_long_text_is_told_by_its_beginning_and_its_size_and_kept_whole() -> None:
    secret = "s3cret-token-of-acme"

    async def long_text(exchange: Exchange) -> None:
        await exchange.answer(200, b"line\n" * 30_000 + secret.encode() + b"\nend", content_type="text/plain")

    async with upstream(in_turn(server.twenty_megabytes, long_text)) as found:
        tool = declared(found.origin, "read", output_bytes_max=65_536, credentials=[Credential("token")])
        host = Host(secrets=Vault())
        async with opened(":memory:", [tool], ALL, host=host, egress_allow=LOOPBACK) as gate:
            seen, other = [await gate.call(act(each), principal=ALICE) for each in "12"]
            assert other.handle is not None
            end = await gate.results.read(other.handle, by=ALICE, offset=150_000)
    assert isinstance(seen.data, dict)
    assert (seen.data["truncated"], seen.truncated) == (True, 20_971_520)
    assert seen.data_json is not None
    assert len(seen.data_json) <= 65_536
    assert isinstance(end, Page)
    assert end.text.endswith("end")
    assert secret not in end.text


@pytest.mark.requirement("OBS-4")
async def test_bytes_are_kept_whole_beside_what_they_are() -> None:
    image = b"\x89PNG" + bytes(range(256)) * 10
    async with upstream(status(200, body=image, content_type="image/png")) as found:
        tool = declared(found.origin, "read")
        async with opened(":memory:", [tool], ALL, egress_allow=LOOPBACK) as gate:
            seen = await gate.call(act(), principal=ALICE)
            assert isinstance(seen.data, dict)
            assert (seen.data["media_type"], seen.data["size_bytes"]) == ("image/png", len(image))
            assert seen.handle is not None
            assert await gate.results.raw(seen.handle, by=ALICE) == image


async def test_opening_a_gate_without_http_tools_loads_no_http() -> None:
    program = (
        "import asyncio, sys, interlock\n"
        "async def main():\n"
        "    async with interlock.Gate.open():\n"
        "        print('httpcore' in sys.modules)\n"
        "asyncio.run(main())"
    )
    done = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE)
    out, _ = await done.communicate()
    assert out.decode().strip() == "False"


def test_a_changed_request_is_another_tool() -> None:
    one, other = declared("http://a.example.com"), declared("http://a.example.com", headers={"X-Version": "2"})
    assert one.spec().handler.fingerprint != other.spec().handler.fingerprint
    assert Settings(egress_allow=("a.internal",)).egress_allow == ("a.internal",)
