"""One session with an MCP server: opened once, used by many calls, and lived by a task of its own.

Both eras of the protocol are spoken: a server is asked what it knows (2026-07-28, where each request stands for
itself), and where that is not answered in kind the two shake hands (2025-11-25 and earlier). Nothing is offered to the
server: what it asks for beside that (sampling, elicitation, roots) is declined.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from contextvars import Context
from dataclasses import replace
from typing import Any, TypeAlias

from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    UNSUPPORTED_PROTOCOL_VERSION,
    CallToolRequest,
    CallToolRequestParams,
    Implementation,
    ListToolsRequest,
    PaginatedRequestParams,
    ToolListChangedNotification,
)
from pydantic import TypeAdapter, ValidationError

from interlock.core.canonical import Json
from interlock.core.frozen import frozen
from interlock.core.mcp_answer import Refused, Said
from interlock.runners.exchange import NoAnswer
from interlock.runners.http_exchange import quieten, set_quiet
from interlock.runners.mcp_exchange import McpExchange, entered
from interlock.runners.mcp_http import NO_ANSWER
from interlock.runners.mcp_pace import Declining
from interlock.runners.mcp_pages import Page, PagesApart, page_of
from interlock.runners.mcp_stdio import TOO_LARGE, NotStarted
from interlock.runners.mcp_watch import Watch

quieten("client", "mcp.client.streamable_http", "mcp.shared.jsonrpc_dispatcher", "httpx2", "mcp.client.session")

Streams: TypeAlias = "AbstractAsyncContextManager[tuple[Any, Any]]"
Opening: TypeAlias = "Callable[[asyncio.Event], Streams]"
"""Opens the streams of a session; the event is to be set once the server says no more."""

ENDING_S = 8.0

_ANYTHING: TypeAdapter[Any] = TypeAdapter(dict[str, Any])
"""Results are read by our own code: the library has checked by then that they are results of the protocol."""

_CLIENT = Implementation(name="interlock", version="1")
_CLOSED_WORDS = ("Connection closed", "SSE stream ")
"""How the library begins what it says of a connection that is lost, under a code that servers answer with too."""

_CLOSED = NoAnswer("the connection broke off")
_OLDEST = NoAnswer(
    "nothing at its address takes Streamable HTTP (the transport before it, HTTP with SSE, is not spoken here)",
    passes=False,
)
_LARGE = NoAnswer("a message of it is too large", passes=False)


@frozen
class Illegible:
    """A result that is none of the protocol."""


@frozen
class About:
    """What a server says of itself as a session is opened: its own word, all of it."""

    name: str = ""
    title: str = ""
    version: str = ""
    protocol: str = ""
    instructions: str = ""


class Session:
    """A session that is being opened, or is open, or has ended: `is_over` says so."""

    def __init__(self, opening: Opening, *, bytes_max: int) -> None:
        self._opening = opening
        self._bytes_max = bytes_max
        self._ended = asyncio.Event()
        self._watch: Watch | None = None
        self.list_version = 0
        """Rises with each word of the server that its list of tools has changed."""
        self.is_used = False
        """Whether a call was answered in it: one that its server ended at once is not opened again and again."""
        loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[ClientSession] = loop.create_future()
        self._ready.add_done_callback(_looked_at)
        self._task = loop.create_task(self._live(), context=Context())

    @property
    def is_over(self) -> bool:
        """Whether it cannot be used any more."""
        return self._ended.is_set() or self._task.done()

    async def there(self) -> None:
        """Wait until it is open. Raises `NotStarted` where it cannot be."""
        await asyncio.shield(self._ready)

    async def call(
        self, tool: str, arguments: Mapping[str, Json], *, meta: Mapping[str, Json], exchange: McpExchange
    ) -> Said | Refused | Illegible | NoAnswer:
        """One call of a tool. Total but for cancellation, which the server is told."""
        params = CallToolRequestParams.model_validate({"name": tool, "arguments": {**arguments}, "_meta": {**meta}})
        session = self._ready.result()
        try:
            with entered(exchange):
                request = CallToolRequest(params=params)
                said = Said(await session.send_request(request, _ANYTHING, progress_callback=exchange.told))
            self.is_used = True
            return said
        except MCPError as fault:
            found = self._read(fault, exchange)
            self.is_used = self.is_used or isinstance(found, Refused)
            return found
        except ValidationError:
            return exchange.fault or Illegible()
        except Exception as fault:  # noqa: BLE001 - whatever a server brings a library to is no answer
            return exchange.fault or NoAnswer(f"the call failed with {type(fault).__name__}", passes=False)

    @property
    def about(self) -> About:
        """What the server said of itself; once it is open."""
        session = self._ready.result()
        info = session.server_info
        said = About(protocol=session.protocol_version or "", instructions=session.instructions or "")
        if info is None:
            return said
        return replace(said, name=info.name, title=info.title or "", version=info.version)

    async def page(self, cursor: str | None, *, exchange: McpExchange) -> Page | NoAnswer:
        """One page of its tools, as it came."""
        request = ListToolsRequest(params=PaginatedRequestParams(cursor=cursor))
        try:
            with entered(exchange):
                said = await self._ready.result().send_request(request, _ANYTHING)
            return page_of(said, exchange)
        except MCPError as fault:
            found = self._read(fault, exchange)
            return found if isinstance(found, NoAnswer) else NoAnswer(f"it answered with the error {fault.code}")
        except Exception as fault:  # noqa: BLE001 - whatever a server brings a library to is no answer
            return exchange.fault or NoAnswer(f"the call failed with {type(fault).__name__}", passes=False)

    async def close(self) -> None:
        """End it, and what was started for it."""
        self._ended.set()
        _, left = await asyncio.wait((self._task,), timeout=ENDING_S)
        if left:
            self._task.cancel()
            await asyncio.wait((self._task,))

    def _read(self, fault: MCPError, exchange: McpExchange) -> Refused | NoAnswer:
        if exchange.is_gone:
            self._ended.set()
        if exchange.fault is not None:
            return exchange.fault
        if fault.code == TOO_LARGE:
            return _LARGE
        return _CLOSED if fault.code == NO_ANSWER or _is_closed(fault) else Refused(fault.code)

    async def _live(self) -> None:
        """Open it, keep it until it is to end, close it: all in one task, as the library's scopes demand."""
        set_quiet()
        try:
            async with (
                self._opening(self._ended) as (read, write),
                ClientSession(
                    dispatcher=PagesApart(read, Declining(write)), client_info=_CLIENT, message_handler=self._heard
                ) as session,
            ):
                agreeing = asyncio.create_task(_agree(session, self._bytes_max))
                why = await _first(agreeing, self._ended)
                if why is not None:
                    return self._fail(why)  # raised in here it would get lost in a group of the library's
                self._watch = Watch(session, changed=self._changed)
                self._ready.set_result(session)
                await self._ended.wait()
        except NotStarted as fault:
            self._fail(fault)
        except Exception as fault:  # noqa: BLE001 - whatever a server brings a library to, nobody is left waiting
            self._fail(NotStarted(NoAnswer(f"it cannot be spoken to: {type(fault).__name__}", passes=False)))
        finally:
            self._ended.set()
            self._fail(NotStarted(_CLOSED))
            if self._watch is not None:
                await self._watch.close()

    async def is_told(self) -> bool:
        """Whether its server says when its list changes; once it is open."""
        return self._watch is not None and await self._watch.is_told()

    async def _heard(self, message: object) -> None:
        """What the server says unasked: that its list has changed is all that anybody here wants to know."""
        if isinstance(message, ToolListChangedNotification):
            self._changed()

    def _changed(self) -> None:
        self.list_version += 1

    def _fail(self, fault: NotStarted) -> None:
        if not self._ready.done():
            self._ready.set_exception(fault)


