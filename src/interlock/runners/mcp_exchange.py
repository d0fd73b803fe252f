"""What is known of one call on its way to an MCP server, shared with whatever writes and reads for it.

The library that speaks the protocol writes in tasks of its own. It takes the context of the caller along, and in that
context stands the exchange: how far it got, what broke it, and what bounds its answer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

import anyio

from interlock.core.canonical import Json
from interlock.runners.exchange import NoAnswer, Progress
from interlock.runners.http_exchange import quietly
from interlock.runners.onlooker import Told

T = TypeVar("T")


class GivenUp(Exception):
    """Nobody waits for this exchange any more."""


@dataclass(slots=True)
class McpExchange:
    """One call. `fault` is why there is no answer to it; the first reason is the true one.

    `is_read`: it may be sent along a connection that was used before, and where a redirect leads. `mirrored` are
    headers that repeat arguments. `is_call` is false for what a session is opened with. `status` is that of an answer
    of HTTP that says nothing in the protocol; `is_gone`: there is no such session any more. `entries` are those of a
    page of a list, as they came. `told` takes what its server says of how far it is.
    """

    bytes_max: int
    is_read: bool = True
    is_call: bool = True
    mirrored: Mapping[str, str] = field(default_factory=dict)
    progress: Progress = field(default_factory=Progress)
    fault: NoAnswer | None = None
    status: int = 0
    is_gone: bool = False
    entries: list[Json] = field(default_factory=list)
    told: Told | None = None
    _scopes: set[anyio.CancelScope] = field(default_factory=set)
    _is_over: bool = False

    def broke(self, why: NoAnswer) -> None:
        """There will be no answer."""
        if self.fault is None:
            self.fault = why

    async def within(self, waiting: Awaitable[T], *, seconds: float | None = None) -> T:
        """What is awaited, unless the exchange is given up. Raises `GivenUp`, or `TimeoutError` after the seconds."""
        if self._is_over:
            close = getattr(waiting, "close", None)
            if close is not None:
                close()
            raise GivenUp
        with anyio.CancelScope() as scope:
            self._scopes.add(scope)
            try:
                with anyio.fail_after(seconds):
                    return await waiting
            finally:
                self._scopes.discard(scope)
        raise GivenUp

    def give_up(self) -> None:
        """Let go of whatever still reads or writes for it."""
        self._is_over = True
        for scope in tuple(self._scopes):
            scope.cancel()


_CURRENT: ContextVar[McpExchange | None] = ContextVar("mcp_exchange", default=None)


def current() -> McpExchange | None:
    """The exchange of the caller, where there is one."""
    return _CURRENT.get()


@contextmanager
def entered(exchange: McpExchange) -> Iterator[None]:
    """Within, what is written in this task and by its order is of this exchange, and logged by nobody."""
    before = _CURRENT.set(exchange)
    try:
        with quietly():
            yield
    finally:
        _CURRENT.reset(before)
        exchange.give_up()
