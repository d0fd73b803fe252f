"""A bounded pool of daemon threads for code that cannot be cancelled.

Unlike the standard library's pool it does not hold up the interpreter's exit, its queue is bounded, and work that has
not begun can be withdrawn for certain. A thread whose caller has gone keeps its place until its work ends.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Generic, TypeVar

T = TypeVar("T")


class PoolFull(Exception):
    """As much work waits as may wait."""


class StillRunning(asyncio.CancelledError):
    """Cancelled, but the work goes on; `tail` completes with its late outcome."""

    def __init__(self, tail: Awaitable[object]) -> None:
        super().__init__("still running in a thread")
        self.tail = tail


class Work(Generic[T]):
    """One piece of work. `outcome` completes on the loop that it was started from."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._context = contextvars.copy_context()
        self._loop = asyncio.get_running_loop()
        self._begun = threading.Lock()
        self.outcome: asyncio.Future[T] = self._loop.create_future()

    def withdraw(self) -> bool:
        """True: it had not begun, and never will."""
        return self._begun.acquire(blocking=False)

    def run(self) -> None:
        """In a thread. `call` never raises."""
        if not self._begun.acquire(blocking=False):
            return
        outcome = self._context.run(self._call)
        with suppress(RuntimeError):  # the loop was closed meanwhile: nobody is left to be told
            self._loop.call_soon_threadsafe(self._tell, outcome)

    def _tell(self, outcome: T) -> None:
        if not self.outcome.done():
            self.outcome.set_result(outcome)


class Threads:
    """Starts threads as they are needed, at most `threads_max`; at most `waiting_max` pieces of work wait for one."""

    def __init__(self, *, threads_max: int = 32, waiting_max: int = 1_024) -> None:
        self._threads_max = threads_max
        self._waiting_max = waiting_max
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._started = 0

    def start(self, call: Callable[[], T]) -> Work[T]:
        """Hand over work. Raises `PoolFull`."""
        if self._queue.qsize() >= self._waiting_max:
            raise PoolFull
        work = Work(call)
        self._queue.put(work.run)
        if not self._idle.acquire(blocking=False) and self._started < self._threads_max:
            self._started += 1
            threading.Thread(target=self._serve, name=f"interlock-tool-{self._started}", daemon=True).start()
        return work

    def close(self) -> None:
        """Let idle threads end; busy ones end with their work."""
        for _ in range(self._started):
            self._queue.put(None)
        self._started = 0

    def _serve(self) -> None:
        while (work := self._queue.get()) is not None:
            work()
            del work
            self._idle.release()
