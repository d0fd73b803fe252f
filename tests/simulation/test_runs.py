"""Runs in simulated time, crashed at any step, among people who wish this and that at any moment."""

from random import Random

import pytest

from tests.crash.run_worker import ERRANDS
from tests.simulation.run_play import Plan, RunStretch

pytestmark = [
    pytest.mark.requirement("LOOP-7", "IDEM-3", "IDEM-4", "APR-4"),
    # A crash leaves generators where they wait; when they are collected their event loop is closed.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


FOUND = (5152,)
"""Seeds that once showed something to be wrong: a grant used in vain, and the next one while its asker died."""


def plan_of(seed: int) -> Plan:
    """Some errands, lives and wishes."""
    random = Random(seed)
    errands = random.sample(sorted(ERRANDS), random.randint(1, 3))
    crashes = tuple(random.randint(30, 400) for _ in range(random.randint(1, 3)))
    return Plan(seed, tuple(errands), crashes, random.choice((0, 0, 1, 3)))


def check(seed: int) -> int:
    """Play it, and find nothing wrong; how often it crashed."""
    stretch = RunStretch(plan_of(seed))
    assert stretch.play() == [], f"seed {seed}: {stretch.plan}"
    return stretch.crashes


def test_no_crash_and_no_wish_breaks_what_runs_promise() -> None:
    assert sum(map(check, (*range(20), *FOUND))) > 12


@pytest.mark.slow
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("block", range(1, 5))
def test_no_crash_and_no_wish_of_hundreds_breaks_what_runs_promise(block: int) -> None:
    assert sum(map(check, range(1_000 * block, 1_000 * block + 300))) > 200