async def _first(agreeing: asyncio.Task[None], ended: asyncio.Event) -> NotStarted | None:
    """Wait until the two sides agree, or the server is gone."""
    gone = asyncio.create_task(ended.wait())
    try:
        await asyncio.wait((agreeing, gone), return_when=asyncio.FIRST_COMPLETED)
        if not agreeing.done():
            return NotStarted(_CLOSED)
        agreeing.result()
    except NotStarted as fault:
        return fault
    finally:
        for task in (agreeing, gone):
            task.cancel()
        await asyncio.wait((agreeing, gone))
    return None


async def _agree(session: ClientSession, bytes_max: int) -> None:
    """Find the version of the protocol that both know. Raises `NotStarted`."""
    exchange = McpExchange(bytes_max, is_call=False)
    try:
        with suppress(ValidationError, RuntimeError), entered(exchange):  # what it says is none of the newer era
            await session.discover()
            return
    except MCPError as fault:
        is_cut = exchange.fault is not None and not exchange.status
        if is_cut or _is_closed(fault) or not _knows_handshake(fault):
            raise NotStarted(exchange.fault or _why(fault)) from fault
    exchange = McpExchange(bytes_max, is_call=False)
    try:
        with entered(exchange):
            await session.initialize()
    except MCPError as fault:
        raise NotStarted(_OLDEST if exchange.status in (404, 405) else exchange.fault or _why(fault)) from fault
    except (ValidationError, RuntimeError) as fault:
        raise NotStarted(NoAnswer("it speaks no version of the protocol that is known here", passes=False)) from fault


def _knows_handshake(fault: MCPError) -> bool:
    """Whether a server that refused the newer era may know the older one."""
    if fault.code != UNSUPPORTED_PROTOCOL_VERSION:
        return True
    supported = fault.data.get("supported") if isinstance(fault.data, dict) else None
    return not isinstance(supported, list) or any(isinstance(each, str) and each < "2026" for each in supported)


def _is_closed(fault: MCPError) -> bool:
    """Whether the library says so. Servers answer with its code too, in words of their own."""
    return fault.code == CONNECTION_CLOSED and fault.message.startswith(_CLOSED_WORDS)


def _why(fault: MCPError) -> NoAnswer:
    if fault.code == NO_ANSWER or _is_closed(fault):
        return _CLOSED
    return NoAnswer(f"it answered the first word with the error {fault.code}", passes=False)


def _looked_at(ready: asyncio.Future[ClientSession]) -> None:
    """Nobody may be waiting for it any more."""
    if not ready.cancelled():
        ready.exception()
