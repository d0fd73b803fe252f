"""The sessions that are open: one for each server, tenant and set of credentials, opened when it is first needed.

Tenants never share one: a server may keep in a session what it was told in it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from interlock.runners.exchange import NoAnswer
from interlock.runners.mcp_session import Opening, Session
from interlock.runners.mcp_stdio import NotStarted
from interlock.runners.mcp_ways import Waits

SESSIONS_MAX = 64
IDLE_S = 300.0
"""How long a session that nobody uses is kept."""

_CROWDED = NoAnswer("too many sessions with servers are in use")
_CLOSING = NoAnswer("the gate is closing")


@dataclass(slots=True)
class _Kept:
    session: Session
    users: int = 0
    last_s: float = 0.0


class Sessions:
    """Open sessions by what they are for."""

    def __init__(self, *, sessions_max: int = SESSIONS_MAX, idle_s: float = IDLE_S) -> None:
        self._max = sessions_max
        self._idle_s = idle_s
        self._kept: dict[Hashable, _Kept] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._is_closed = False

    @asynccontextmanager
    async def of(self, key: Hashable, opening: Opening, *, waits: Waits) -> AsyncIterator[Session]:
        """The session of this key, opened within this time where there is none. Raises `NotStarted`."""
        kept = self._found(key, opening, bytes_max=waits.bytes_max)
        kept.users += 1
        try:
            try:
                async with asyncio.timeout(waits.start_s):
                    await kept.session.there()
            except TimeoutError:
                self._drop(key, kept)
                raise NotStarted(NoAnswer("it was not there in time")) from None
            except NotStarted:
                self._drop(key, kept)
                raise
            yield kept.session
        finally:
            kept.users -= 1
            kept.last_s = asyncio.get_running_loop().time()
            if kept.session.is_over:
                self._drop(key, kept)

    async def close(self) -> None:
        """End every session, and what was started for it."""
        self._is_closed = True
        for key, kept in tuple(self._kept.items()):
            self._drop(key, kept)
        while self._ending:
            await asyncio.wait(tuple(self._ending))

    def _found(self, key: Hashable, opening: Opening, *, bytes_max: int) -> _Kept:
        if self._is_closed:
            raise NotStarted(_CLOSING)
        kept = self._kept.get(key)
        if kept is not None and kept.session.is_over:
            self._drop(key, kept)
            kept = None
        if kept is None:
            self._make_room()
            kept = self._kept[key] = _Kept(Session(opening, bytes_max=bytes_max))
        return kept

    def _make_room(self) -> None:
        """End those that nobody has used for a while, and, where there are too many, the one that waited longest."""
        now_s = asyncio.get_running_loop().time()
        idle = [(key, each) for key, each in self._kept.items() if not each.users]
        for key, each in sorted(idle, key=lambda pair: pair[1].last_s):
            if now_s - each.last_s > self._idle_s or len(self._kept) >= self._max:
                self._drop(key, each)
        if len(self._kept) >= self._max:
            raise NotStarted(_CROWDED)

    def _drop(self, key: Hashable, kept: _Kept) -> None:
        if self._kept.get(key) is kept:
            del self._kept[key]
            task = asyncio.get_running_loop().create_task(kept.session.close())
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)
