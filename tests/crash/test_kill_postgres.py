"""kill -9 on PostgreSQL, at durable points, at instants, and beside a process that goes on."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from random import Random

import psycopg
import pytest

from interlock import Gate
from interlock.core.effect import CallState
from interlock.core.journal import AuditQuery, EventKind
from interlock.ports import Recovery
from tests.crash.judge import Judge, JudgedWorld
from tests.crash.kill_worker import ADDRESS, Life, opened
from tests.crash.killing import Worker, check
from tests.crash.test_kill import POINTS
from tests.simulation.world import Stage

pytestmark = [
    pytest.mark.crash,
    pytest.mark.timeout(120),
    pytest.mark.requirement("IDEM-3", "IDEM-4", "IDEM-5", "APR-4", "BUD-2", "CALL-8", "AUD-2", "AUD-3"),
]


@pytest.fixture
def folder(tmp_path: Path, postgres_url: str) -> Path:
    """A folder whose store is in a new schema."""
    (tmp_path / ADDRESS).write_text(postgres_url)
    return tmp_path


def wait_for_leases(folder: Path) -> None:
    """As if so much time had passed that the leases of the dead have run out."""
    with psycopg.connect((folder / ADDRESS).read_text(), autocommit=True) as admin:
        admin.execute("UPDATE owners SET until = clock_timestamp() WHERE until > clock_timestamp()")


async def die_at_points(folder: Path, points: Iterable[int], *, life: int) -> None:
    """A whole life, then others, each killed at the next of these points and begun when the last lease is over."""
    assert not Worker.start(folder, life=0).ends()
    killed = []
    for index, point in enumerate(points):
        killed.append(Worker.start(folder, life=life + index, kill_at=point).ends())
        wait_for_leases(folder)
    assert sum(killed) > len(killed) * 0.7
    await check(folder)


async def test_a_process_may_be_killed_at_any_durable_point(folder: Path) -> None:
    await die_at_points(folder, range(2, POINTS // 2, 14), life=100)


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_a_process_may_be_killed_at_every_durable_point(folder: Path) -> None:
    await die_at_points(folder, range(1, POINTS // 2), life=1_000)


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_a_process_may_be_killed_at_many_instants(folder: Path) -> None:
    random = Random(3)
    assert not Worker.start(folder, life=0).ends()
    for life in range(1, 31):
        Worker.start(folder, life=life).is_killed(after_s=random.uniform(0, 1.5))
        wait_for_leases(folder)
    await check(folder)


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_of_two_processes_one_may_be_killed_at_any_durable_point(folder: Path) -> None:
    for number, point in enumerate(range(3, POINTS // 2, 4)):
        pair = Worker.start(folder, life=number, kill_at=point), Worker.start(folder, life=number + 1)
        assert [worker.ends() for worker in pair][1:] == [False]
    wait_for_leases(folder)
    await check(folder)


async def taken_over(gate: Gate, store: Recovery) -> None:
    """Recover until nobody's claim is left."""
    while CallState.CLAIMED in {each.state for each in await store.open_calls()}:
        await gate.recovery.recover()


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_a_process_goes_on_beside_one_that_is_killed_and_takes_its_calls_over(folder: Path) -> None:
    judge = Judge(folder / "judge.db")
    Stage.world = JudgedWorld(judge, seed=0)
    killed = 0
    async with opened(folder) as (gate, store):
        for number, point in enumerate(range(6, POINTS // 2, 6)):
            worker = await asyncio.to_thread(Worker.start, folder, life=number, kill_at=point)
            ended = asyncio.to_thread(worker.ends)
            killed += (await asyncio.gather(ended, Life(gate, judge, number=number + 1).live()))[0]
            await asyncio.wait_for(taken_over(gate, store), 20)
        kinds = {each.kind for each in await store.records(AuditQuery(limit=1_000_000))}
    assert killed
    assert {EventKind.CLAIMED, EventKind.TAKEN_OVER} <= kinds
    await check(folder)
