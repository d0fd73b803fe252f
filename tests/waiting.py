"""A place where calls wait: gates in simulated time, on a store that counts its looks, and a tool that takes time."""

import asyncio
import inspect
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from interlock import (
    Caller,
    Cost,
    Gate,
    Host,
    Limit,
    Limits,
    Observation,
    PolicySource,
    Principal,
    Settings,
    ToolCall,
    tool,
)
from interlock.assemble import wired
from interlock.core.tool import Vendor
from interlock.keys import Keys
from interlock.store.memory import MemoryStore
from interlock.testing.simulation import Crashed, Simulation, stepped
from tests.gates import ALL, AnyTool

T = TypeVar("T")
CLOUD = Vendor("cloud")
KEYS = Keys(b"s" * 32, b"m" * 32)


class Counted:
    """The same port, which counts what it is asked."""

    def __init__(self, port: object) -> None:
        self._port = port
        self.asked: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._port, name)
        if not inspect.iscoroutinefunction(getattr(found, "func", found)):
            return found

        async def counted(*args: Any, **kwargs: Any) -> Any:
            self.asked[name] += 1
            return await found(*args, **kwargs)

        return counted


@dataclass
class Desk:
    """One store in simulated time, and what was done there: who began when, and how many were at work at once."""

    limits: tuple[Limit, ...]
    seed: int = 0
    waiting_max: int = 1_000
    policy: str = ALL
    begun: list[tuple[str, float]] = field(default_factory=list)
    most: int = 0
    running: int = 0

    def __post_init__(self) -> None:
        self.simulation = Simulation(self.seed, haste=0)
        self.store = MemoryStore()
        self.port = Counted(stepped(self.store, simulation=self.simulation))
        self.tools = (self._work(), self._keep(), self._dear(), self._other())

    @property
    def order(self) -> list[str]:
        """Who began, in order."""
        return [who for who, _ in self.begun]

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Gate]:
        """A gate, at which nobody waits once it is closed."""
        settings = Settings(limits=Limits(self.limits), waiting_max=self.waiting_max, tenant="acme")
        host = Host(clock=self.simulation.clock, entropy=self.simulation.entropy)
        gate = wired(Gate, self.port, settings, host=host, keys=KEYS)  # type: ignore[arg-type]
        await gate.begin(self.tools, [PolicySource("all", self.policy)])  # type: ignore[arg-type]
        yield gate
        await gate.close()
        assert (gate._queues.walkers, gate._queues._rooms) == ({}, {}), "somebody is left waiting"

    def play(self, scene: Callable[[Gate], Coroutine[object, object, T]]) -> T:
        """What comes of it at one gate."""

        async def live() -> T:
            async with self.opened() as gate:
                return await scene(gate)

        ended = self.simulation.run(live)
        assert not isinstance(ended, Crashed)
        return ended

    async def _at_work(self, who: str, seconds: float) -> str:
        self.begun.append((who, self.simulation.clock.now_s))
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await later(seconds)
        finally:
            self.running -= 1
        return who

    def _work(self) -> AnyTool:
        @tool(effect="read", owner="eng", name="work", timeout_ms=600_000, vendor=CLOUD)
        async def work(who: str, seconds: float = 1.0) -> str:
            """Work at the vendor's."""
            return await self._at_work(who, seconds)

        return work

    def _keep(self) -> AnyTool:
        @tool(effect="write", owner="eng", name="keep", key=["who"], timeout_ms=600_000, vendor=CLOUD)
        async def keep(who: str, seconds: float = 1.0) -> str:
            """Keep something at the vendor's."""
            return await self._at_work(who, seconds)

        return keep

    def _dear(self) -> AnyTool:
        @tool(effect="read", owner="eng", name="dear", cost=Cost(10), vendor=CLOUD)
        async def dear(who: str) -> str:
            """Have the vendor do what it is paid for."""
            return await self._at_work(who, 0)

        return dear

    def _other(self) -> AnyTool:
        @tool(effect="read", owner="eng", name="other")
        async def other(who: str) -> str:
            """Work somewhere else."""
            self.begun.append((who, self.simulation.clock.now_s))
            return who

        return other


def call(who: str, *, name: str = "work", **more: Any) -> ToolCall:
    """A call named after who makes it; the first letter is its tenant."""
    return ToolCall(who, name, {"who": who, **more})


async def propose(gate: Gate, who: str, *, deadline_s: float = 3_600, name: str = "work", **more: Any) -> Observation:
    """Propose it for the tenant that `who` begins with."""
    caller = Caller(Principal(who[0], "somebody"), task="task", deadline_ms=round(deadline_s * 1_000))
    return await gate.propose(call(who, name=name, **more), caller)


def together(gate: Gate, *who: str, **more: Any) -> list[asyncio.Task[Observation]]:
    """All of them at once."""
    return [asyncio.create_task(propose(gate, each, **more)) for each in who]


async def later(seconds: float) -> None:
    """Wait until so much simulated time has passed."""
    passed = asyncio.Event()
    asyncio.get_running_loop().call_later(seconds, passed.set)
    await passed.wait()


def many(tenant: str, count: int) -> list[str]:
    """So many callers of one tenant."""
    return [f"{tenant}{number}" for number in range(count)]
