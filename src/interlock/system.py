"""The machine's clock and randomness, as ports; and where it keeps what can be made again."""

from __future__ import annotations

import asyncio
import os
import time
from io import BytesIO
from pathlib import Path

_POOL_BYTES = 8_192


def cache_folder() -> Path:
    """The folder of this user for what can be made again (`XDG_CACHE_HOME`, else `~/.cache`)."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "interlock"


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
