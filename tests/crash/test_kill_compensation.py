"""kill -9 in the middle of a plan: whoever opens the store next undoes the rest, each thing once, the last first."""

from pathlib import Path

import pytest

from interlock import CompensationState
from interlock.core.chain import Break
from tests.crash.judge import Judge
from tests.crash.kill_worker import Points
from tests.crash.killing import Worker
from tests.crash.undo_worker import THINGS, PlainWorld, live, opened, undo
from tests.simulation.people import ALICE
from tests.simulation.world import Stage

pytestmark = [pytest.mark.crash, pytest.mark.requirement("IDEM-6", "IDEM-4")]

POINTS = 60
"""About how many durable points there are from the first thing to the end of the plan."""


def fresh(folder: Path, point: int) -> Path:
    """A folder of its own."""
    (folder / str(point)).mkdir()
    return folder / str(point)


async def ends_right(folder: Path, *, kill_at: int) -> bool:
    """Whether a process was killed at that point; another one then finds everything undone, or undoes it."""
    killed = Worker.start(folder, life=0, kill_at=kill_at, live=live).ends()
    judge = Judge(folder / "judge.db")
    Stage.world = PlainWorld(judge, Points(None))
    async with opened(folder) as (gate, store):
        plans = await gate.compensations.list(by=ALICE)
        assert {plan.state for plan in plans} <= {CompensationState.COMPENSATED}, f"killed at {kill_at}"
        if any(plan.steps for plan in plans) or judge.things("place"):
            assert (await undo(gate)).state is CompensationState.COMPENSATED
        assert len(await gate.compensations.list(by=ALICE)) <= 1
        assert not isinstance(await gate.audit.verify(), Break)
        assert await store.open_calls() == ()
    placed = judge.things("place")
    assert len(set(placed)) == len(placed) <= len(THINGS)
    assert judge.things("take") == list(reversed(THINGS[: len(placed)])), f"killed at {kill_at}"
    return killed


async def test_a_plan_ends_right_wherever_its_process_is_killed(tmp_path: Path) -> None:
    killed = [await ends_right(fresh(tmp_path, point), kill_at=point) for point in range(19, POINTS, 12)]
    assert sum(killed) > len(killed) * 0.6


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_a_plan_ends_right_at_every_durable_point(tmp_path: Path) -> None:
    killed = [await ends_right(fresh(tmp_path, point), kill_at=point) for point in range(1, POINTS)]
    assert sum(killed) > len(killed) * 0.6
