"""A process that makes governed calls on one SQLite store until it is done, or kills itself at a durable point.

A durable point is the moment before or after a commit of the store, and before or after an execution.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

from interlock import (
    ApprovalState,
    Context,
    Gate,
    Host,
    Limit,
    Limits,
    Observation,
    ScopeKind,
    Settings,
    ToolCall,
    Unit,
)
from interlock.assemble import wired
from interlock.store.postgres import PostgresStore
from interlock.store.sqlite import SqliteStore
from interlock.store.writer import CommitObserver
from tests.crash.judge import LOOK_UPS, Judge, JudgedWorld
from tests.simulation.people import ALICE, APPROVERS, KEYS, TENANT, policies
from tests.simulation.world import TOOLS, Stage

ACTS = 26
ADDRESS = "store.url"
LEASE_S = 1.5
REAP_EVERY_S = 1.0
LIMITS = Limits(
    (
        Limit(ScopeKind.TENANT, Unit.COST_MICROS, 1_000_000),
        Limit(ScopeKind.TOOL, Unit.CONCURRENT, 3),
        Limit(ScopeKind.PRINCIPAL, Unit.CONCURRENT, 6),
    )
)


class Points:
    """Counts durable points, and dies at one of them."""

    def __init__(self, kill_at: int | None) -> None:
        self._passed = 0
        self._kill_at = kill_at

    def passes(self) -> None:
        """One more."""
        self._passed += 1
        if self._passed == self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)


class PointedWorld(JudgedWorld):
    """A judged world with a point on both sides of every execution."""

    def __init__(self, judge: Judge, *, seed: int, points: Points) -> None:
        super().__init__(judge, seed=seed)
        self._points = points

    async def act(self, name: str, context: Context) -> str:
        """One execution."""
        self._points.passes()
        try:
            return await super().act(name, context)
        finally:
            self._points.passes()


async def _store(folder: Path, on_commit: CommitObserver | None) -> SqliteStore | PostgresStore:
    """The store in this folder, or the one that lies where a file in it says."""
    elsewhere = folder / ADDRESS
    if elsewhere.exists():
        return await PostgresStore.open(elsewhere.read_text(), chain="main", lease_s=LEASE_S, on_commit=on_commit)
    return await SqliteStore.open(folder / "interlock.db", chain="main", on_commit=on_commit)


@asynccontextmanager
async def opened(
    folder: Path, *, on_commit: CommitObserver | None = None, reap_every_s: float = REAP_EVERY_S
) -> AsyncIterator[tuple[Gate, SqliteStore | PostgresStore]]:
    """A gate on the store in this folder, with what a process does when it starts and when it ends."""
    store = await _store(folder, on_commit)
    try:
        settings = Settings(
            limits=LIMITS, tenant=TENANT, deadline_ms=8_000, look_ups=LOOK_UPS, reap_every_s=reap_every_s
        )
        gate = wired(Gate, store, settings, host=Host(), keys=KEYS)
        _, sources = await store.policies()
        await gate.begin(TOOLS, None if sources else policies())
        try:
            yield gate, store
        finally:
            await gate.close()
    finally:
        await store.close()


class Life:
    """What one process does: acts of callers and approvers, all at once, in a mix that a seed decides."""

    def __init__(self, gate: Gate, judge: Judge, *, number: int) -> None:
        self._gate = gate
        self._judge = judge
        self._number = number
        self._random = Random(number)

    async def live(self) -> None:
        """All acts."""
        acts = [self._call, self._call, self._call, self._remove, self._recover]
        chosen = [self._random.choice(acts)() for _ in range(ACTS)]
        await asyncio.gather(*chosen)

    async def _call(self) -> None:
        tool = self._random.choice(TOOLS)
        self._hear(await self._propose(tool.name))

    async def _remove(self) -> None:
        """Something that people have to approve, which several of them then resume at once."""
        seen = await self._propose("remove")
        self._hear(seen)
        waiting = await self._gate.approvals.list(by=ALICE, state=ApprovalState.PENDING)
        for approval in waiting[:3]:
            votes = [self._gate.approvals.approve(approval.id, by=each) for each in APPROVERS]
            await asyncio.gather(*votes)
        granted = await self._gate.approvals.list(by=ALICE, state=ApprovalState.GRANTED)
        for approval in granted[:3]:
            resumes = [self._gate.approvals.resume(approval.id, by=APPROVERS[0]) for _ in range(3)]
            for told in await asyncio.gather(*resumes):
                assert isinstance(told, Observation), told
                self._hear(told)

    async def _recover(self) -> None:
        await self._gate.recovery.recover()

    async def _propose(self, name: str) -> Observation:
        number = self._random.randrange(6) + 3 * self._number
        call = ToolCall(f"{self._number}-{number}", name, {"name": f"name-{number}", "how": 0})
        return await self._gate.call(call, principal=ALICE, task="task", run=self._random.choice([None, "run-1"]))

    def _hear(self, seen: Observation) -> None:
        self._judge.hear(seen)


async def main(folder: Path, number: int, *, kill_at: int | None) -> None:
    """One life."""
    points, judge = Points(kill_at), Judge(folder / "judge.db")
    Stage.world = PointedWorld(judge, seed=number, points=points)
    async with opened(folder, on_commit=lambda _when, _names: points.passes()) as (gate, _):
        await Life(gate, judge, number=number).live()
        await gate.recovery.recover()


def live(begins: Connection, folder: Path, number: int, *, kill_at: int | None) -> None:
    """The process: says that it begins, and lives."""
    begins.send(number)
    asyncio.run(main(folder, number, kill_at=kill_at))
