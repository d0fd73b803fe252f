"""The machine's clock and randomness, as ports; and where it keeps what can be made again."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Final

log = logging.getLogger("interlock.clock")

TOLD_US: Final = 1_000_000
"""From how much on it is said that the machine's clock went back."""

_SECOND_US: Final = 1_000_000
_POOL_BYTES = 8_192


def cache_folder() -> Path:
    """The folder of this user for what can be made again (`XDG_CACHE_HOME`, else `~/.cache`)."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "interlock"


class SystemClock:
    """The machine's clocks. Wall time is integer microseconds, never floating point.

    Where somebody sets the machine's clock back this one goes on from where it was: what has expired stays so, a window
    of a budget that is over does not begin again, and no record is older than the one before it. Where it is set
    forward this one follows: what is over by then is over. A new one begins with the machine's time.
    """

    monotonic_s = staticmethod(time.monotonic)
    """Seconds on the clock of the event loop."""

    def __init__(self, wall_ns: Callable[[], int] = time.time_ns) -> None:
        self._wall_ns = wall_ns
        self._last_us = 0
        self._ahead_us = 0

    def now_us(self) -> int:
        """Microseconds since 1970 UTC; never less than it has said before."""
        now_us = self._wall_ns() // 1_000 + self._ahead_us
        if now_us < self._last_us:
            return self._set_back(self._last_us - now_us)
        self._last_us = now_us
        return now_us

    def _set_back(self, by_us: int) -> int:
        self._ahead_us += by_us
        if by_us >= TOLD_US:
            log.warning(
                "the machine's clock was set back by %d s: this process goes on from the time before, which is %d s"
                " ahead of it now; open the gate anew to follow the clock",
                by_us // _SECOND_US,
                self._ahead_us // _SECOND_US,
            )
        return self._last_us

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class SystemEntropy:
    """The operating system's randomness, drawn in pieces of 8 KiB: one system call for many salts. Forks draw anew."""

    def __init__(self) -> None:
        self._draw = BytesIO().read
        os.register_at_fork(after_in_child=self._empty)

    def bytes(self, count: int) -> bytes:
        """So many unguessable bytes."""
        taken = self._draw(count)
        if len(taken) == count:
            return taken
        self._draw = BytesIO(os.urandom(max(count, _POOL_BYTES))).read
        return self._draw(count)

    def _empty(self) -> None:
        """A child process must not draw what its parent draws."""
        self._draw = BytesIO().read
