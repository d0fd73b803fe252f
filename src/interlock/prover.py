"""Proves pieces of a log for another process, which says on standard input where the log is and which pieces.

One line of JSON each, as `interlock.proving` spells them: first where the log is, with its keys and the heads held
outside; then jobs, each a list of spans, each answered by a line that says of every span what it was shown to be, or
that its records have to be read by who asks.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import BinaryIO

from interlock.core.redaction import Redactor
from interlock.proving import Where, read_spans, read_where, stretches_to_line
from interlock.runtime.proof import Rows, stretch_of
from interlock.runtime.records import Records
from interlock.store.address import is_postgres
from interlock.store.log_reading import sqlite_log
from interlock.store.seal import NoSeal
from interlock.store.seal_aes import AesSeal
from interlock.system import SystemClock, SystemEntropy


async def serve(asked: BinaryIO, answers: BinaryIO) -> None:
    """Answer until nobody asks any more. It ends at the first fault: who asks then reads for itself, and meets it."""
    where, held = read_where(asked.readline())
    records = Records(where.master, clock=SystemClock(), entropy=SystemEntropy(), redactor=Redactor())
    async with AsyncExitStack() as stack:
        log = await _opened(stack, where)
        for line in iter(asked.readline, b""):
            found = [await stretch_of(log, span, held=held, records=records) for span in read_spans(line)]
            answers.write(stretches_to_line(found))
            answers.flush()


async def _opened(stack: AsyncExitStack, where: Where) -> Rows:
    seal = NoSeal() if where.seal is None else AesSeal(where.seal, random=SystemEntropy().bytes)
    if not is_postgres(where.address):
        return stack.enter_context(sqlite_log(Path(where.address), seal=seal, closed=where.closed))
    from interlock.store.postgres_log import postgres_log

    return await stack.enter_async_context(postgres_log(where.address, seal=seal))


if __name__ == "__main__":
    asyncio.run(serve(sys.stdin.buffer, sys.stdout.buffer))
