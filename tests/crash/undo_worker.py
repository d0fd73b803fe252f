"""A process that places things and undoes them by a plan, on one SQLite store, until it kills itself at some point."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from multiprocessing.connection import Connection
from pathlib import Path

from interlock import CompensationPlan, Context, Gate, Host, PolicySource, Settings, ToolCall
from interlock.assemble import wired
from interlock.store.sqlite import SqliteStore
from interlock.store.writer import CommitObserver
from tests.crash.judge import LOOK_UPS, Judge
from tests.crash.kill_worker import Points
from tests.simulation.people import ALICE, KEYS, TENANT
from tests.simulation.world import UNDOING, Stage

THINGS = ("a", "b", "c", "d")
POLICIES = (PolicySource("all", '@id("all") permit (principal, action, resource);', tenant=TENANT),)


class PlainWorld:
    """A world whose effects are the judge's rows, with a point on both sides of each. The tool is told the thing."""

    def __init__(self, judge: Judge, points: Points) -> None:
        self._judge = judge
        self._points = points

    async def act(self, name: str, context: Context) -> str:
        """One execution. What `take` takes away is its key in the judge's rows, whichever call does it."""
        self._points.passes()
        thing = Stage.what.get(context.operation_id, context.key)
        await asyncio.to_thread(self._judge.effect, name, thing, operation=context.operation_id)
        self._points.passes()
        return context.key

    async def find(self, name: str, context: Context) -> str | None:
        """The key, where this operation has taken effect."""
        found = await asyncio.to_thread(self._judge.did, context.operation_id)
        return context.key if found else None

    async def look(self) -> int:
        """Nobody looks."""
        return 0


@asynccontextmanager
async def opened(folder: Path, *, on_commit: CommitObserver | None = None) -> AsyncIterator[tuple[Gate, SqliteStore]]:
    """A gate on the store in this folder."""
    store = await SqliteStore.open(folder / "interlock.db", chain="main", on_commit=on_commit)
    try:
        settings = Settings(tenant=TENANT, deadline_ms=8_000, look_ups=LOOK_UPS)
        gate = wired(Gate, store, settings, host=Host(), keys=KEYS)
        await gate.begin(UNDOING, POLICIES)
        try:
            yield gate, store
        finally:
            await gate.close()
    finally:
        await store.close()


async def main(folder: Path, *, kill_at: int | None) -> None:
    """One life: place what is not there yet, then undo it all."""
    points, judge = Points(kill_at), Judge(folder / "judge.db")
    Stage.world = PlainWorld(judge, points)
    async with opened(folder, on_commit=lambda _when, _names: points.passes()) as (gate, _):
        if not await gate.compensations.list(by=ALICE):
            for index, thing in enumerate(THINGS):
                await gate.call(ToolCall(f"c{index}", "place", {"name": thing}), principal=ALICE, task="task")
        await undo(gate)


async def undo(gate: Gate) -> CompensationPlan:
    """The plan that undoes it all, as far as it came."""
    plan = await gate.compensations.start(by=ALICE, reason="wrong", task="task")
    assert isinstance(plan, CompensationPlan), plan
    return plan


def live(begins: Connection, folder: Path, number: int, *, kill_at: int | None) -> None:
    """The process: says that it begins, and lives."""
    begins.send(number)
    asyncio.run(main(folder, kill_at=kill_at))
