"""Plays runs in simulated time: lives of a process that drives them, among people who wish this and that."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any, ParamSpec, TypeVar

from interlock import Gate, Host, Principal
from interlock.assemble import wired
from interlock.loop.entries import Wish
from interlock.store.memory import MemoryStore
from interlock.testing.simulation import Crashed, Simulation, stepped
from tests.crash.run_verdict import wrong_with
from tests.crash.run_worker import POLICIES, SCRIPTS, SETTINGS, People, start
from tests.crash.run_world import TOOLS, JudgedModel, Place, Points, Scene
from tests.simulation.people import ALICE, HOST, KEYS
from tests.waiting import later

P = ParamSpec("P")
T = TypeVar("T")

UNKILLED = 1_000


class MemoryJudge:
    """A judge that lies outside of the simulated process."""

    def __init__(self) -> None:
        self._asked: list[tuple[str, str]] = []
        self._started: list[Place] = []
        self._effects: list[tuple[Place, int]] = []
        self._told: set[tuple[str, str]] = set()

    def ask(self, run: str, turn: str) -> tuple[int, bool]:
        """A model was asked for a turn: the number of the request, and whether it is the turn's first."""
        self._asked.append((run, turn))
        return len(self._asked), self._asked.count((run, turn)) == 1

    def start(self, place: Place) -> int:
        """A tool's code was entered: the number of that execution."""
        self._started.append(place)
        return len(self._started)

    def effect(self, place: Place, *, start: int) -> None:
        """It has happened, by that execution."""
        self._effects.append((place, start))

    def tell(self, run: str, word: str) -> None:
        """A person has said a word about a run."""
        self._told.add((run, word))

    def told(self, run: str, word: str) -> bool:
        """Whether one has."""
        return (run, word) in self._told

    def wanted(self) -> list[tuple[str, str]]:
        """Runs that wait for a word which nobody has said yet, and the words."""
        return sorted({(run, name) for run, tool_name, name in self._started if tool_name == "hear"} - self._told)

    def done(self, place: Place) -> int | None:
        """The execution that took effect there last, if any did."""
        return max((start for there, start in self._effects if there == place), default=None)

    def asked(self) -> Mapping[int, tuple[str, str]]:
        """All requests by number: the run and the turn of each."""
        return dict(enumerate(self._asked, start=1))

    def starts(self) -> Mapping[Place, list[int]]:
        """All executions by call, the latest last."""
        return _by_place((place, number) for number, place in enumerate(self._started, start=1))

    def effects(self) -> Mapping[Place, list[int]]:
        """The executions that took effect, by call."""
        return _by_place(self._effects)


def _by_place(numbers: Iterable[tuple[Place, int]]) -> dict[Place, list[int]]:
    found: dict[Place, list[int]] = {}
    for place, number in numbers:
        found.setdefault(place, []).append(number)
    return found


class SteppedStore:
    """A store with a step before and after whatever is asked of it, runs included."""

    def __init__(self, store: MemoryStore, simulation: Simulation) -> None:
        self._port = stepped(store, simulation=simulation)
        self.runs = stepped(store.runs, simulation=simulation)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._port, name)


@dataclass(frozen=True)
class Plan:
    """What decides how it goes: errands, the steps at which lives end, and how many wishes people have in each."""

    seed: int
    errands: tuple[str, ...]
    crashes: tuple[int, ...]
    wishes: int


class RunStretch:
    """One plan being played."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.store = MemoryStore()
        self.simulation = Simulation(plan.seed, haste=0)
        self.judge = MemoryJudge()
        self.crashes = 0
        self._random = Random(plan.seed)
        self._cancelled: set[str] = set()

    def play(self) -> list[str]:
        """All lives, then one that nobody kills, of which the errands are done as they should be; what is wrong."""
        Scene.judge, Scene.points = self.judge, Points(None)
        before, Scene.tells = Scene.tells, self._tells  # type: ignore[method-assign]
        try:
            for life, crash_at in enumerate(self.plan.crashes):
                ended = self.simulation.run(partial(self._live, life, wishes=self.plan.wishes), crash_at=crash_at)
                self.crashes += isinstance(ended, Crashed)
                self.store.abandon()
            self.simulation.run(partial(self._live, UNKILLED, wishes=0))
            wrong = self.simulation.run(self._wrong)
        finally:
            Scene.tells = before  # type: ignore[method-assign]
        assert not isinstance(wrong, Crashed)
        return wrong

    async def _live(self, life: int, *, wishes: int) -> None:
        async with self._opened() as gate:
            begun = await start(gate, self.plan.errands, life=life)
            people = People(gate)
            wish = self._wish(gate, [run.id for run in begun], count=wishes)
            await asyncio.gather(wish, people.see_to(until_s=10_000))

    async def _wish(self, gate: Gate, runs: list[str], *, count: int) -> None:
        """Any wishes, one after another, at any time."""
        for _ in range(count):
            await later(self._random.choice((0.0, 0.03, 0.3)))
            run_id, who = self._random.choice(runs), self._random.choice((ALICE, HOST))
            await self._say(gate, run_id, who)

    async def _say(self, gate: Gate, run_id: str, who: Principal) -> None:
        what = self._random.choice((*Wish, None))
        if what is None:
            await gate.runs.say(run_id, "be quick", by=who)
            return
        if what is Wish.CANCEL:
            self._cancelled.add(run_id)
        await gate.runs.wish(run_id, what, by=who, text="as was said")

    async def _wrong(self) -> list[str]:
        async with self._opened(drives=False) as gate:
            for each in sorted(self._cancelled):
                report = await (await gate.runs.get(each, by=HOST)).report()
                if report.state != "cancelled":  # it was over before, or the process died before it was told
                    self._cancelled.discard(each)
            return await wrong_with(gate, self.store, self.judge, like=UNKILLED, cancelled=self._cancelled)

    @asynccontextmanager
    async def _opened(self, *, drives: bool = True) -> AsyncIterator[Gate]:
        models = (JudgedModel(SCRIPTS),) if drives else ()
        host = Host(models=models, clock=self.simulation.clock, entropy=self.simulation.entropy)
        port: Any = SteppedStore(self.store, self.simulation)
        gate = wired(Gate, port, SETTINGS, host=host, keys=KEYS)
        _, sources = await self.store.policies()
        await gate.begin(TOOLS, None if sources else POLICIES)
        yield gate
        await gate.close()

    async def _tells(self, what: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        await self.simulation.step("the world")
        return what(*args, **kwargs)
