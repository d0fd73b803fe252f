"""Has an MCP server say when its list of tools changes, where by its era that has to be asked for."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextvars import Context

from mcp.client.session import ClientSession
from mcp.client.subscriptions import listen
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from interlock.runners.http_exchange import set_quiet
from interlock.runners.mcp_exchange import McpExchange, entered
from interlock.runners.mcp_http import ENDLESS

AGREEING_S = 5.0
_log = logging.getLogger(__name__)


class Watch:
    """One session's word from its server, which its handler hears. `changed` is called when there will be no other."""

    def __init__(self, session: ClientSession, *, changed: Callable[[], None]) -> None:
        self._session = session
        self._changed = changed
        self._task: asyncio.Task[None] | None = None
        self._agreed: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._is_refused = False

    async def is_told(self) -> bool:
        """Whether the server says when its list changes: it promised that, or has agreed to it."""
        if self._session.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            able = self._session.server_capabilities
            return able is not None and able.tools is not None and bool(able.tools.list_changed)
        if self._is_refused:
            return False
        if self._task is None or self._task.done():
            loop = asyncio.get_running_loop()
            self._agreed = loop.create_future()
            self._task = loop.create_task(self._listen(self._agreed), context=Context())
        await asyncio.wait((self._agreed,), timeout=AGREEING_S)
        self._is_refused = not (self._agreed.done() and self._agreed.result())
        if self._is_refused:
            self._task.cancel()
        return not self._is_refused

    async def close(self) -> None:
        """Hear no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait((self._task,))

    async def _listen(self, agreed: asyncio.Future[bool]) -> None:
        set_quiet()
        try:
            with entered(McpExchange(ENDLESS, is_call=False)):
                await self._hear(agreed)
        except Exception as fault:  # noqa: BLE001 - whatever a server brings a library to, it says no more, is all
            _log.debug("the server says no more of its list: %s", type(fault).__name__)
        finally:
            if not agreed.done():
                agreed.set_result(False)
            self._changed()

    async def _hear(self, agreed: asyncio.Future[bool]) -> None:
        async with listen(self._session, tools_list_changed=True) as heard:
            if not agreed.done():
                agreed.set_result(bool(heard.honored.tools_list_changed))
            async for _ in heard:
                continue  # each word of it reaches the handler of the session as well, and is counted there
