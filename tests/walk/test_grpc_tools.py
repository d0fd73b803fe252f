"""gRPC tools behind a whole gate: at most once whatever the server does, guarded ways out, credentials that stay in."""

import asyncio
import logging
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("grpc_reflection", reason="gRPC tools need an extra: pip install 'interlock[grpc]'")

import grpc

from interlock import (
    Credential,
    ErrorContract,
    GrpcLookUp,
    GrpcTool,
    Host,
    Principal,
    RetryRule,
    Status,
    ToolCall,
    grpc_tool,
)
from interlock.core.artifact import Page
from interlock.core.http_template import CredentialPlace
from interlock.core.observation import Observation
from tests import grpc_upstream as server
from tests.gates import ALICE, ALL, code, opened, records
from tests.grpc_upstream import ACT, DESCRIPTOR, FIND, WATCH, Behaviour, Exchange, in_turn, status, thing, upstream
from tests.http_upstream import Names
from tests.walk.test_http_tls import NAME, certificate_of, host_trusting

LOOPBACK = ["127.0.0.1"]
CLIENTS = 64


class Vault:
    """Credentials of each tenant."""

    async def fetch(self, names: tuple[str, ...], principal: Principal) -> Mapping[str, str]:
        return {name: f"s3cret-{name}-of-{principal.tenant}" for name in names}


def declared(target: str, effect: str = "write", **more: Any) -> GrpcTool:
    options = {
        "name": "act",
        "description": "Act on a thing.",
        "effect": effect,
        "target": target,
        "plaintext": True,
        "method": ACT,
        "descriptor": DESCRIPTOR,
        "key": ["thingId"],
        "retry": RetryRule(3, backoff_ms=1, backoff_max_ms=2),
    }
    return grpc_tool(**{**options, **more})


def act(thing: str = "7", *, id: str = "c") -> ToolCall:  # noqa: A002 - as the call names it
    return ToolCall(id, "act", {"thingId": thing})


@pytest.mark.requirement("IDEM-1", "IDEM-3", "EXEC-2", "TOOL-6")
@pytest.mark.parametrize("effect", ["write", "destructive"])
async def test_a_server_that_ignores_the_key_does_each_operation_at_most_once(effect: str, gate_path: str) -> None:
    ways: tuple[Behaviour, ...] = (
        server.ok,
        status("INTERNAL", commits=True),
        server.ok,
        status("UNAVAILABLE", commits=True),
        server.ok,
        server.crash,
        server.garbage,
        status("RESOURCE_EXHAUSTED", trailing=server.waiting(0)),
    )

    async def any_way(exchange: Exchange) -> bytes | Sequence[bytes]:
        return await ways[len(exchange.upstream.received) % len(ways)](exchange)

    async with (
        upstream(any_way) as found,
        opened(gate_path, [declared(found.target, effect)], ALL, egress_allow=LOOPBACK) as gate,
    ):

        async def client(number: int) -> list[Observation]:
            """Each operation is delivered twice at once, and proposed again after it."""
            twice = [gate.call(act(f"t{number % 32}"), principal=ALICE, task="t") for _ in range(2)]
            seen = list(await asyncio.gather(*twice))
            return [*seen, await gate.call(act(f"t{number % 32}"), principal=ALICE, task="t")]

        seen = await asyncio.gather(*map(client, range(CLIENTS)))
    assert max(found.done.values()) == 1
    sent = [each.data for each in found.received]
    assert len(sent) == len(set(sent))
    assert 20 <= len(sent) <= 32  # else it was the breaker that kept them apart
    for number, each in enumerate(seen):
        if any(one.status is Status.OK for one in each):
            assert found.done[f"t{number % 32}"]


@pytest.mark.requirement("IDEM-3")
async def test_a_lost_effect_is_found_again_by_its_look_up(tmp_path: Path) -> None:
    async def log(exchange: Exchange) -> bytes:
        if exchange.received.path == FIND:
            return thing(server.ActRequest(thing_id=exchange.asked.id))
        return await server.reset_after_commit(exchange)

    path = str(tmp_path / "gate.db")
    async with upstream(log) as found:
        tool = declared(found.target, reconcile=GrpcLookUp(FIND, {"id": "thingId"}, ("NOT_FOUND",)))
        async with opened(path, [tool], ALL, egress_allow=LOOPBACK) as gate:
            assert (await gate.call(act(), principal=ALICE, task="t")).status is Status.UNKNOWN
        async with opened(path, [tool], ALL, egress_allow=LOOPBACK) as gate:
            again = await gate.call(act(), principal=ALICE, task="t")
    assert (again.status, again.data, again.replayed) == (Status.OK, {"thingId": "7", "count": 0, "note": ""}, True)
    assert [each.path for each in found.received].count(ACT) == 1


