"""Alarms that are nearly always taken back before their time, behind one timer of the event loop at most.

A timer of the loop's own costs as much as a tenth of a read: to make, to sort among the others, to cancel, and to throw
away later. Here an alarm is one entry of a heap that is sorted in C, and the loop is told of the earliest alone.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from itertools import count
from weakref import ref

from interlock.core.frozen import slotted

DEAD_MAX = 64
"""How many that were taken back are kept, before all of them are swept out."""


@slotted
class Alarm:
    """Calls `ring` once, unless it is taken back before."""

    ring: Callable[[], None] | None

    def take_back(self) -> None:
        """Do not ring; nothing where it has rung."""
        self.ring = None


class Alarms:
    """The alarms of one event loop. It is not held on to here: a loop that is gone takes its alarms with it.

    `_timers` says when timers of the loop are due, the earliest last: one is made only for what is earlier than all.
    """

    def __init__(self) -> None:
        self._due: list[tuple[float, int, Alarm]] = []
        self._numbers = count()
        self._swept_at = DEAD_MAX
        self._timers: list[float] = []
        self._armed_s = math.inf

    def __len__(self) -> int:
        """How many are kept, those that were taken back and are not swept out yet among them."""
        return len(self._due)

    def set(self, at_s: float, ring: Callable[[], None], loop: asyncio.AbstractEventLoop) -> Alarm:
        """Have it ring at a time of the loop's clock, in the loop."""
        alarm = Alarm(ring)
        if len(self._due) >= self._swept_at:
            self._sweep()
        heappush(self._due, (at_s, next(self._numbers), alarm))
        if at_s < self._armed_s:
            self._arm(at_s, loop)
        return alarm

    def _sweep(self) -> None:
        """Throw away what was taken back; once more where there is twice of what is left now."""
        self._due = [each for each in self._due if each[2].ring is not None]
        heapify(self._due)
        self._swept_at = max(DEAD_MAX, 2 * len(self._due))

    def _arm(self, at_s: float, loop: asyncio.AbstractEventLoop) -> None:
        self._timers.append(at_s)
        self._armed_s = at_s
        loop.call_at(at_s, self._ring, loop)

    def _ring(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timers.pop()
        self._armed_s, now_s = self._timers[-1] if self._timers else math.inf, loop.time()
        while self._due and (self._due[0][0] <= now_s or self._due[0][2].ring is None):
            alarm = heappop(self._due)[2]
            ring, alarm.ring = alarm.ring, None
            if ring is not None:
                ring()
        if self._due and self._due[0][0] < self._armed_s:
            self._arm(self._due[0][0], loop)


_ALARMS: dict[int, tuple[ref[asyncio.AbstractEventLoop], Alarms]] = {}
"""The alarms of each loop, by its identity: asking a dictionary of weak keys took longer than setting the alarm."""


def set_alarm(at_s: float, ring: Callable[[], None]) -> Alarm:
    """An alarm of the running event loop, on its clock."""
    loop = asyncio.get_running_loop()
    known = _ALARMS.get(id(loop))
    alarms = known[1] if known is not None and known[0]() is loop else _first_of(loop)
    return alarms.set(at_s, ring, loop)


def _first_of(loop: asyncio.AbstractEventLoop) -> Alarms:
    """Alarms for a loop that has none yet, gone when it is: another may have its identity then."""
    alarms, place = Alarms(), id(loop)

    def forget(gone: ref[asyncio.AbstractEventLoop]) -> None:
        if (known := _ALARMS.get(place)) is not None and known[0] is gone:
            _ALARMS.pop(place, None)

    _ALARMS[place] = ref(loop, forget), alarms
    return alarms
