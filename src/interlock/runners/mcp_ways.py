"""How sessions with MCP servers are opened, of both kinds, for calls and for listings."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from interlock.core.canonical import canonical, sha256_hex
from interlock.core.frozen import frozen
from interlock.core.http_build import Filling, Unbuildable, build
from interlock.core.mcp_call import HttpServer, Server
from interlock.core.tool import spec_to_json
from interlock.runners.mcp_http import HttpWay, HttpWays
from interlock.runners.mcp_session import Opening, Streams
from interlock.runners.mcp_stdio import Processes, StdioWay


@frozen
class Waits:
    """How long a server may take to be there, and how large a message of it may be."""

    start_s: float
    bytes_max: int


class Ways:
    """The ways to servers: connections, and processes that run here."""

    def __init__(self, *, http: HttpWays, processes: Processes) -> None:
        self._http = http
        self._processes = processes

    def opening(self, server: Server, secrets: Mapping[str, str], *, waits: Waits) -> Opening | Unbuildable:
        """How a session with it is opened; a reason where a credential cannot be sent."""
        if isinstance(server, HttpServer):
            request = build(server.endpoint, Filling({}, "", secrets))
            if isinstance(request, Unbuildable):
                return request
            over_http = HttpWay(request, waits.start_s, waits.bytes_max)
            return lambda _: self._http.open(over_http)
        if any("\0" in secrets[name] for name in server.secrets):
            return Unbuildable("a credential holds characters that cannot be sent", of_credential=True)
        way = StdioWay(server, secrets, waits.bytes_max)

        def start(lost: asyncio.Event) -> Streams:
            return self._processes.open(way, lost=lost)

        return start

    async def close(self) -> None:
        """Close every connection, and let go of what keeps the processes."""
        self._processes.close()
        await self._http.close()


def mark_of(server: Server) -> str:
    """What tells one server from another: all that is declared of it."""
    return sha256_hex(canonical(spec_to_json(server)))
