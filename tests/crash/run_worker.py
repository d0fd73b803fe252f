"""A process that starts and drives runs on one store until all are over, or kills itself at a durable point.

A durable point is the moment before or after a commit of the store, an effect of a tool, or an answer of a model.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path

import apsw
import psycopg

from interlock import ApprovalState, Gate, Host, Limit, Limits, PolicySource, ScopeKind, Settings, Unit
from interlock.assemble import wired
from interlock.loop.agent import Agent
from interlock.loop.desk import Run
from interlock.loop.entries import Check, Wish
from interlock.loop.limits import RunLimits
from interlock.loop.machine import State
from interlock.loop.model import Model
from interlock.ports import RunQuery
from interlock.store.postgres import PostgresStore
from interlock.store.sqlite import SqliteStore
from interlock.store.writer import CommitObserver
from interlock.testing.models import Said
from tests.crash.judge import LOOK_UPS
from tests.crash.kill_worker import ADDRESS
from tests.crash.run_world import AWAY, BUSY, TOOLS, JudgedModel, Points, RunJudge, Scene, Scripts
from tests.simulation.people import ALICE, APPROVERS, HOST, KEYS, TENANT
from tests.waiting import later

LEASE_S = 1.5
HOLDS = "holds"
"""A file of this name in the folder: budgets of others count tokens, so each request holds some."""

POLICIES = (
    PolicySource(
        "all",
        """
        permit (principal, action, resource) unless { action == Action::"remove" };
        @approval("approver") permit (principal, action == Action::"remove", resource);
        """,
        tenant=TENANT,
    ),
)


SETTINGS = Settings(
    tenant=TENANT, deadline_ms=60_000, look_ups=LOOK_UPS, reap_every_s=0.2, runs_every_s=0.2, hand_off_owner="eng"
)


@dataclass(frozen=True)
class Errand:
    """What a run is started for: scripts by agent, and how it has to end."""

    scripts: Scripts
    ends: State
    limits: RunLimits = field(default_factory=RunLimits)
    check: Check | None = None


def _one(*turns: Said) -> Scripts:
    return {"first": turns}


ERRANDS: Mapping[str, Errand] = {
    "plain": Errand(
        _one(
            ("look", {"name": "a"}),
            [("put", {"name": "b"}), ("post", {"name": "c"}), ("look", {"name": "d"}), ("look", {"name": "e"})],
            ("post", {"name": "f"}),
            "done",
        ),
        State.COMPLETE,
    ),
    "approved": Errand(
        _one([("remove", {"name": "a"}), ("look", {"name": "b"}), ("post", {"name": "c"})], "done"), State.COMPLETE
    ),
    "asked": Errand(_one([("remove", {"name": "a"}), ("post", {"name": "b"})], "done"), State.COMPLETE),
    "declined": Errand(_one([("post", {"name": "a"}), ("remove", {"name": "no"})], "done"), State.COMPLETE),
    "handed": Errand(
        {
            "first": [("hand_off", {"agent": "second", "message": "go on"})],
            "second": [("post", {"name": "a"}), "done"],
        },
        State.COMPLETE,
    ),
    "checked": Errand(_one(f"{BUSY}:done"), State.COMPLETE, check=Check("is_done")),
    "paused": Errand(_one(("hear", {"name": "pause"}), ("post", {"name": "a"}), "done"), State.COMPLETE),
    "person": Errand(
        _one([("hear", {"name": "hand_over"}), ("post", {"name": "a"})], ("put", {"name": "b"}), "done"), State.COMPLETE
    ),
    "away": Errand(_one(("post", {"name": "a"}), f"{AWAY}:done"), State.COMPLETE),
    "cancelled": Errand(
        _one([("hear", {"name": "cancel"}), ("remove", {"name": "a"}), ("remove", {"name": "b"})], "never"),
        State.CANCELLED,
    ),
    "broke": Errand(
        _one(("post", {"name": "a"}), ("post", {"name": "b"}), "never"), State.ABORTED, RunLimits(rounds=1)
    ),
    "refused": Errand(_one(b'{"choices":[{"message":{"refusal":"no"},"finish_reason":"stop"}]}'), State.STOPPED),
    "failed": Errand(_one(*[("look", {"nome": "a"})] * 2), State.FAILED, RunLimits(fixable=1, repeats=0)),
    "sending": Errand(_one([("send", {"name": "a"}), ("look", {"name": "b"})], "done"), State.COMPLETE),
}
AGENTS = (Agent("first", "first", hand_offs=("second",)), Agent("second", "second", description="the other"))
SCRIPTS = {name: errand.scripts for name, errand in ERRANDS.items()}


async def _store(folder: Path, on_commit: CommitObserver | None) -> SqliteStore | PostgresStore:
    elsewhere = folder / ADDRESS
    if elsewhere.exists():
        return await PostgresStore.open(elsewhere.read_text(), chain="main", lease_s=LEASE_S, on_commit=on_commit)
    return await SqliteStore.open(folder / "interlock.db", chain="main", on_commit=on_commit)


@asynccontextmanager
async def opened(
    folder: Path, *, points: Points | None = None, model: Model | None = None, every_s: float = 0.2
) -> AsyncIterator[tuple[Gate, SqliteStore | PostgresStore]]:
    """A gate on the store in this folder that drives runs; with `every_s` of 0 it only looks."""
    Scene.judge, Scene.points = RunJudge(folder / "judge.db"), points or Points(None)
    store = await _store(folder, None if points is None else lambda _when, _names: points.passes())
    counted = (Limit(ScopeKind.TENANT, Unit.TOKENS, 10**12), Limit(ScopeKind.PRINCIPAL, Unit.CONCURRENT, 100))
    limits = Limits(counted if (folder / HOLDS).exists() else counted[1:])
    settings = replace(SETTINGS, limits=limits, reap_every_s=every_s, runs_every_s=every_s)
    try:
        models = (model or JudgedModel(SCRIPTS),) if every_s else ()
        gate = wired(Gate, store, settings, host=Host(models=models), keys=KEYS)
        _, sources = await store.policies()
        await gate.begin(TOOLS, None if sources else POLICIES)
        try:
            yield gate, store
        finally:
            await gate.close()
    finally:
        await store.close()


async def start(gate: Gate, errands: Iterable[str], *, life: int) -> list[Run]:
    """Begin a run for each of these errands."""
    begun = []
    for name in errands:
        errand, run_id = ERRANDS[name], f"{name}-{life}"
        begun.append(
            await gate.runs.start(
                model="scripted",
                task=f"{run_id} is to be done",
                principal=ALICE,
                agent=AGENTS[0],
                agents=AGENTS[1:],
                limits=errand.limits,
                check=errand.check,
                run_id=run_id,
            )
        )
    return begun


class People:
    """Decide what is asked, say the words that runs wait for, and set going again what rests."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    async def see_to(self, *, until_s: float = 40.0) -> None:
        """Until all runs are over."""
        async with asyncio.timeout(until_s):
            while found := await self._gate.runs.list(by=HOST, query=RunQuery(TENANT, over=False)):
                for head in found:
                    await self._move(head.id, head.state)
                await self._say()
                await self._decide({head.id for head in found if head.state == State.WAITING_APPROVAL})
                await later(0.02)

    async def _move(self, run_id: str, state: str) -> None:
        desk = self._gate.runs
        match state:
            case State.PAUSED:
                await desk.wish(run_id, Wish.RESUME, by=HOST)
            case State.WAITING_HUMAN:
                await desk.wish(run_id, Wish.HAND_BACK, by=HOST, text="go on")
            case State.MODEL_RETRY if run_id.startswith("away"):
                await desk.wish(run_id, Wish.PAUSE, by=HOST)
            case _:
                pass

    async def _say(self) -> None:
        for run_id, word in await Scene.tells(Scene.judge.wanted):
            await self._gate.runs.wish(run_id, Wish(word), by=HOST)
            await Scene.tells(Scene.judge.tell, run_id, word)

    async def _decide(self, waiting: Collection[str]) -> None:
        """At once, but for runs that are known to be kept waiting."""
        for approval in await self._gate.approvals.list(by=HOST, state=ApprovalState.PENDING):
            run = approval.run or ""
            if not run.startswith("asked") or run in waiting:
                decide = self._gate.approvals.decline if '"no"' in approval.summary else self._gate.approvals.approve
                await decide(approval.id, by=APPROVERS[0])


