"""A channel goes to an address that was judged, or nowhere, and says when it is there."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("grpc_reflection", reason="gRPC tools need an extra: pip install 'interlock[grpc]'")

import grpc

from interlock.core.http_address import Allowed, read_allowed
from interlock.core.http_template import Origin
from interlock.runners import grpc_channel
from interlock.runners.exchange import NoAnswer
from interlock.runners.grpc_channel import Channels, Way
from tests import grpc_upstream as server
from tests.grpc_upstream import ACT, ActRequest, upstream
from tests.http_upstream import Names
from tests.walk.test_http_tls import certificate_of, host_trusting

LOOPBACK = read_allowed(["127.0.0.1"])
NAME = "api.example.com"
MEBIBYTE = 1 << 20


def way_to(port: int, *, scheme: str = "http", connect_s: float = 5.0) -> Way:
    return Way(Origin(scheme, NAME, port), connect_s, MEBIBYTE)


@asynccontextmanager
async def channels(names: Names | None = None, allowed: Allowed = LOOPBACK, **more: Any) -> AsyncIterator[Channels]:
    found = Channels(resolver=names or Names(["127.0.0.1"]), allowed=allowed, **more)
    yield found
    await found.close()


async def asked(found: Channels, way: Way, *, is_shared: bool = False) -> bytes | NoAnswer:
    async with found.to(way, is_shared=is_shared) as channel:
        if isinstance(channel, NoAnswer):
            return channel
        data: bytes = await channel.unary_unary(ACT)(ActRequest(thing_id="7").SerializeToString())
        return data


@pytest.mark.requirement("EXEC-6")
@pytest.mark.parametrize("addresses", [["10.0.0.1"], ["127.0.0.1", "169.254.169.254"], ["::ffff:127.0.0.1"], ["::1"]])
async def test_one_address_that_may_not_be_reached_is_enough(addresses: list[str]) -> None:
    async with upstream(server.ok) as found, channels(Names(addresses)) as to:
        answer = await asked(to, way_to(found.port))
        assert isinstance(answer, NoAnswer)
        assert (answer.passes, found.connections) == (False, 0)


@pytest.mark.requirement("EXEC-6")
async def test_a_name_that_changes_its_answer_is_asked_once_for_each_connection() -> None:
    names = Names(["127.0.0.1"], ["169.254.169.254"])
    async with upstream(server.ok) as found, channels(names) as to:
        assert await asked(to, way_to(found.port), is_shared=True) == b"\x0a\x017"
        assert await asked(to, way_to(found.port), is_shared=True) == b"\x0a\x017"
        assert isinstance(await asked(to, way_to(found.port)), NoAnswer)
        assert (len(names.asked), found.connections) == (2, 1)


@pytest.mark.requirement("EXEC-6")
async def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "grpc_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with upstream(server.ok) as found, channels() as to:
        assert await asked(to, way_to(found.port)) == b"\x0a\x017"


async def test_the_next_address_is_tried_where_one_does_not_answer() -> None:
    names = Names(["127.0.0.2", "127.0.0.1"])
    async with upstream(server.ok) as found, channels(names, read_allowed(["127.0.0.0/8"])) as to:
        assert await asked(to, way_to(found.port)) == b"\x0a\x017"


async def test_reads_share_a_connection_and_effects_get_one_of_their_own() -> None:
    async with upstream(server.ok) as found, channels() as to:
        for _ in range(3):
            await asked(to, way_to(found.port), is_shared=True)
        assert found.connections == 1
        for _ in range(2):
            await asked(to, way_to(found.port))
        assert found.connections == 3


async def test_no_more_connections_are_made_at_once_than_there_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grpc_channel, "CONNECTIONS_MAX", 2)
    async with upstream(server.ok) as found, channels() as to:
        for _ in range(3):  # places that nothing came of are free again
            assert isinstance(await asked(to, way_to(9, connect_s=1.0)), NoAnswer)
        async with to.to(way_to(found.port), is_shared=False), to.to(way_to(found.port), is_shared=False):
            assert isinstance(await asked(to, way_to(found.port, connect_s=0.1)), NoAnswer)
            assert isinstance(await asked(to, way_to(found.port), is_shared=True), bytes)
        assert isinstance(await asked(to, way_to(found.port)), bytes)
        assert found.connections == 4


async def test_a_connection_that_was_cut_is_made_anew() -> None:
    async with upstream(server.ok) as found, channels() as to:
        async with to.to(way_to(found.port), is_shared=True) as channel:
            assert not isinstance(channel, NoAnswer)
            found.break_off()
            async with asyncio.timeout(5):
                await channel.wait_for_state_change(grpc.ChannelConnectivity.READY)
            assert await asked(to, way_to(found.port), is_shared=True) == b"\x0a\x017"
        assert found.connections == 2


@pytest.mark.requirement("EXEC-6")
async def test_a_connection_that_was_cut_is_not_made_anew_without_asking_where_the_name_leads() -> None:
    names = Names(["127.0.0.1"], ["169.254.169.254"])
    async with upstream(server.ok) as found, channels(names) as to:
        async with to.to(way_to(found.port), is_shared=True) as channel:
            assert not isinstance(channel, NoAnswer)
            found.break_off()
            async with asyncio.timeout(5):
                await channel.wait_for_state_change(grpc.ChannelConnectivity.READY)
        assert isinstance(await asked(to, way_to(found.port), is_shared=True), NoAnswer)
        assert found.connections == 1


async def test_a_connection_is_open_for_who_is_on_it_though_another_took_its_place() -> None:
    async with upstream(server.ok) as found, channels() as to:
        both = asyncio.Barrier(2)

        async def on_one() -> bytes:
            async with to.to(way_to(found.port), is_shared=True) as channel:
                assert not isinstance(channel, NoAnswer)
                await both.wait()
                data: bytes = await channel.unary_unary(ACT)(b"")
                return data

        assert await asyncio.gather(on_one(), on_one()) == [b"", b""]
        assert found.connections == 2
        assert await asked(to, way_to(found.port), is_shared=True) == b"\x0a\x017"
        assert found.connections == 2


async def test_who_refuses_a_connection_is_not_waited_for() -> None:
    async with upstream(server.ok) as closed:
        port = closed.port
    async with channels() as to, asyncio.timeout(10):
        assert isinstance(await asked(to, way_to(port, connect_s=60.0)), NoAnswer)


@pytest.mark.requirement("EXEC-1")
async def test_a_name_that_is_not_resolved_is_waited_for_within_the_time() -> None:
    class Hanging(Names):
        async def resolve(self, host: str, port: int) -> list[str]:
            await asyncio.Event().wait()
            return []

    async with channels(Hanging([])) as to, asyncio.timeout(5):
        assert isinstance(await asked(to, way_to(9, connect_s=0.1)), NoAnswer)


@pytest.mark.requirement("EXEC-1")
async def test_who_takes_a_connection_and_says_nothing_is_waited_for_within_the_time() -> None:
    async def silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await ended.wait()
        writer.close()

    ended = asyncio.Event()
    listening = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    async with channels() as to, asyncio.timeout(5):
        answer = await asked(to, way_to(port, connect_s=0.2))
    assert isinstance(answer, NoAnswer)
    assert answer.passes
    ended.set()
    listening.close()


@pytest.mark.requirement("EXEC-6")
async def test_tls_is_with_who_the_name_says_though_the_address_was_chosen_here(tmp_path: Path) -> None:
    right, wrong = certificate_of(NAME, tmp_path), certificate_of("other.example.com", tmp_path)
    for certificate, is_right in ((right, True), (wrong, False)):
        pem = certificate.read_bytes()
        credentials = grpc.ssl_server_credentials([(pem, pem)])
        tls = host_trusting(certificate).tls
        async with upstream(server.ok, credentials=credentials) as found, channels(tls=tls) as to:
            answer = await asked(to, way_to(found.port, scheme="https"))
            assert isinstance(answer, bytes) is is_right
            assert len(found.received) == is_right


async def test_the_authority_is_the_declared_name_and_not_the_address() -> None:
    async with upstream(server.ok) as found, channels() as to:
        await asked(to, way_to(found.port))
    assert f"{NAME}:{found.port}".encode() in found.wired
    assert b"127.0.0.1" not in found.wired


async def test_a_certificate_that_nobody_vouches_for_is_none(tmp_path: Path) -> None:
    pem = certificate_of(NAME, tmp_path).read_bytes()
    async with upstream(server.ok, credentials=grpc.ssl_server_credentials([(pem, pem)])) as found, channels() as to:
        assert isinstance(await asked(to, way_to(found.port, scheme="https")), NoAnswer)
        assert not found.received
