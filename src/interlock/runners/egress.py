"""Opens connections to addresses that were checked, and to no others.

A name is resolved here, once for each connection; every address that it has is judged, and the connection is made to
one that was judged, so a name whose answer changes meanwhile changes nothing. `Host` and the name in TLS stay as they
are. Nothing of the environment (proxies, their exceptions) is read.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Protocol

import httpcore

from interlock.core.http_address import NOTHING_PRIVATE, Allowed, is_allowed


class Resolver(Protocol):
    """Where a host name leads. Owned by the egress guard."""

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Every address, of every family, in order of preference. Raises `OSError` where there is none."""


class EgressRefused(httpcore.ConnectError):
    """The host has an address that calls may not go to; nothing was sent."""


class SystemResolver:
    """The operating system's resolver."""

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Every address, each once."""
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(str(address[0]) for *_, address in found))


class GuardedNetwork(httpcore.AsyncNetworkBackend):
    """The network as HTTP tools have it: public addresses, and those that are `allowed` besides."""

    def __init__(self, *, resolver: Resolver | None = None, allowed: Allowed = NOTHING_PRIVATE) -> None:
        self._resolver = resolver or SystemResolver()
        self._allowed = allowed
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(  # the interface of httpcore, whose caller names every parameter
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """A connection to an address of the host. Raises `EgressRefused`, `ConnectError` or `ConnectTimeout`."""
        try:
            async with asyncio.timeout(timeout):
                return await self._connect(host, port, wait_s=timeout)
        except TimeoutError:
            raise httpcore.ConnectTimeout(host) from None

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Refused: no HTTP tool talks to a socket in the file system."""
        raise EgressRefused(path)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    async def _connect(self, host: str, port: int, *, wait_s: float | None) -> httpcore.AsyncNetworkStream:
        try:
            addresses = list(await self._resolver.resolve(host, port))
        except (OSError, UnicodeError) as fault:
            raise httpcore.ConnectError(host) from fault
        if not is_allowed(host, addresses, self._allowed):
            raise EgressRefused(host)
        share_s = (
            None if wait_s is None else wait_s / len(addresses)
        )  # one that swallows packets leaves time for the next
        for address in addresses[:-1]:
            with suppress(httpcore.ConnectError, httpcore.ConnectTimeout):
                return await self._network.connect_tcp(address, port, timeout=share_s)
        return await self._network.connect_tcp(addresses[-1], port)
