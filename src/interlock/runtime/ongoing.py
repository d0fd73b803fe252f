"""Knows which operations this process claims or runs just now, for those who wait for one of them to end."""

from __future__ import annotations

import asyncio


class Ongoing:
    """Operations by id. Every `begin` has its `end`."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        """How many are at it: racing resumes of one approval claim the same operation."""
        self._ended: dict[str, asyncio.Event] = {}

    def begin(self, operation_id: str) -> None:
        """Somebody is about to claim it."""
        self._counts[operation_id] = self._counts.get(operation_id, 0) + 1

    def end(self, operation_id: str) -> None:
        """It is settled, or was not claimed."""
        left = self._counts.pop(operation_id) - 1
        if left:
            self._counts[operation_id] = left
        elif operation_id in self._ended:
            self._ended.pop(operation_id).set()

    async def wait_for(self, operation_id: str, *, within_s: float) -> bool:
        """Wait until it ends; False where it is not under way here, or does not end in time."""
        if operation_id not in self._counts:
            return False
        ended = self._ended.setdefault(operation_id, asyncio.Event())
        try:
            await asyncio.wait_for(ended.wait(), max(0.0, within_s))
        except TimeoutError:
            return False
        return True

    async def drain(self) -> None:
        """Wait until nothing is under way."""
        while self._counts:
            await self.wait_for(next(iter(self._counts)), within_s=3_600)
