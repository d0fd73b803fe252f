"""How much a server may say that nobody asked it for: notices, questions, and answers to nobody.

A server that says more is read more slowly. Its pipe fills, it waits, and no other server is the slower for it. What it
asks is declined, and where it does not read that, no more of it is kept.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCResponse

BURST = 5_000
"""How many messages that nobody asked for are read at once, of one that was quiet before."""

RATE_PER_S = 500.0
"""How many of them a second are read after that."""

DECLINED_MAX = 100
"""How many answers to what a server asks for may wait to be read by it; more are not sent."""


ASKED_MAX = 10_000
"""How many requests are remembered whose answers have not come: of some nobody waits any more."""


class Asked:
    """The requests that a server was sent and has not answered, by their ids."""

    def __init__(self) -> None:
        self._ids: dict[object, None] = {}

    def put(self, request: object) -> None:
        """It was sent."""
        self._ids[request] = None
        if len(self._ids) > ASKED_MAX:
            del self._ids[next(iter(self._ids))]

    def answered(self, request: object) -> bool:
        """Whether this is the answer to one of them, the first."""
        return self._ids.pop(request, self) is None


class Pace:
    """What one server may say at once: it holds whoever reads until as much may be read. One task reads at a time."""

    def __init__(self, *, burst: int = BURST, rate_per_s: float = RATE_PER_S) -> None:
        self._burst = float(burst)
        self._rate_per_s = rate_per_s
        self._left = float(burst)
        self._seen_s = asyncio.get_running_loop().time()

    async def take(self, messages: int) -> None:
        """So many were read: wait until that is no more than may be."""
        now_s = asyncio.get_running_loop().time()
        self._left = min(self._burst, self._left + (now_s - self._seen_s) * self._rate_per_s) - messages
        self._seen_s = now_s
        if self._left < 0:
            await asyncio.sleep(-self._left / self._rate_per_s)


class Declining:
    """A stream of what is written to a server, in which only so many answers to what it asks for may wait."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._waiting = 0

    async def send(self, item: SessionMessage, /) -> None:
        """Write one message. Raises `anyio.ClosedResourceError` for an answer too many, which nobody waits for."""
        if not isinstance(item.message, JSONRPCResponse | JSONRPCError):
            await self._inner.send(item)
            return
        if self._waiting >= DECLINED_MAX:
            raise anyio.ClosedResourceError
        self._waiting += 1
        try:
            await self._inner.send(item)
        finally:
            self._waiting -= 1

    async def aclose(self) -> None:
        """Close the stream behind it."""
        await self._inner.aclose()

    async def __aenter__(self) -> Declining:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        done: bool | None = await self._inner.__aexit__(kind, fault, trace)
        return done
