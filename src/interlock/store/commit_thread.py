"""One thread beside an event loop: it is handed one piece of work at a time, and says on the loop what came of it.

    do(work) -> queue -> thread: work() -> a byte in a pipe -> loop: told(result, fault)

`run_in_executor` makes two futures and some locks for each piece, chains them, and wakes the loop by way of a callback
for which it has to be asked whether it is closed: as much again as a commit costs besides the disk. A loop that is
closed meanwhile does not read the pipe, and that is all.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread, current_thread
from typing import TypeAlias
from weakref import finalize

Told: TypeAlias = Callable[[object, BaseException | None], None]
"""Takes what a piece of work returned, or else what it raised."""

_Queue: TypeAlias = SimpleQueue[Callable[[], object] | None]
_Outcomes: TypeAlias = deque[tuple[object, BaseException | None]]


class CommitThread:
    """Owns the thread, which begins with the first piece of work.

    It ends when this is closed, or forgotten, or when the interpreter exits, and always after what it is at.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, *, told: Told) -> None:
        self._loop = loop
        self._told = told
        self._queue: _Queue = SimpleQueue()
        self._outcomes: _Outcomes = deque()
        self._bell: int | None = None
        self._end: Callable[[], object] | None = None

    def do(self, work: Callable[[], object]) -> None:
        """Have the thread do this; not before it was told what came of the last."""
        if self._end is None:
            self._begin()
        self._queue.put(work)

    def close(self) -> None:
        """Wait until the thread has ended."""
        if self._end is not None and self._bell is not None:
            self._loop.remove_reader(self._bell)
            self._end()

    def _begin(self) -> None:
        bell, ringing = os.pipe()
        for each in (bell, ringing):
            os.set_blocking(each, False)
        given = (self._queue, self._outcomes, ringing)
        thread = Thread(target=_serve, args=given, name="interlock-commit", daemon=True)
        self._bell, self._end = bell, finalize(self, _end, thread, self._queue, bell)
        thread.start()
        self._loop.add_reader(bell, self._rung, bell)

    def _rung(self, bell: int) -> None:
        os.read(bell, 1)
        self._told(*self._outcomes.popleft())


def _serve(queue: _Queue, outcomes: _Outcomes, ringing: int) -> None:
    """What the thread does. It knows nothing of its owner, who may be forgotten."""
    while (work := queue.get()) is not None:
        try:
            outcomes.append((work(), None))
        except BaseException as fault:  # noqa: BLE001 - whatever it is, it is for who handed this over
            outcomes.append((None, fault))
        del work  # or it would be kept until the next
        with suppress(BrokenPipeError):
            os.write(ringing, b"\0")
    os.close(ringing)


def _end(thread: Thread, queue: _Queue, bell: int) -> None:
    queue.put(None)
    if thread is not current_thread():  # as it may be where the garbage collector came by there
        thread.join()
    os.close(bell)
