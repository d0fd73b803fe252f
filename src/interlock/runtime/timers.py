"""What a gate does again and again by itself: recover what processes that died have left, and make probes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from interlock.core.redaction import Redactor
from interlock.ports import Entropy
from interlock.runtime.faults import report

log = logging.getLogger("interlock.timers")

SPREAD: Final = 0.5
"""How much of a pause is drawn by chance where many processes that begin together are not to work together."""


class Timers:
    """Tasks that do the same work after each pause, one pass at a time. Owned by the gate, and ended with it."""

    def __init__(self, *, redactor: Redactor, entropy: Entropy) -> None:
        self._redactor = redactor
        self._entropy = entropy
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, fault: str, work: Callable[[], Awaitable[object]], *, every_s: float, spread: float = 0.0) -> None:
        """Begin, with a pause; `fault` is what is to be said of a pass that fails. None of 0 seconds begins.

        `spread` is how much of each pause is drawn by chance, which is then between that less and that more.
        """
        if every_s:
            self._tasks.append(asyncio.create_task(self._work(fault, work, every_s=every_s, spread=spread)))

    async def stop(self) -> None:
        """End, whatever they are at; what they have begun to settle is settled by the gate."""
        tasks, self._tasks = self._tasks, []
        for each in tasks:
            each.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _work(self, fault: str, work: Callable[[], Awaitable[object]], *, every_s: float, spread: float) -> None:
        while True:
            # Not the gate's clock: a pass is about other processes and other systems, whose time is real.
            await asyncio.sleep(self.pause_s(every_s, spread=spread))
            try:
                await work()
            except Exception as broken:  # noqa: BLE001 - the store may be away for a while; the next pass finds what this one missed
                report(log, fault, fault=broken, redactor=self._redactor)

    def pause_s(self, every_s: float, *, spread: float) -> float:
        """The next pause."""
        if not spread:
            return every_s
        drawn = int.from_bytes(self._entropy.bytes(2)) / 0xFFFF
        return every_s * (1 - spread + 2 * spread * drawn)
