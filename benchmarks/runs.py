"""Cases of runs: ten turns with one call a turn and a scripted model in the same process."""

from __future__ import annotations

import gc
import resource
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.gates import commit, with_table
from benchmarks.harness import Measured, in_turn, timed
from benchmarks.tools import ALICE, POLICY, SETTINGS, TOOLS
from interlock import Gate, Host
from interlock.loop.limits import RunLimits
from interlock.loop.machine import State
from interlock.testing.models import ScriptedModel, reply_of

TURNS = 10
CALL = ("search", {"query": "how approvals are bound", "limit": 3})
COMMITS = 1 + (TURNS - 1) * 2 + 1
"""What a durable run of ten turns commits: its beginning, twice a turn with a call, and its end."""


async def in_memory() -> Measured:
    """A run of ten turns, memory store, every gate on."""
    async with _driven(":memory:") as run:
        await timed(run, times=40)
        rounds = sorted([await timed(run, times=20) for _ in range(15)])
    return Measured(f"a run of {TURNS} turns in memory", rounds[7] * 1e3, "ms", None, 1.5, 1.0)


async def durable() -> Measured:
    """The same on SQLite (FULL), against as many one-row commits through the store's writer, one after the other."""
    with TemporaryDirectory(prefix="interlock-bench-") as folder:
        raw = await with_table(Path(folder, "raw.db"))
        async with _driven(str(Path(folder, "gate.db"))) as run:

            async def floor() -> None:
                for _ in range(COMMITS):
                    await commit(raw)

            value, bare = await in_turn(run, floor, times=6)
        await raw.close()
    return Measured(f"a run of {TURNS} turns on SQLite", value * 1e3, "ms", bare * 1e3, 3, 2)


async def growth() -> Measured:
    """How much a process grows by a turn, over the second half of a run of 1,000 turns, on SQLite."""
    grown: list[int] = []

    def turns(body: object) -> object:
        grown.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        return CALL if len(grown) < 1_000 else "done"

    with TemporaryDirectory(prefix="interlock-bench-") as folder:
        model = ScriptedModel(turns, keeps=1)  # type: ignore[arg-type]
        host = Host(models=(model,))
        path = Path(folder, "gate.db")
        async with Gate.open(path, tools=TOOLS, policies=[POLICY], settings=SETTINGS, host=host) as gate:
            run = await gate.runs.start(
                model=model, task="search on and on", principal=ALICE, limits=RunLimits(rounds=2_000, calls=2_000)
            )
            _check((await run.result(timeout_s=120)).state)
    gc.collect()
    return Measured("growth over a 1,000-turn run", (grown[-1] - grown[500]) / 500, "KB/turn", None, 8, 4)


@asynccontextmanager
async def _driven(path: str) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    replies = [*(reply_of(CALL, number=each) for each in range(TURNS - 1)), reply_of("done")]
    asked = iter(range(2**62))
    model = ScriptedModel(lambda _: replies[next(asked) % TURNS], keeps=1)
    host = Host(models=(model,))
    async with Gate.open(path, tools=TOOLS, policies=[POLICY], settings=SETTINGS, host=host) as gate:

        async def run() -> None:
            begun = await gate.runs.start(model=model, task="search, then answer", principal=ALICE)
            _check((await begun.result(timeout_s=30)).state)

        yield run


def _check(state: State) -> None:
    """A benchmark of runs that fail would be fast."""
    if state is not State.COMPLETE:
        raise RuntimeError(f"the benchmark's run ended {state.value}")
