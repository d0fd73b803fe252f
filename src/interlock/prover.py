"""Proves pieces of a log for another process, which says on standard input where the log is and which pieces.

One line of JSON each: first the address, the master key and the key of the seal (hexadecimal), whether nobody writes
the file, and the heads held outside; then jobs, each a list of spans, each answered by a line: for every span the hash
that it follows, the hash before its last and that of its last, or null where its records have to be read by who asks.
"""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import BinaryIO

from interlock.core.chain import Head
from interlock.core.checkpoint import Span
from interlock.core.redaction import Redactor
from interlock.runtime.proof import Rows, stretch_of
from interlock.runtime.records import Records
from interlock.store.log_reading import sqlite_log
from interlock.store.seal import NoSeal, Seal
from interlock.store.seal_aes import AesSeal
from interlock.system import SystemClock, SystemEntropy


async def serve(asked: BinaryIO, answers: BinaryIO) -> None:
    """Answer until nobody asks any more. It ends at the first fault: who asks then reads for itself, and meets it."""
    address, master, seal_key, closed, heads = json.loads(asked.readline())
    seal = NoSeal() if seal_key is None else AesSeal(bytes.fromhex(seal_key), random=SystemEntropy().bytes)
    records = Records(bytes.fromhex(master), clock=SystemClock(), entropy=SystemEntropy(), redactor=Redactor())
    held = tuple(Head(*each) for each in heads)
    async with AsyncExitStack() as stack:
        log = await _opened(stack, address, seal=seal, closed=closed)
        for line in iter(asked.readline, b""):
            found = [await stretch_of(log, Span(*each), held=held, records=records) for each in json.loads(line)]
            told = [None if each is None else [each.start.hash, each.before, each.end.hash] for each in found]
            answers.write(json.dumps(told).encode() + b"\n")
            answers.flush()


async def _opened(stack: AsyncExitStack, address: str, *, seal: Seal, closed: bool) -> Rows:
    if not address.startswith(("postgres://", "postgresql://")):
        return stack.enter_context(sqlite_log(Path(address), seal=seal, closed=closed))
    from interlock.store.postgres_log import postgres_log

    return await stack.enter_async_context(postgres_log(address, seal=seal))


if __name__ == "__main__":
    asyncio.run(serve(sys.stdin.buffer, sys.stdout.buffer))
