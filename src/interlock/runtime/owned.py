"""Tasks of which somebody is the owner who does not await them: kept until they end, and what broke them reported."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import TypeVar

from interlock.core.redaction import Redactor
from interlock.runtime.faults import report

T = TypeVar("T")


class Owned:
    """The tasks of one owner. `fault` is what is to be said where one of them fails."""

    def __init__(self, log: logging.Logger, fault: str, *, redactor: Redactor) -> None:
        self._log = log
        self._fault = fault
        self._redactor = redactor
        self.tasks: set[asyncio.Task[object]] = set()

    def begin(self, work: Coroutine[object, object, T]) -> asyncio.Task[T]:
        """Have it done, whether anybody awaits it or not."""
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self._end)
        return task

    def cancel(self) -> None:
        """Tell all of them to stop."""
        for task in self.tasks:
            task.cancel()

    async def drain(self) -> None:
        """Wait until all have ended, those among them that others begin meanwhile."""
        while self.tasks:
            await asyncio.wait(self.tasks)

    def _end(self, task: asyncio.Task[T]) -> None:
        self.tasks.discard(task)
        fault = None if task.cancelled() else task.exception()
        if fault is not None:
            report(self._log, self._fault, fault=fault, redactor=self._redactor)
