"""Runs a whole process in simulated time, in an order that a seed decides, and kills it at any step.

    simulation = Simulation(seed=7)
    store = MemoryStore()
    ended = simulation.run(lambda: work(stepped(store, simulation=simulation)), crash_at=12)
    if isinstance(ended, Crashed):
        store.abandon()                     # what it had claimed is orphaned, as after a real death
        simulation.run(lambda: work(stepped(store, simulation=simulation)))

Coroutines run on an event loop of their own. Wherever one of them passes a `step` it waits for its turn; once all of
them wait, the seed says who goes on, or that time passes until the next timer. So every order of what they do at their
steps is possible, and the same seed gives the same one. A crash drops them all where they wait: nothing of them runs
any more, and whatever lies outside (a store, a world that tools act on) stays as it is. Threads are not simulated.
"""

from __future__ import annotations

import asyncio
import inspect
import selectors
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import ParamSpec, TypeVar, cast

from interlock.core.errors import InterlockError

P = ParamSpec("P")
T = TypeVar("T")

START_US = 1_764_547_200_000_000
"""When simulated time begins: 2025-12-01 UTC."""

TURNS_MAX = 100_000
"""How often a process may take a step or let time pass; one that has not ended then never will."""

Watch = Callable[[str], object]
"""Told the name of every step, just before it is taken, while everything stands still. It may cancel tasks."""


class Stuck(InterlockError):
    """It never ends: everyone waits for what no step and no time brings, or goes round in circles."""


@dataclass(frozen=True, slots=True)
class Crashed:
    """The process was killed when it would have taken this step."""

    step: str


class SimulatedClock:
    """Simulated time (`ports.Clock`), which passes only when a simulation lets it."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def now_us(self) -> int:
        """Microseconds since 1970 UTC."""
        return START_US + round(self.now_s * 1_000_000)

    def monotonic_s(self) -> float:
        """Seconds since the simulation began; its event loops go by the same clock."""
        return self.now_s

    async def sleep(self, seconds: float) -> None:
        """Wait for time to pass."""
        await asyncio.sleep(seconds)


class SimulatedEntropy:
    """Randomness (`ports.Entropy`) that is the same for the same seed. It protects nothing."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)  # noqa: S311 - to be repeated is its purpose

    def bytes(self, count: int) -> bytes:
        """So many bytes."""
        return self._random.randbytes(count)


class Simulation:
    """One stretch of simulated time, in which processes run and crash one after another.

    `haste` is how likely time passes, up to the next timer, while somebody could still take a step: 0 lets nothing time
    out that could go on. `watch` sees every step.
    """

    def __init__(self, seed: int, *, haste: float = 0.02, watch: Watch | None = None) -> None:
        self.clock = SimulatedClock()
        self.entropy = SimulatedEntropy(seed)
        self.steps = 0
        self._choice = Random(seed)  # noqa: S311 - to be repeated is its purpose
        self._haste = haste
        self._turns = 0
        self._watch = watch
        self._crash_at: int | None = None
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []

    def run(self, main: Callable[[], Coroutine[object, object, T]], *, crash_at: int | None = None) -> T | Crashed:
        """What `main` comes to, or `Crashed` at the step of that number, counted from 1 in this run.

        Raises what `main` raises, and `Stuck` where it can never end.
        """
        self.steps, self._turns, self._crash_at, self._waiting = 0, 0, crash_at, []
        loop = _Loop(self)
        try:
            return loop.run_until_complete(main())
        except _Killed as killed:
            return Crashed(killed.step)
        finally:
            _drop(loop)

    def calm(self) -> None:
        """From now on no time passes while somebody could take a step: nothing times out that could go on."""
        self._haste = 0.0

    async def step(self, name: str) -> None:
        """Wait for one's turn. A crash at this step leaves what comes after it undone."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((name, turn))
        await turn

    def settle_idle(self, timer_s: float | None) -> None:
        """Everyone waits: give one of them the turn, or let time pass. Called by the event loop alone."""
        self._turns += 1
        if self._turns > TURNS_MAX:
            raise Stuck(f"it has not ended after {TURNS_MAX} turns")
        waiting = [each for each in self._waiting if not each[1].done()]
        if timer_s is not None and (not waiting or self._choice.random() < self._haste):
            self.clock.now_s += timer_s
            return
        if not waiting:
            raise Stuck("everyone waits, and no time will end it")
        name, turn = waiting.pop(self._choice.randrange(len(waiting)))
        self._waiting = waiting
        self._take(name)
        if not turn.done():
            turn.set_result(None)

    def _take(self, name: str) -> None:
        self.steps += 1
        if self._watch is not None:
            self._watch(name)
        if self.steps == self._crash_at:
            raise _Killed(name)


def stepped(port: T, *, simulation: Simulation) -> T:
    """The same port with a step before and one after each of its async methods.

    Who is cancelled at either has handed its call over: it is carried out at once, and nobody hears of it.
    """
    return cast("T", _Stepped(port, simulation))


class _Stepped:
    def __init__(self, port: object, simulation: Simulation) -> None:
        self._port = port
        self._simulation = simulation

    def __getattr__(self, name: str) -> object:
        found = getattr(self._port, name)
        return partial(self._call, name, found) if inspect.iscoroutinefunction(found) else found

    async def _call(
        self, name: str, method: Callable[P, Coroutine[object, object, object]], *args: P.args, **kwargs: P.kwargs
    ) -> object:
        try:
            await self._simulation.step(f"before {name}")
        except asyncio.CancelledError:
            await method(*args, **kwargs)
            raise
        result = await method(*args, **kwargs)
        await self._simulation.step(f"after {name}")
        return result


class _Killed(Exception):
    """Breaks off an event loop from inside."""

    def __init__(self, step: str) -> None:
        super().__init__(step)
        self.step = step


class _Loop(asyncio.SelectorEventLoop):
    """An event loop on simulated time that asks the simulation what to do whenever nothing is ready."""

    def __init__(self, simulation: Simulation) -> None:
        self._clock = simulation.clock
        super().__init__(_Idle(simulation))
        # asyncio takes a timer as due within a nanosecond, which is less than floats can tell apart after some months.
        self._clock_resolution = 1e-6

    def time(self) -> float:
        return self._clock.now_s


class _Idle(selectors.DefaultSelector):
    """The place where an event loop would wait for the world."""

    def __init__(self, simulation: Simulation) -> None:
        super().__init__()
        self._simulation = simulation

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or timeout > 0:
            self._simulation.settle_idle(timeout)
        return super().select(0)


def _drop(loop: _Loop) -> None:
    """Leave everyone where they wait, for good."""
    loop.set_exception_handler(lambda _loop, _context: None)
    for task in asyncio.all_tasks(loop):
        coroutine = task.get_coro()
        # One that tidies up by waiting gets no turn for it: that is what being killed means.
        with suppress(RuntimeError):
            if coroutine is not None:
                coroutine.close()
    loop.close()
