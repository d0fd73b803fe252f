"""Watches a run at the command line for as long as it moves, and says what happens as it does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from interlock.doors.cli.answer import note
from interlock.doors.cli.runs_shown import event_line, next_step, rests
from interlock.loop.machine import State

if TYPE_CHECKING:
    from interlock.doors.cli.session import Session
    from interlock.loop.desk import Run
    from interlock.loop.events import RunEvent

LOOK_S: Final = 0.25
ALONE_LOOKS: Final = 20
"""After so many looks at a run that nobody drives, though it waits for nobody, it is left."""

Tell = Callable[["RunEvent"], None]


def tell(event: RunEvent) -> None:
    """Say what happened, beside the answer."""
    note(event_line(event))


async def watch(session: Session, run: Run, *, after: int = 0, stay: bool = False) -> bool:
    """Tell what happens until the run is over, waits for people (unless `stay`), or nobody drives it. Whether it moves.

    False: it stands where nobody waits for people, and no process drives it, this one neither.
    """
    alone, told = 0, False
    async for event in _events(run, after):
        if event is not None:
            alone, told = 0, False
            tell(event)
            continue
        head = await session.gate.runs.head(run.id, by=session.by)
        if head.over:
            continue
        if not rests(head):
            alone = 0 if head.held or head.state == State.MODEL_RETRY else alone + 1
            if alone > ALONE_LOOKS:
                return False
        elif not stay:
            return True
        elif not told:
            told = True
            note(f"It waits. {next_step(await run.report())}")
    return True


async def _events(run: Run, after: int) -> AsyncIterator[RunEvent | None]:
    """What happens, and None whenever nothing has for a moment; ends when the run is over."""
    queue: asyncio.Queue[RunEvent] = asyncio.Queue()
    over = asyncio.Event()

    async def pump() -> None:
        async for event in run.events(after=after):
            queue.put_nowait(event)
        over.set()

    pumping = asyncio.create_task(pump())
    try:
        while not (over.is_set() and queue.empty()):
            yield await _next(queue)
            if pumping.done():
                pumping.result()
    finally:
        pumping.cancel()
        await asyncio.wait([pumping])


async def _next(queue: asyncio.Queue[RunEvent]) -> RunEvent | None:
    with suppress(TimeoutError):
        async with asyncio.timeout(LOOK_S):
            return await queue.get()
    return None
