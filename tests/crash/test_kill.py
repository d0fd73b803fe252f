"""kill -9 at every durable point and at random instants: no effect twice, nothing half done, none unaccounted for."""

import time
from pathlib import Path
from random import Random

import pytest

from tests.crash.killing import Worker, check

pytestmark = [
    pytest.mark.crash,
    pytest.mark.requirement("IDEM-3", "IDEM-4", "APR-4", "BUD-2", "CALL-8", "AUD-2", "AUD-3"),
]

POINTS = 60
"""About how many durable points a life has."""


async def die_at_points(folder: Path, points: range, *, life: int) -> None:
    """One life after another on one store, each killed at the next of these points; `life` numbers the first."""
    killed = [Worker.start(folder, life=life + index, kill_at=point).ends() for index, point in enumerate(points)]
    assert sum(killed) > len(killed) * 0.7
    await check(folder)


async def die_at_instants(folder: Path, times: int) -> None:
    """A whole life, then others that are killed some time after they began."""
    random, began = Random(times), time.monotonic()
    assert not Worker.start(folder, life=0).ends()
    whole_s = time.monotonic() - began
    for life in range(1, times + 1):
        Worker.start(folder, life=life).is_killed(after_s=random.uniform(0, whole_s))
    await check(folder)


async def test_a_process_may_be_killed_at_any_durable_point(tmp_path: Path) -> None:
    await die_at_points(tmp_path, range(1, POINTS, 8), life=100)


async def test_a_process_may_be_killed_at_any_instant(tmp_path: Path) -> None:
    await die_at_instants(tmp_path, 3)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("turn", range(5))
async def test_a_process_may_be_killed_at_every_durable_point(tmp_path: Path, turn: int) -> None:
    await die_at_points(tmp_path, range(1, POINTS), life=1_000 * turn)


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_a_process_may_be_killed_at_a_hundred_instants(tmp_path: Path) -> None:
    await die_at_instants(tmp_path, 100)
