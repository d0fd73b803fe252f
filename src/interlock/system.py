"""The machine's clock and randomness, as ports."""

from __future__ import annotations

import asyncio
import os
import time

_POOL_BYTES = 8_192


class SystemClock:
    """The machine's clocks. Wall time is integer microseconds, never floating point."""

    monotonic_s = staticmethod(time.monotonic)
    """Seconds on the clock of the event loop."""

    def now_us(self) -> int:
        """Microseconds since 1970 UTC."""
        return time.time_ns() // 1_000

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class SystemEntropy:
    """The operating system's randomness, drawn in pieces of 8 KiB: one system call for many salts. Forks draw anew."""

    def __init__(self) -> None:
        self._pool = b""
        self._next = 0
        os.register_at_fork(after_in_child=self._empty)

    def bytes(self, count: int) -> bytes:
        """So many unguessable bytes."""
        end = self._next + count
        if end > len(self._pool):
            self._pool = os.urandom(max(count, _POOL_BYTES))
            self._next, end = 0, count
        taken = self._pool[self._next : end]
        self._next = end
        return taken

    def _empty(self) -> None:
        """A child process must not draw what its parent draws."""
        self._pool, self._next = b"", 0
