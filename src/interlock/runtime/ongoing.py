"""Knows which operations this process claims or runs just now, for those who wait for one of them to end."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass


@dataclass(slots=True)
class _One:
    """How many are at it: racing resumes of one approval claim the same operation."""

    count: int = 0
    ended: asyncio.Event | None = None


class Ongoing:
    """Operations by id. Every `begin` has its `end`."""

    def __init__(self) -> None:
        self._by_id: dict[str, _One] = {}

    def begin(self, operation_id: str) -> None:
        """Somebody is about to claim it."""
        one = self._by_id.get(operation_id)
        if one is None:
            one = self._by_id[operation_id] = _One()
        one.count += 1

    def end(self, operation_id: str) -> None:
        """It is settled, or was not claimed."""
        one = self._by_id[operation_id]
        one.count -= 1
        if not one.count:
            del self._by_id[operation_id]
            if one.ended is not None:
                one.ended.set()

    async def wait_for(self, operation_id: str, *, within_s: float) -> bool:
        """Wait until it ends; False where it is not under way here, or does not end in time."""
        one = self._by_id.get(operation_id)
        if one is None:
            return False
        if one.ended is None:
            one.ended = asyncio.Event()
        try:
            await asyncio.wait_for(one.ended.wait(), max(0.0, within_s))
        except TimeoutError:
            return False
        return True

    async def drain(self) -> None:
        """Wait until nothing is under way."""
        while self._by_id:
            await self.wait_for(next(iter(self._by_id)), within_s=3_600)
