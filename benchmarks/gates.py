"""Cases inside one process: governed reads and writes against the bare work that they govern."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.harness import ROUNDS, Measured, in_turn, timed
from benchmarks.tools import ALICE, BY_VALUE, POLICY, SETTINGS, TOOLS, search
from interlock import Gate, Observation, PolicySource, Status, ToolCall
from interlock.store.sqlite import SqliteStore

ARGUMENTS = '{"query":"how approvals are bound","limit":3}'
CONCURRENT = 64
ROW = b"x" * 400


async def warm_read() -> Measured:
    """A governed read, memory store, every gate on, warm policy; the floor awaits the bare handler after json.loads."""
    return await _read("governed read, warm policy", POLICY, lambda: ARGUMENTS, limit=30, aim=20)


async def new_value_read() -> Measured:
    """The same with a policy that reads an argument value never seen before."""
    numbers = count()
    return await _read(
        "governed read, policy reads a new value",
        BY_VALUE,
        lambda: f'{{"query":"how approvals are bound {next(numbers)}","limit":3}}',
        limit=120,
        aim=80,
    )


async def one_write() -> Measured:
    """One governed write on SQLite, against two one-row commits through the store's writer."""
    async with _sqlite() as (gate, raw):
        write = writer_of(gate)

        async def floor() -> None:
            await commit(raw)
            await commit(raw)

        value, bare = await in_turn(write, floor, times=40)
    return Measured("one governed write on SQLite", value * 1e3, "ms", bare * 1e3, 2, 1.6)


async def concurrent_writes() -> Measured:
    """64 concurrent governed writes, against as many one-row commits in raw group commit."""
    async with _sqlite() as (gate, raw):
        write = writer_of(gate)

        async def case() -> None:
            await asyncio.gather(*[write() for _ in range(CONCURRENT)])

        async def floor() -> None:
            await asyncio.gather(*[commit(raw) for _ in range(CONCURRENT)])

        value, bare = await in_turn(case, floor, times=6)
    return Measured(f"{CONCURRENT} concurrent governed writes on SQLite", value * 1e3, "ms", bare * 1e3, 5, 3.5)


async def concurrent_reads() -> Measured:
    """64 concurrent governed reads on SQLite, durable before the answer: calls a second."""
    async with _sqlite() as (gate, _):
        call = ToolCall("c", "search", ARGUMENTS)

        async def reads() -> None:
            for seen in await asyncio.gather(*[gate.call(call, principal=ALICE) for _ in range(CONCURRENT)]):
                check(seen)

        await timed(reads, times=5)
        rates = sorted([CONCURRENT / await timed(reads, times=8) for _ in range(ROUNDS)])
    rate = rates[len(rates) // 2]
    name = f"{CONCURRENT} concurrent governed reads on SQLite"
    return Measured(name, rate, "calls/s", None, 5_000, 15_000, at_least=True)


async def parallel_reads() -> Measured:
    """8 reads of 10 ms each that were proposed together, against 10 ms."""
    calls = [ToolCall(f"c{number}", "search_slowly", '{"query":"x"}') for number in range(8)]
    async with Gate.open(tools=TOOLS, policies=[POLICY], settings=SETTINGS) as gate:

        async def case() -> None:
            for seen in await gate.call_many(calls, principal=ALICE):
                check(seen)

        value, _ = await in_turn(case, lambda: asyncio.sleep(0.010), times=4)
    return Measured("8 parallel 10 ms reads", value * 1e3, "ms", 10.0, 1.10, 1.04)


async def _read(name: str, policy: PolicySource, arguments: Callable[[], str], *, limit: float, aim: float) -> Measured:
    async with Gate.open(tools=TOOLS, policies=[policy], settings=SETTINGS) as gate:

        async def case() -> None:
            check(await gate.call(ToolCall("c", "search", arguments()), principal=ALICE))

        async def floor() -> None:
            await search(**json.loads(ARGUMENTS))

        value, bare = await in_turn(case, floor, times=400, floor_times=4_000, rounds=15)
    return Measured(name, value * 1e6, "us", bare * 1e6, limit, aim)


@asynccontextmanager
async def _sqlite() -> AsyncIterator[tuple[Gate, SqliteStore]]:
    """A gate on a new SQLite file, and beside it a bare store with a table of its own for one-row commits."""
    with TemporaryDirectory(prefix="interlock-bench-") as folder:
        raw = await with_table(Path(folder, "raw.db"))
        async with Gate.open(Path(folder, "gate.db"), tools=TOOLS, policies=[POLICY], settings=SETTINGS) as gate:
            yield gate, raw
        await raw.close()


def writer_of(gate: Gate) -> Callable[[], Coroutine[None, None, None]]:
    numbers = count()

    async def write() -> None:
        number = next(numbers)
        call = ToolCall("c", "save_draft", f'{{"draft_id":"r{number}","content":"the text of a small draft"}}')
        check(await gate.call(call, principal=ALICE, task="bench"))

    return write


async def with_table(path: Path) -> SqliteStore:
    """A bare store with a table of its own for one-row commits."""
    raw = await SqliteStore.open(path, chain="raw")
    await raw._writer.write("table", run=lambda: raw._desk.db.connection.execute("CREATE TABLE bench (row BLOB)"))
    return raw


async def commit(raw: SqliteStore) -> None:
    """One row."""
    connection = raw._desk.db.connection
    await raw._writer.write("row", run=lambda: connection.execute("INSERT INTO bench VALUES (?)", (ROW,)))


def check(seen: Observation) -> None:
    """A benchmark of refusals would be fast."""
    if seen.status is not Status.OK:
        raise RuntimeError(f"the benchmark's call was not executed: {seen.error}")
