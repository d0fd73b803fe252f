"""Two processes on one SQLite file, one of which is killed: the other goes on, and takes over what it can."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

import pytest

from interlock.core.effect import CallState
from interlock.core.journal import AuditQuery, EventKind
from tests.crash.judge import Judge, JudgedWorld
from tests.crash.kill_worker import Life, opened
from tests.crash.killing import Worker, check
from tests.simulation.world import Stage

pytestmark = [pytest.mark.crash, pytest.mark.requirement("IDEM-4", "APR-4", "BUD-2", "AUD-2")]


async def live_beside(folder: Path, points: Iterable[int]) -> None:
    """This process works while others beside it are killed at these points; each time it then recovers."""
    judge = Judge(folder / "judge.db")
    Stage.world = JudgedWorld(judge, seed=0)
    killed = 0
    async with opened(folder) as (gate, store):
        for number, point in enumerate(points):
            worker = await asyncio.to_thread(Worker.start, folder, life=number, kill_at=point)
            ended = asyncio.to_thread(worker.ends)
            killed += (await asyncio.gather(ended, Life(gate, judge, number=number + 1).live()))[0]
            await gate.recovery.recover()
            # What is claimed yet is this process's own: its reaper is just closing it.
            left = await store.open_calls()
            assert [each for each in left if each.state is CallState.CLAIMED and each.orphaned] == []
        kinds = {each.kind for each in await store.records(AuditQuery(limit=1_000_000))}
    assert killed
    assert {EventKind.CLAIMED, EventKind.TAKEN_OVER} <= kinds


async def die_in_pairs(folder: Path, points: Iterable[int]) -> None:
    """Two workers begin together, and only one of them comes to its end."""
    for number, point in enumerate(points):
        pair = Worker.start(folder, life=number, kill_at=point), Worker.start(folder, life=number + 1)
        assert [worker.ends() for worker in pair][1:] == [False]
    await check(folder)


@pytest.mark.timeout(180)  # what a killed neighbour held of a limit is waited for to the deadline
async def test_a_process_goes_on_beside_one_that_is_killed_and_takes_its_calls_over(tmp_path: Path) -> None:
    await live_beside(tmp_path, range(12, 60, 24))
    await check(tmp_path)


@pytest.mark.timeout(180)
async def test_of_two_processes_one_may_be_killed_at_any_durable_point(tmp_path: Path) -> None:
    await die_in_pairs(tmp_path, range(7, 60, 40))


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_a_process_goes_on_beside_many_that_are_killed(tmp_path: Path) -> None:
    await live_beside(tmp_path, range(4, 60, 4))
    await check(tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_of_two_processes_one_may_be_killed_at_every_durable_point(tmp_path: Path) -> None:
    await die_in_pairs(tmp_path, range(1, 60))