async def main(
    folder: Path, life: int, *, points: Points, errands: Iterable[str] = ERRANDS, acts: Points | None = None
) -> None:
    """One life. `acts` are points of tools and models where they are not those of commits."""
    async with opened(folder, points=points) as (gate, _):
        Scene.points = acts or points
        await start(gate, errands, life=life)
        await People(gate).see_to()


def live(begins: Connection, folder: Path, life: int, *, kill_at: int | None) -> None:
    """The process: says that it begins, and lives."""
    begins.send(life)
    asyncio.run(main(folder, life, points=Points(kill_at)))


def live_until(begins: Connection, folder: Path, life: int, *, kill_at: int | None, errand: str, sql: str) -> None:
    """The process that dies as soon as its store shows something. `{run}` in the query is the id of its run."""
    begins.send(life)
    points = PointsUntil(folder, sql.format(run=f"{errand}-{life}"))
    asyncio.run(main(folder, life, points=points, errands=[errand]))


def live_apart(begins: Connection, folder: Path, life: int, *, kill_at: int | None, errand: str) -> None:
    """The process that stands still before or after a commit, when nothing of its only run is at work, till woken."""
    begins.send(life)
    points = Points(kill_at, by=signal.SIGSTOP)
    asyncio.run(main(folder, life, points=points, errands=[errand], acts=Points(None)))


class PointsUntil(Points):
    """Dies at the first point at which a query of the store gives a row."""

    def __init__(self, folder: Path, sql: str) -> None:
        super().__init__(None)
        self._folder = folder
        self._sql = sql

    def passes(self) -> None:
        """One more."""
        if rows(self._folder, self._sql):
            self.end()


def rows(folder: Path, sql: str) -> list[tuple[object, ...]]:
    """What the store's own tables say."""
    elsewhere = folder / ADDRESS
    if elsewhere.exists():
        with psycopg.connect(elsewhere.read_text()) as connection:
            return connection.execute(sql.encode()).fetchall()
    with closing(apsw.Connection(str(folder / "interlock.db"))) as reader:
        return reader.execute(sql).fetchall()
