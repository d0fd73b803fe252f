"""The guards of runs as pure functions, so that memory, SQLite and PostgreSQL hold the same conditions."""

from __future__ import annotations

from typing import Protocol

from interlock.core.chain import Receipt
from interlock.core.frozen import frozen
from interlock.ports import NotMoved, RunEntry, RunMove, RunNote

NO_OWNER = 0
"""The owner of a run that nobody holds; owners count from 1."""


class Stands(Protocol):
    """Where a run stands, as far as moving it has to know. `own`: this process holds it, and is still at work."""

    @property
    def version(self) -> int: ...

    @property
    def fence(self) -> int: ...

    @property
    def own(self) -> bool: ...

    @property
    def over(self) -> bool: ...


@frozen
class Standing:
    """Where a run stands, by its row. `woken`: an approval has made it due since it was taken or last moved."""

    version: int
    fence: int
    own: bool
    over: bool
    woken: bool


def not_moved(move: RunMove, *, stands: Stands | None) -> NotMoved | None:
    """The first guard of a move that does not hold."""
    if stands is None or stands.over:
        return not_told(stands)
    if not stands.own or stands.fence != move.claim.fence:
        return NotMoved.LOST
    return None if stands.version == move.version else NotMoved.BEHIND


def not_told(stands: Stands | None) -> NotMoved | None:
    """Why nothing can be said to a run."""
    if stands is None:
        return NotMoved.MISSING
    return NotMoved.OVER if stands.over else None


def step_of(note: RunNote, receipt: Receipt) -> RunMove | None:
    """The step that a note makes of the receipt of its call; None where it cannot make one.

    Whoever drives the run makes it once more, and has the fault then: it is no fault of the store, nor of the others
    whose writes share the transaction.
    """
    try:
        return note.move(receipt)
    except Exception:  # noqa: BLE001 - the call has ended well, whatever becomes of its run
        return None


def wake_after(move: RunMove, *, woken: bool) -> int | None:
    """When a run wants to be looked at after a move."""
    if move.ended is not None:
        return None
    return 0 if woken else move.wake_us


def numbered(entries: tuple[RunEntry, ...], *, after: int) -> list[tuple[int, RunEntry]]:
    """Entries with their sequences, which follow on that of the last one."""
    return list(enumerate(entries, after + 1))
