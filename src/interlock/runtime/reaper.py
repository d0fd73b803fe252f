"""Recovers, every few seconds, what processes that died have left behind."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from interlock.core.redaction import Redactor
from interlock.runtime.faults import report

log = logging.getLogger("interlock.reaper")


class Reaper:
    """A task that calls `recover` again and again. Owned by the gate; `every_s` of 0 means that there is none."""

    def __init__(self, recover: Callable[[], Awaitable[object]], *, every_s: float, redactor: Redactor) -> None:
        self._recover = recover
        self._every_s = every_s
        self._redactor = redactor
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, with a pause."""
        if self._every_s and self._task is None:
            self._task = asyncio.create_task(self._work())

    async def stop(self) -> None:
        """End, whatever it is at; what it has begun to settle is settled by the gate."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _work(self) -> None:
        while True:
            # Not the gate's clock: a pass is about other processes, whose time is real.
            await asyncio.sleep(self._every_s)
            try:
                await self._recover()
            except Exception as fault:  # noqa: BLE001 - the store may be away for a while; the next pass finds what this one missed
                report(log, "open calls could not be recovered", fault=fault, redactor=self._redactor)
