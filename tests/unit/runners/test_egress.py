"""A connection goes to an address that was judged, or nowhere."""

import asyncio
import socket
from contextlib import ExitStack

import httpcore
import pytest

from interlock.core.http_address import Allowed, read_allowed
from interlock.runners.egress import EgressRefused, GuardedNetwork, SystemResolver
from tests import http_upstream as server
from tests.http_upstream import Names, upstream

LOOPBACK = read_allowed(["127.0.0.1"])


def guarded(names: Names, allowed: Allowed = LOOPBACK) -> GuardedNetwork:
    return GuardedNetwork(resolver=names, allowed=allowed)


@pytest.mark.requirement("EXEC-6")
@pytest.mark.parametrize("addresses", [["10.0.0.1"], ["127.0.0.1", "169.254.169.254"], ["::ffff:127.0.0.1"], ["::1"]])
async def test_one_address_that_may_not_be_reached_is_enough(addresses: list[str]) -> None:
    with pytest.raises(EgressRefused):
        await guarded(Names(addresses)).connect_tcp("api.example.com", 80, timeout=5)


@pytest.mark.requirement("EXEC-6")
async def test_a_name_that_changes_its_answer_is_asked_once_for_each_connection() -> None:
    names = Names(["127.0.0.1"], ["169.254.169.254"])
    async with upstream(server.ok) as found:
        stream = await guarded(names).connect_tcp("rebinding.example.com", found.port, timeout=5)
        assert stream.get_extra_info("server_addr")[0] == "127.0.0.1"
        await stream.aclose()
        with pytest.raises(EgressRefused):
            await guarded(names).connect_tcp("rebinding.example.com", found.port, timeout=5)
    assert len(names.asked) == 2


async def test_the_next_address_is_tried_where_one_does_not_answer() -> None:
    async with upstream(server.ok) as found:
        network = guarded(Names(["127.0.0.2", "127.0.0.1"]), read_allowed(["127.0.0.0/8"]))
        stream = await network.connect_tcp("api.example.com", found.port, timeout=5)
        assert stream.get_extra_info("server_addr")[0] == "127.0.0.1"
        await stream.aclose()


async def test_an_address_that_swallows_packets_leaves_time_for_the_next() -> None:
    with socket.create_server(("127.0.0.2", 0), backlog=0) as full, ExitStack() as stack:
        port = full.getsockname()[1]
        for _ in range(4):  # more than it queues: the next is not answered at all
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(("127.0.0.2", port))
        stack.enter_context(socket.create_server(("127.0.0.1", port)))
        network = guarded(Names(["127.0.0.2", "127.0.0.1"]), read_allowed(["127.0.0.0/8"]))
        stream = await network.connect_tcp("api.example.com", port, timeout=1.0)
        assert stream.get_extra_info("server_addr")[0] == "127.0.0.1"
        await stream.aclose()


async def test_a_name_without_addresses_and_a_resolver_that_hangs_are_failures_to_connect() -> None:
    class Hanging:
        async def resolve(self, host: str, port: int) -> list[str]:
            await asyncio.Event().wait()
            return []

    with pytest.raises(httpcore.ConnectError):
        await guarded(Names([])).connect_tcp("nowhere.example.com", 80, timeout=5)
    with pytest.raises(httpcore.ConnectTimeout):
        await GuardedNetwork(resolver=Hanging(), allowed=LOOPBACK).connect_tcp("slow.example.com", 80, timeout=0.05)


@pytest.mark.requirement("EXEC-6")
@pytest.mark.parametrize("host", ["127.1", "2130706433", "0x7f000001", "017700000001", "localhost", "127.0.0.1"])
async def test_every_spelling_of_an_address_is_judged_as_the_system_reads_it(host: str) -> None:
    network = GuardedNetwork(resolver=SystemResolver(), allowed=Allowed())
    with pytest.raises(httpcore.ConnectError) as refused:
        await network.connect_tcp(host, 80, timeout=5)
    assert isinstance(refused.value, EgressRefused) or host != "127.0.0.1"


async def test_nothing_connects_to_a_socket_in_the_file_system() -> None:
    with pytest.raises(EgressRefused):
        await guarded(Names(["127.0.0.1"])).connect_unix_socket("/var/run/docker.sock")
