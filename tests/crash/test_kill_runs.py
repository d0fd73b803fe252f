"""kill -9 of processes that drive runs: each run goes on from its journal, and ends as if nobody had been killed."""

import time
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from itertools import permutations
from pathlib import Path
from random import Random

import pytest

from interlock.loop.entries import Body, Said, Wish, Wished, written
from interlock.loop.machine import State
from tests.crash.kill_worker import ADDRESS
from tests.crash.killing import Worker
from tests.crash.run_verdict import wrong_with
from tests.crash.run_worker import ERRANDS, HOLDS, People, live, live_until, opened, rows, start
from tests.crash.run_world import Scene
from tests.crash.test_kill_postgres import wait_for_leases
from tests.simulation.people import TENANT

pytestmark = [
    pytest.mark.crash,
    pytest.mark.timeout(120),
    pytest.mark.requirement("LOOP-7", "IDEM-3", "IDEM-4", "APR-4"),
]

POINTS = 200
"""About how many durable points a life has that begins with nothing left over."""

LAST = 100_000
"""The number of the life that nobody kills."""

WHERE: Mapping[State, str] = {
    State.MODEL_REQUEST: "plain",
    State.MODEL_RETRY: "away",
    State.MODEL_RESPONSE: "checked",
    State.TOOLS: "approved",
    State.WAITING_APPROVAL: "asked",
    State.WAITING_HUMAN: "person",
    State.PAUSED: "paused",
}
"""The states in which a run can be found that is not over, and an errand that comes there: START and RETURN_TO_MODEL
are passed in one transaction."""

CANCEL = Wished(Wish.CANCEL, "host")
WORDS: tuple[Body, ...] = (CANCEL, Wished(Wish.PAUSE, "host"), Said("be quick", "host"), Wished(Wish.HAND_OVER, "host"))
"""What people say to a run that nobody drives."""

STATES = "SELECT DISTINCT state FROM run_heads WHERE NOT over"
IN_STATE = "SELECT 1 FROM run_heads WHERE id = '{run}' AND state"
HANDED_OFF = "SELECT 1 FROM run_entries WHERE kind = 'handed_off'"

KINDS = ("sqlite", "postgres, holding", "sqlite, holding", "postgres")
"""Kinds of stores, with and without budgets that requests to models hold."""


@pytest.fixture(params=KINDS[:2])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder with a store of each kind."""
    kind, _, holding = str(request.param).partition(", ")
    if kind == "postgres":
        (tmp_path / ADDRESS).write_text(request.getfixturevalue("postgres_url"))
    if holding:
        (tmp_path / HOLDS).touch()
    return tmp_path


def killed_at(folder: Path, points: Iterable[int | float], *, life: int) -> tuple[int, set[State]]:
    """One life after another, each killed at the next point, or after so many seconds; how many, and in which states.

    Each life begins what the others have, and goes on with what they have left.
    """
    killed, found = 0, set[State]()
    for number, point in enumerate(points, start=life):
        kill_at = point if isinstance(point, int) else None
        worker = Worker.start(folder, life=number, kill_at=kill_at, live=live)
        killed += worker.ends() if isinstance(point, int) else worker.is_killed(after_s=point)
        if (folder / ADDRESS).exists():
            wait_for_leases(folder)
        found.update(State(str(state)) for (state,) in rows(folder, STATES))
    return killed, found


def killed_in(folder: Path, state: State, *, life: int) -> str:
    """A life that is killed as soon as its run is in a state; the run."""
    return killed_once(folder, f"{IN_STATE} = '{state.value}'", errand=WHERE[state], life=life)


def killed_once(folder: Path, sql: str, *, errand: str, life: int) -> str:
    """A life that is killed as soon as the store shows something; its run."""
    assert Worker.start(folder, life=life, live=partial(live_until, sql=sql, errand=errand)).ends(), "it never did"
    if (folder / ADDRESS).exists():
        wait_for_leases(folder)
    return f"{errand}-{life}"


async def tell(folder: Path, run_id: str, body: Body) -> None:
    """Say something to a run that nobody drives; whoever says it dies before anybody is woken."""
    async with opened(folder, every_s=0) as (_, store):
        entry = written(body, at_us=time.time_ns() // 1_000)
        told = await store.runs.tell_run(TENANT, run_id, entry)
        assert isinstance(told, int), told


async def seen_through(
    folder: Path, *, life: int = LAST, errands: Iterable[str] = ERRANDS, cancelled: Collection[str] = ()
) -> None:
    """One more life, in this process, comes to its end, and nothing is wrong with what is left then."""
    async with opened(folder) as (gate, _):
        await start(gate, errands, life=life)
        await People(gate).see_to()
    async with opened(folder, every_s=0) as (gate, store):
        wrong = await wrong_with(gate, store, Scene.judge, like=life, cancelled=cancelled)
    assert not wrong, "\n".join(wrong[:20])


async def test_runs_go_on_wherever_their_process_is_killed(folder: Path) -> None:
    killed, _ = killed_at(folder, range(6, POINTS, 28), life=1)
    assert killed >= 6
    await seen_through(folder)


async def test_runs_go_on_in_whatever_state_they_are_and_hear_what_was_said_meanwhile(folder: Path) -> None:
    cancelled = set[str]()
    for life, state in enumerate(sorted(WHERE)):
        run_id = killed_in(folder, state, life=life)
        body = WORDS[life % len(WORDS)]
        await tell(folder, run_id, body)
        if isinstance(body, Wished) and body.what is Wish.CANCEL:
            cancelled.add(run_id)
    killed_once(folder, HANDED_OFF, errand="handed", life=len(WHERE))
    await seen_through(folder, errands={*WHERE.values(), "handed"}, cancelled=cancelled)


@pytest.mark.slow
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("folder", KINDS, indirect=True)
@pytest.mark.parametrize("state", sorted(WHERE))
async def test_runs_hear_anything_that_was_said_in_any_state(folder: Path, state: State) -> None:
    cancelled = set[str]()
    for life, body in enumerate((*WORDS, *permutations(WORDS, 2))):
        run_id = killed_in(folder, state, life=life)
        for each in body if isinstance(body, tuple) else (body,):
            await tell(folder, run_id, each)
        if CANCEL in (body if isinstance(body, tuple) else (body,)):
            cancelled.add(run_id)
    await seen_through(folder, errands={WHERE[state]}, cancelled=cancelled)


@pytest.mark.slow
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("folder", KINDS, indirect=True)
@pytest.mark.parametrize("first", range(1, 25, 6))
async def test_runs_go_on_wherever_in_their_lives_their_process_is_killed(folder: Path, first: int) -> None:
    killed, found = 0, set[State]()
    for group in range(first, first + 6):
        times, where = killed_at(folder, range(group, POINTS, 24), life=100 * group)
        await seen_through(folder, life=LAST + group)
        killed, found = killed + times, found | where
    assert killed > 35
    assert len(found) > 3


@pytest.mark.slow
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("folder", KINDS, indirect=True)
async def test_runs_go_on_at_whatever_instant_their_process_is_killed(folder: Path) -> None:
    random = Random(7)
    for group in range(6):
        killed_at(folder, [random.uniform(0.2, 2.5) for _ in range(10)], life=1_000 + 100 * group)
        await seen_through(folder, life=LAST + group)
