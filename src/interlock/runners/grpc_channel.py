"""Opens gRPC channels to addresses that were checked, and to no others, and says when one is there.

A channel is made to one judged address; TLS and `:authority` keep the name that was declared. Nothing of the
environment (proxies), of DNS (service configurations) or of another channel is used.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import certifi
import grpc
import grpc.aio

from interlock.core.frozen import frozen
from interlock.core.http_address import NOTHING_PRIVATE, Allowed, is_allowed
from interlock.core.http_template import Origin
from interlock.runners.egress import Resolver, SystemResolver
from interlock.runners.exchange import NoAnswer

CONNECTIONS_MAX = 100
"""Of effects, at once; reads share one."""
LOOK_S = 0.000_5
LOOK_MAX_S = 0.02
"""How soon a connection that is being made is looked at, at first and at last."""
IDLE_MS = 15_000
"""How long a connection is kept for the next read."""

_BROKEN = (grpc.ChannelConnectivity.TRANSIENT_FAILURE, grpc.ChannelConnectivity.SHUTDOWN)
_UNREACHED = NoAnswer("it cannot be reached, or is not who it should be")

_CROWDED = NoAnswer("too many calls are on their way")


@frozen
class Way:
    """Where a channel leads, how long it may take to be there, and how large a message it brings."""

    origin: Origin
    connect_s: float
    message_bytes_max: int


@dataclass(slots=True)
class _Kept:
    """A channel that reads share; it is closed when nobody uses it and another has taken its place."""

    channel: grpc.aio.Channel
    users: int = 1
    is_retired: bool = False


class Channels:
    """The connections of all gRPC tools of a process.

    Reads share one that is kept. An effect gets one of its own: one that its server is about to close would lose the
    request, and leave it unknown.
    """

    def __init__(
        self, *, resolver: Resolver | None = None, allowed: Allowed = NOTHING_PRIVATE, tls: ssl.SSLContext | None = None
    ) -> None:
        self._resolver = resolver or SystemResolver()
        self._allowed = allowed
        self._tls = tls
        self._roots: bytes | None = None
        self._places = asyncio.Semaphore(CONNECTIONS_MAX)
        self._kept: dict[tuple[Origin, int], _Kept] = {}
        self._unused: list[_Kept] = []

    @asynccontextmanager
    async def to(self, way: Way, *, is_shared: bool) -> AsyncIterator[grpc.aio.Channel | NoAnswer]:
        """A channel that is connected, or why there is none: then nothing was sent."""
        found = await (self._shared(way) if is_shared else self._own(way))
        if isinstance(found, NoAnswer):
            yield found
            return
        try:
            yield found.channel
        finally:
            found.users -= 1
            if not is_shared:
                self._places.release()
            if found.is_retired and not found.users:
                self._unused.append(found)
            while self._unused:
                await self._unused.pop().channel.close()

    async def close(self) -> None:
        """Close every connection that is kept."""
        while self._kept:
            _, kept = self._kept.popitem()
            await kept.channel.close()

    async def _shared(self, way: Way) -> _Kept | NoAnswer:
        kept = self._kept.get((way.origin, way.message_bytes_max))
        if kept is not None and kept.channel.get_state() is grpc.ChannelConnectivity.READY:
            kept.users += 1
            return kept
        found = await self._connected(way)
        return found if isinstance(found, NoAnswer) else self._keep(way, found)

    async def _own(self, way: Way) -> _Kept | NoAnswer:
        """Takes a place, and gives it back where nothing comes of it."""
        try:
            async with asyncio.timeout(way.connect_s):
                await self._places.acquire()
        except TimeoutError:
            return _CROWDED
        found: grpc.aio.Channel | NoAnswer = _UNREACHED
        try:
            found = await self._connected(way)
        finally:
            if isinstance(found, NoAnswer):
                self._places.release()
        return found if isinstance(found, NoAnswer) else _Kept(found, is_retired=True)

    def _keep(self, way: Way, channel: grpc.aio.Channel) -> _Kept:
        """In the place of one that is no longer connected; calls that are on that one may still end."""
        place = (way.origin, way.message_bytes_max)
        old = self._kept.get(place)
        kept = self._kept[place] = _Kept(channel)
        if old is not None:
            old.is_retired = True
            if not old.users:
                self._unused.append(old)
        return kept

    async def _connected(self, way: Way) -> grpc.aio.Channel | NoAnswer:
        try:
            async with asyncio.timeout(way.connect_s):
                return await self._to_an_address(way)
        except (OSError, UnicodeError):
            return _UNREACHED

    async def _to_an_address(self, way: Way) -> grpc.aio.Channel | NoAnswer:
        host = way.origin.host.strip("[]")
        addresses = list(await self._resolver.resolve(host, way.origin.port))
        if not is_allowed(host, addresses, self._allowed):
            return NoAnswer("its host has an address that egress_allow does not list", passes=False)
        for address in addresses:  # one that swallows packets leaves time for the next
            channel = await self._tried(way, address, within_s=way.connect_s / len(addresses))
            if channel is not None:
                return channel
        return _UNREACHED

    async def _tried(self, way: Way, address: str, *, within_s: float) -> grpc.aio.Channel | None:
        channel = self._channel(way, address)
        is_there = False
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(within_s):
                    is_there = await _is_reached(channel)
        finally:
            if not is_there:
                await channel.close()
        return channel if is_there else None

    def _channel(self, way: Way, address: str) -> grpc.aio.Channel:
        options: list[tuple[str, str | int]] = [
            ("grpc.default_authority", way.origin.authority),
            ("grpc.enable_http_proxy", 0),
            ("grpc.service_config_disable_resolution", 1),
            ("grpc.enable_retries", 0),
            ("grpc.use_local_subchannel_pool", 1),
            ("grpc.client_idle_timeout_ms", IDLE_MS),
            ("grpc.max_receive_message_length", way.message_bytes_max),
            ("grpc.primary_user_agent", "interlock"),
        ]
        place = f"ipv6:[{address.replace('%', '%25')}]" if ":" in address else f"ipv4:{address}"
        target = f"{place}:{way.origin.port}"
        if way.origin.scheme == "http":
            return grpc.aio.insecure_channel(target, options)
        if self._roots is None:
            self._roots = _roots(self._tls)
        return grpc.aio.secure_channel(target, grpc.ssl_channel_credentials(self._roots), options)


async def _is_reached(channel: grpc.aio.Channel) -> bool:
    """Whether it comes to be connected; a first failure is one, for who tries again is the gate.

    It is looked at again and again: a watch that is given up ends later, maybe on an event loop that is closed.
    """
    pause_s = LOOK_S
    while (state := channel.get_state(try_to_connect=True)) is not grpc.ChannelConnectivity.READY:
        if state in _BROKEN:
            return False
        await asyncio.sleep(pause_s)
        pause_s = min(pause_s * 1.5, LOOK_MAX_S)
    return True


def _roots(tls: ssl.SSLContext | None) -> bytes:
    """The certificates that are trusted: those of the context, else of the system, and of Mozilla where it has none."""
    if tls is None:
        tls = ssl.create_default_context()
        with suppress(OSError):
            tls.load_verify_locations(certifi.where())
    return "".join(map(ssl.DER_cert_to_PEM_cert, tls.get_ca_certs(binary_form=True))).encode()
