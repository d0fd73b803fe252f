"""Wakes those who watch a run in this process when it has moved; the others look for themselves every so often."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress

Place = tuple[str, str]


class Bells:
    """One bell for each run that is watched."""

    def __init__(self) -> None:
        self._heard: dict[Place, set[asyncio.Event]] = defaultdict(set)

    def ring(self, tenant: str, run_id: str) -> None:
        """The run has moved."""
        for each in self._heard.get((tenant, run_id), ()):
            each.set()

    @contextmanager
    def hearing(self, tenant: str, run_id: str) -> Iterator[Callable[[float], Awaitable[None]]]:
        """Hears from here on; the function waits until the bell was rung, or so many seconds."""
        place, event = (tenant, run_id), asyncio.Event()
        self._heard[place].add(event)

        async def rung(most_s: float) -> None:
            with suppress(TimeoutError):
                async with asyncio.timeout(most_s):
                    await event.wait()
            event.clear()

        try:
            yield rung
        finally:
            self._heard[place].discard(event)
            if not self._heard[place]:
                del self._heard[place]