@pytest.mark.requirement("EXEC-8")
@pytest.mark.parametrize(
    "credential",
    [
        Credential("token"),
        Credential("token", CredentialPlace.BASIC, user="user"),
        Credential("token", CredentialPlace.HEADER, "X-Key"),
    ],
)
async def test_a_credential_that_the_server_sends_back_is_shown_nowhere(
    credential: Credential, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    async def echo(exchange: Exchange) -> bytes:
        return thing(exchange.asked, note=repr(exchange.received.metadata))

    async def fails(exchange: Exchange) -> bytes:
        return await status("INTERNAL", details=repr(exchange.received.metadata))(exchange)  # type: ignore[return-value]

    async with upstream(in_turn(echo, fails)) as found:
        tool = declared(found.target, "read", credentials=[credential])
        async with opened(":memory:", [tool], ALL, host=Host(secrets=Vault()), egress_allow=LOOPBACK) as gate:
            seen = [await gate.call(act(f"t{number}"), principal=ALICE, run="r") for number in range(2)]
            told = [repr(seen), *[gate.for_model(each) for each in seen], str(await records(gate)), caplog.text]
    assert "s3cret" in repr(found.received) or "czNjcmV0" in repr(found.received)
    assert [each.status for each in seen] == [Status.OK, Status.FAILED]
    for each in told:
        assert "s3cret" not in each
        assert "czNjcmV0" not in each


@pytest.mark.requirement("EXEC-6")
async def test_a_name_that_leads_elsewhere_the_second_time_is_not_followed() -> None:
    async with upstream(server.ok) as found:
        names = Names(["127.0.0.1"], ["169.254.169.254"])
        tool = declared(f"dns:///rebinding.example.com:{found.port}")
        async with opened(":memory:", [tool], ALL, host=Host(resolver=names), egress_allow=LOOPBACK) as gate:
            first = await gate.call(act("1"), principal=ALICE, task="t")
            second = await gate.call(act("2"), principal=ALICE, task="t")
    assert (first.status, code(second)) == (Status.OK, "TOOL_UNAVAILABLE")
    assert len(found.received) == 1


@pytest.mark.requirement("EXEC-6")
async def test_nothing_private_is_reached_unless_the_settings_say_so() -> None:
    async with upstream(server.ok) as found:
        for allowed, ended in (([], "TOOL_UNAVAILABLE"), (LOOPBACK, "ok")):
            async with opened(":memory:", [declared(found.target)], ALL, egress_allow=allowed) as gate:
                assert code(await gate.call(act(), principal=ALICE, task="t")) == ended
    assert found.connections == 1


@pytest.mark.requirement("EXEC-6")
async def test_a_certificate_is_that_of_the_declared_name(tmp_path: Path) -> None:
    certificate = certificate_of(NAME, tmp_path)
    pem = certificate.read_bytes()
    async with upstream(server.ok, credentials=grpc.ssl_server_credentials([(pem, pem)])) as found:
        tool = declared(f"dns:///{NAME}:{found.port}", plaintext=False)
        host = host_trusting(certificate)
        async with opened(":memory:", [tool], ALL, host=host, egress_allow=LOOPBACK) as gate:
            assert code(await gate.call(act(), principal=ALICE, task="t")) == "ok"
        other = Host(resolver=Names(["127.0.0.1"]))
        async with opened(":memory:", [tool], ALL, host=other, egress_allow=LOOPBACK) as gate:
            assert code(await gate.call(act(), principal=ALICE, task="t")) == "TOOL_UNAVAILABLE"
    assert len(found.received) == 1


@pytest.mark.requirement("EXEC-3")
async def test_an_origin_that_does_not_answer_is_left_alone_by_all_its_tools() -> None:
    async with upstream(status("UNAVAILABLE")) as found:
        tools = [declared(found.target, "read", name=name) for name in ("one", "two", "three")]
        async with opened(":memory:", tools, ALL, egress_allow=LOOPBACK) as gate:
            for name in ("one", "two", "three"):
                last = await gate.call(ToolCall(name, name, {"thingId": "7"}), principal=ALICE)
    assert len(found.received) == 5
    assert (code(last), last.retryable) == ("TOOL_UNAVAILABLE", True)


@pytest.mark.requirement("EXEC-2", "IDEM-3")
async def test_a_status_that_proves_that_nothing_happened_frees_the_operation() -> None:
    async with upstream(in_turn(status("ALREADY_EXISTS"), server.ok)) as found:
        tool = declared(found.target, errors={"ALREADY_EXISTS": ErrorContract("TAKEN", nothing_happened=True)})
        async with opened(":memory:", [tool], ALL, egress_allow=LOOPBACK) as gate:
            first = await gate.call(act(), principal=ALICE, task="t")
            again = await gate.call(act(), principal=ALICE, task="t")
    assert first.error is not None
    assert first.error.details == {"tool_code": "TAKEN"}
    assert (again.status, again.replayed) == (Status.OK, False)


@pytest.mark.requirement("TOOL-6")
async def test_an_argument_that_the_message_cannot_hold_is_refused_before_anything_is_sent() -> None:
    async with (
        upstream(server.ok) as found,
        opened(":memory:", [declared(found.target)], ALL, egress_allow=LOOPBACK) as gate,
    ):
        for wrong in ({"thingId": 7}, {"thing_id": "7"}, {"thingId": "7", "count": "1"}, {"count": 1}):
            seen = await gate.call(ToolCall("c", "act", wrong), principal=ALICE, task="t")
            assert code(seen) == "TOOL_ARGUMENT_INVALID"
        big = ToolCall("c", "act", {"thingId": "7", "count": 2**63 - 1})
        seen = await gate.call(big, principal=ALICE, task="t")
    assert seen.data == {"thingId": "7", "count": 2**63 - 1, "note": ""}
    assert found.connections == 1


@pytest.mark.requirement("OBS-4")
async def test_a_long_answer_is_shown_by_its_beginning_and_kept_whole_without_the_credential() -> None:
    secret = "s3cret-token-of-acme"

    async def long(exchange: Exchange) -> bytes | Sequence[bytes]:
        if exchange.received.path == ACT:
            return thing(exchange.asked, note="x" * 30_000 + secret)
        return [thing(exchange.asked, note=f"line {number} {secret}") for number in range(500)]

    async with upstream(long) as found:
        tools = [
            declared(
                found.target, effect, name=name, method=path, output_bytes_max=8_192, credentials=[Credential("token")]
            )
            for name, path, effect in (("one", ACT, "read"), ("many", WATCH, "read"), ("does", WATCH, "write"))
        ]
        host = Host(secrets=Vault())
        async with opened(":memory:", tools, ALL, host=host, egress_allow=LOOPBACK) as gate:
            for each in tools:
                seen = await gate.call(ToolCall("c", each.name, {"thingId": "7"}), principal=ALICE, task="t")
                assert seen.status is Status.OK
                assert (seen.truncated or 0) > 20_000
                assert secret not in str(seen.data)
                assert seen.handle is not None
                end = await gate.results.read(seen.handle, by=ALICE, offset=20_000)
                assert isinstance(end, Page)
                assert secret not in end.text


@pytest.mark.requirement("OBS-4", "EXEC-5")
async def test_a_message_that_unpacks_to_more_than_it_may_is_not_taken() -> None:
    async def bomb(exchange: Exchange) -> bytes:
        exchange.commit()
        return thing(exchange.asked, note="0" * 10_000_000)

    async with upstream(bomb, compression=grpc.Compression.Gzip) as found:
        tools = [declared(found.target, effect, name=effect) for effect in ("read", "write")]
        async with opened(":memory:", tools, ALL, egress_allow=LOOPBACK) as gate:
            seen = [
                await gate.call(ToolCall("c", each.name, {"thingId": "7"}), principal=ALICE, task="t") for each in tools
            ]
    assert [each.status for each in seen] == [Status.FAILED, Status.UNKNOWN]
    assert len(found.received) == 2


@pytest.mark.requirement("EXEC-1")
async def test_the_server_is_told_how_long_it_has() -> None:
    left: list[float] = []

    async def measures(exchange: Exchange) -> bytes | Sequence[bytes]:
        left.append(exchange.context.time_remaining())
        return await server.ok(exchange)

    async with (
        upstream(measures) as found,
        opened(":memory:", [declared(found.target, timeout_ms=3_000)], ALL, egress_allow=LOOPBACK) as gate,
    ):
        assert code(await gate.call(act(), principal=ALICE, task="t")) == "ok"
    assert 1 < left[0] < 4  # it is rounded up on the way


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("async with interlock.Gate.open(): print('grpc' in sys.modules)", "False"),
        (
            "sys.modules['grpc'] = None\n    try: interlock.grpc_tool\n    except AttributeError as no: print(no)",
            "gRPC tools need an extra: pip install 'interlock[grpc]'",
        ),
    ],
)
async def test_what_needs_the_extra_is_not_loaded_without_need_and_says_so_where_it_is_missing(
    program: str, said: str
) -> None:
    whole = f"import asyncio, sys, interlock\nasync def main():\n    {program}\nasyncio.run(main())"
    done = await asyncio.create_subprocess_exec(sys.executable, "-c", whole, stdout=asyncio.subprocess.PIPE)
    out, _ = await done.communicate()
    assert out.decode().strip() == said
