"""Passes over what other processes have proved of a log: which spans they are given, and when one of them counts.

A span counts only where it begins exactly where the reading stands and was shown to hold. Everything else is read as if
nobody had been asked, so the first break is found by one reader, in order.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import aclosing, asynccontextmanager

from interlock.core.audit_log import LogReading
from interlock.core.chain import Head, Stretch, is_head
from interlock.core.checkpoint import Checkpoint, Span, spans

Skip = Callable[[Span], Awaitable[int]]
"""Up to which sequence the records of a span, from its first on, need not be read; `after` where all do."""

Proved = AsyncGenerator[tuple[Span, Stretch | None], None]


async def nothing_ahead(span: Span) -> int:
    """Every record has to be read."""
    return span.after


@asynccontextmanager
async def proved_ahead(proved: Proved | None, reading: LogReading) -> AsyncIterator[Skip]:
    """Passes over what was proved, while inside."""
    if proved is None:
        yield nothing_ahead
        return
    async with aclosing(proved):
        yield _Ahead(proved, reading).skip


def planned(checkpoints: tuple[Checkpoint, ...], heads: Iterable[Head], *, size: int) -> Iterator[Span]:
    """The log in pieces of that size at most, in the order in which it is proved, as far as its own word goes."""
    before: Checkpoint | None = None
    for checkpoint in checkpoints:
        if not all(map(is_head, checkpoint.heads)):
            return
        for span in spans(checkpoint, after=before):
            yield from _pieces(span, size=size)
        before = checkpoint
    signed_to = {head.chain: head.sequence for head in before.heads} if before else {}
    for head in heads:
        yield from _pieces(Span(head.chain, signed_to.get(head.chain, 0), head.sequence), size=size)


def _pieces(span: Span, *, size: int) -> Iterator[Span]:
    for after in range(span.after, span.through, size):
        yield Span(span.chain, after, min(after + size, span.through))


class _Ahead:
    """Reads beside what others have proved, which comes in the same order."""

    def __init__(self, proved: Proved, reading: LogReading) -> None:
        self._proved = proved
        self._reading = reading
        self._next: tuple[Span, Stretch | None] | None = None

    async def skip(self, span: Span) -> int:
        while True:
            self._next = self._next or await anext(self._proved, None)
            if self._next is None:
                return span.after
            piece, stretch = self._next
            if piece.chain != span.chain or piece.after > span.after:
                return span.after  # it comes later, or never
            self._next = None
            if piece.after == span.after:
                counts = stretch is not None and piece.through <= span.through and self._reading.pass_over(stretch)
                return piece.through if counts else span.after
