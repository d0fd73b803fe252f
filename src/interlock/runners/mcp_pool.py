"""The sessions that are open: one for each server, tenant and set of credentials, opened when it is first needed.

Tenants never share one: a server may keep in a session what it was told in it. A server with which no session comes
about, or that ends each before it answers a call, is tried again at growing pauses, and at once only the first time.
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

REST_S = 0.25
REST_MAX_S = 5.0
"""How long a server is let be that failed twice in a row, and the longest that this grows to: less than the shortest
rest of a breaker, so that what a breaker lets pass is tried."""

RESTS_MAX = 1_024

_CROWDED = NoAnswer("too many sessions with servers are in use")
_LATE = NoAnswer("it was not there in time")
_ENDED = NoAnswer("it ended before it answered a call")
_CLOSING = NoAnswer("the gate is closing")


@dataclass(slots=True)
class _Kept:
    session: Session
    users: int = 0
    last_s: float = 0.0


@dataclass(slots=True)
class _Rest:
    """How often in a row a server failed, why the last time, and until when it is let be."""

    failures: int
    why: NoAnswer
    until_s: float


class Rests:
    """Which servers are let be for a while."""

    def __init__(self) -> None:
        self._found: dict[Hashable, _Rest] = {}

    def check(self, key: Hashable) -> None:
        """Raises `NotStarted`, in the words of the last failure, where it is not to be tried yet."""
        rest = self._found.get(key)
        if rest is not None and asyncio.get_running_loop().time() < rest.until_s:
            raise NotStarted(NoAnswer(f"{rest.why.reason} (it is tried again in a moment)", passes=rest.why.passes))

    def failed(self, key: Hashable, why: NoAnswer) -> None:
        """It was tried, and did not get as far as to answer a call."""
        before = self._found.pop(key, None)
        failures = 1 if before is None else before.failures + 1
        pause_s = 0.0 if failures == 1 else min(REST_S * 2 ** min(failures - 1, 16), REST_MAX_S)
        self._found[key] = _Rest(failures, why, asyncio.get_running_loop().time() + pause_s)
        if len(self._found) > RESTS_MAX:
            del self._found[next(iter(self._found))]

    def answered(self, key: Hashable) -> None:
        """It works."""
        self._found.pop(key, None)


class Sessions:
    """Open sessions by what they are for."""

    def __init__(self, *, sessions_max: int = SESSIONS_MAX, idle_s: float = IDLE_S) -> None:
        self._max = sessions_max
        self._idle_s = idle_s
        self._kept: dict[Hashable, _Kept] = {}
        self._rests = Rests()
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
                raise self._failed(key, kept, _LATE) from None
            except NotStarted as fault:
                raise self._failed(key, kept, fault.why) from fault
            yield kept.session
        finally:
            kept.users -= 1
            kept.last_s = asyncio.get_running_loop().time()
            if kept.session.is_used:
                self._rests.answered(key)
            if kept.session.is_over:
                self._ended(key, kept)

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
            self._ended(key, kept)
            kept = None
        if kept is None:
            self._rests.check(key)
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

    def _failed(self, key: Hashable, kept: _Kept, why: NoAnswer) -> NotStarted:
        """It did not come about: counted once, however many waited for it."""
        if self._kept.get(key) is kept:
            self._rests.failed(key, why)
        self._drop(key, kept)
        return NotStarted(why)

    def _ended(self, key: Hashable, kept: _Kept) -> None:
        """Its server ended it: a failure where it never answered a call in it."""
        if self._kept.get(key) is kept and not kept.session.is_used:
            self._rests.failed(key, _ENDED)
        self._drop(key, kept)

    def _drop(self, key: Hashable, kept: _Kept) -> None:
        if self._kept.get(key) is kept:
            del self._kept[key]
            task = asyncio.get_running_loop().create_task(kept.session.close())
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)
