"""The lease under which a process holds its claims: it ends on the server's clock, and earlier on this process's own.

    asked at t0 ----- renewed at the server at t1 ----- t0 + span: this process stops ----- t1 + span: others take over

The time is taken before the request, so that whatever delays the answer shortens what this process believes in. The
clock is monotonic; on Linux it goes on while a process is stopped.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable
from typing import Final

import psycopg

from interlock.core.errors import StoreError
from interlock.store.postgres_line import Line, shown

log = logging.getLogger("interlock.store")

LEASE_S: Final = 10.0
_BEATS: Final = 5
"""How often a lease is renewed while it lasts, so that some renewals may fail."""


class PostgresLease:
    """This process's lease. `lost` is awaited, and has it take another, once it has run out."""

    def __init__(self, url: str, *, span_s: float, lost: Callable[[], Awaitable[object]]) -> None:
        self._url = url
        self._span_s = span_s
        self._lost = lost
        self._owner = 0
        self._ends_s = -math.inf
        self.has_neighbours = True
        self._line: Line | None = None
        self._turn = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def begin(self, owner: int, *, ends_s: float) -> None:
        """A new owner's lease, by this process's clock."""
        self._owner, self._ends_s = owner, ends_s
        if self._task is None:
            self._task = asyncio.create_task(self._beat())

    def remaining_s(self) -> float:
        """How long nobody else takes over what this process has claimed; below zero: that may have happened."""
        return self._ends_s - time.monotonic()

    async def hold(self, seconds: float) -> bool:
        """Have it last so long at least, renewing it where necessary; False where it cannot be."""
        if self.remaining_s() >= seconds:
            return True
        try:
            # Longer than asked for, so that the next calls find it long enough.
            async with asyncio.timeout(self._span_s):
                await self._renew(seconds + self._span_s)
        except (psycopg.Error, OSError, TimeoutError):
            return False
        return self.remaining_s() >= seconds

    async def close(self) -> None:
        """Renew it no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        if self._line is not None:
            await self._line.close()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._span_s / _BEATS)
            try:
                async with asyncio.timeout(self._span_s):
                    await self._renew(self._span_s)
                if self.remaining_s() < 0:
                    await self._lost()
            except (psycopg.Error, StoreError, OSError, TimeoutError) as fault:
                log.warning("the lease at %s could not be renewed: %s", shown(self._url), type(fault).__name__)

    async def _renew(self, span_s: float) -> None:
        async with self._turn:
            if self._line is None or self._line.is_broken:
                self._line = await Line.open(self._url)
            owner, asked_s = self._owner, time.monotonic()
            (renewed,) = await self._line.trip(("renew_lease", (span_s, owner)))
            if owner == self._owner:
                self._ends_s = max(self._ends_s, asked_s + span_s) if renewed else -math.inf
                self.has_neighbours = any(others for (others,) in renewed)
