"""Locks by name, fair: who asked first goes first, also among those who want several.

A request stands in the queues of all locks that it wants at once, and holds them when it is near enough to the front of
each. All queues have the order in which requests came, so no two can wait for each other. A slot is a lock with several
places.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection


class Held:
    """What one call holds, or waits for. Not reentrant: a call that asks twice for a lock waits for itself."""

    __slots__ = ("_locks", "behind", "names", "ready")

    def __init__(self, locks: Locks, names: Collection[str]) -> None:
        self._locks = locks
        self.names = names
        self.behind = 0
        self.ready: asyncio.Future[None] | None = None

    def release(self) -> None:
        """Give everything back. A second time does nothing."""
        names, self.names = self.names, ()
        for name in names:
            self._locks.leave(name, held=self)


class Locks:
    """All locks of one process: those who hold a lock stand in front, those who wait for it behind them."""

    def __init__(self) -> None:
        self._queues: dict[str, list[Held]] = {}
        self._places: dict[str, int] = {}

    def __len__(self) -> int:
        """How many locks are held or waited for."""
        return len(self._queues)

    def request(self, names: Collection[str], *, slot: tuple[str, int] | None = None) -> Held:
        """Stand in line for all of them; it holds them already where its `behind` is 0.

        `slot` is a name with its number of places, such as a tool's limit of concurrent calls.
        """
        if slot is not None:
            self._places.setdefault(*slot)
            names = (*names, slot[0])
        held = Held(self, names)
        queues = self._queues
        for name in names:
            queue = queues.get(name)
            if queue is None:
                queues[name] = [held]
                continue
            if len(queue) >= self._places.get(name, 1):
                held.behind += 1
            queue.append(held)
        return held

    async def acquire(
        self, names: Collection[str], *, until_s: float, slot: tuple[str, int] | None = None
    ) -> Held | None:
        """All of them, or None where that was not possible until then (on the event loop's clock)."""
        held = self.request(names, slot=slot)
        return await _waited(held, until_s=until_s) if held.behind else held

    def leave(self, name: str, *, held: Held) -> None:
        """Step out of one queue; whoever gets a place by that is told."""
        queue = self._queues[name]
        if len(queue) == 1:
            del self._queues[name]
            self._places.pop(name, None)
            return
        position, places = queue.index(held), self._places.get(name, 1)
        del queue[position]
        if position < places <= len(queue):
            _advance(queue[places - 1])


async def _waited(held: Held, *, until_s: float) -> Held | None:
    held.ready = asyncio.get_running_loop().create_future()
    try:
        async with asyncio.timeout_at(until_s):
            await held.ready
    except TimeoutError:
        held.release()
        return None
    except asyncio.CancelledError:
        held.release()
        raise
    return held


def _advance(held: Held) -> None:
    """One place nearer; at the front of all queues it holds."""
    held.behind -= 1
    if not held.behind and held.ready is not None and not held.ready.done():
        held.ready.set_result(None)
