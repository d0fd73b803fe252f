"""The tools of simulated and killed processes, and the world they act on, which counts and survives every crash."""

import asyncio
from collections import Counter, deque
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, Protocol

from interlock import Context, Cost, ErrorContract, ToolFault, tool
from interlock.testing.simulation import Simulation


class Mood(StrEnum):
    """How one execution of a tool goes."""

    WELL = "well"
    BUSY = "busy"  # reports the error whose contract says that nothing happened
    BREAKS_BEFORE = "breaks before"
    BREAKS_AFTER = "breaks after"
    HANGS = "hangs"  # after the effect, beyond its timeout
    BLIND = "blind"  # goes well, unless it comes to a look-up: that cannot tell


class World(Protocol):
    """What the tools act on."""

    async def act(self, name: str, context: Context) -> str:
        """One execution of a tool that changes something; gives back the key."""

    async def find(self, name: str, context: Context) -> str | None:
        """The key, where the effect is there."""

    async def look(self) -> int:
        """How many effects there are."""


class Stage:
    """The world that the tools act on just now: tools are declared once, worlds come and go."""

    world: World
    what: ClassVar[dict[str, str]] = {}  # what an operation takes away


@dataclass
class SimulatedWorld:
    """`effects` by tool and key, `started` and `executed` by operation; `overlaps`: keys with two at work at once."""

    simulation: Simulation
    moods: deque[Mood]
    effects: Counter[tuple[str, str]] = field(default_factory=Counter)
    started: Counter[str] = field(default_factory=Counter)
    executed: Counter[str] = field(default_factory=Counter)
    overlaps: set[str] = field(default_factory=set)
    running: set[str] = field(default_factory=set)

    async def act(self, name: str, context: Context) -> str:
        """With a step before the effect and one after it."""
        if context.key in self.running:
            self.overlaps.add(context.key)
        self.running.add(context.key)
        try:
            return await self._act(name, context)
        finally:
            self.running.discard(context.key)

    async def find(self, name: str, context: Context) -> str | None:
        """After a step."""
        await self.simulation.step(f"{name} is looked up")
        if self.moods and self.moods[0] is Mood.BLIND:
            self.moods.popleft()
            raise TimeoutError("it cannot tell")
        return context.key if self.effects[name, context.key] else None

    async def look(self) -> int:
        """After a step."""
        await self.simulation.step("peek")
        return self.effects.total()

    async def _act(self, name: str, context: Context) -> str:
        mood = self.moods.popleft() if self.moods else Mood.WELL
        self.started[context.operation_id] += 1
        await self.simulation.step(f"{name} starts")
        fail_before(mood)
        self.effects[name, context.key] += 1
        self.executed[context.operation_id] += 1
        await self.simulation.step(f"{name} has acted")
        if mood is Mood.HANGS:
            await asyncio.Event().wait()
        fail_after(mood)
        return context.key


def fail_before(mood: Mood) -> None:
    """Raise what this mood raises before the effect."""
    if mood is Mood.BUSY:
        raise ToolFault("busy")
    if mood is Mood.BREAKS_BEFORE:
        raise ConnectionError("before")


def fail_after(mood: Mood) -> None:
    """Raise what this mood raises after the effect."""
    if mood is Mood.BREAKS_AFTER:
        raise ConnectionError("after")


BUSY = (ErrorContract("busy", nothing_happened=True),)


async def find_posted(context: Context) -> str | None:
    """Whether the posting is there."""
    return await Stage.world.find("post", context)


async def find_stowed(context: Context) -> str | None:
    """Whether it is in its place."""
    return await Stage.world.find("stow", context)


@tool(effect="read", owner="eng", cost=Cost(1))
async def peek(name: str, how: int) -> int:
    """Look at the world."""
    return await Stage.world.look()


@tool(effect="idempotent_write", key=["name"], owner="eng", cost=Cost(2), errors=BUSY, timeout_ms=5_000)
async def put(name: str, how: int, context: Context) -> str:
    """Set something; the same again changes nothing."""
    return await Stage.world.act("put", context)


@tool(effect="write", key=["name"], owner="eng", cost=Cost(3), errors=BUSY, timeout_ms=5_000, reconcile=find_posted)
async def post(name: str, how: int, context: Context) -> str:
    """Add something that can be found again."""
    return await Stage.world.act("post", context)


@tool(effect="idempotent_write", key=["name"], owner="eng", cost=Cost(2), errors=BUSY, reconcile=find_stowed)
async def stow(name: str, how: int, context: Context) -> str:
    """Put something in its place, where it can be found again."""
    return await Stage.world.act("stow", context)


@tool(effect="write", key=["name"], owner="eng", cost=Cost(3), errors=BUSY, timeout_ms=5_000)
async def send(name: str, how: int, context: Context) -> str:
    """Send something away for ever."""
    return await Stage.world.act("send", context)


@tool(effect="destructive", key=["name"], owner="eng", cost=Cost(5), errors=BUSY, timeout_ms=5_000)
async def remove(name: str, how: int, context: Context) -> str:
    """Remove something for good."""
    return await Stage.world.act("remove", context)


async def find_taken(context: Context) -> str | None:
    """Whether it was taken away."""
    return await Stage.world.find("take", context)


async def find_placed(name: str, context: Context) -> dict[str, str] | None:
    """What was placed, if it was."""
    return {"what": name} if await Stage.world.find("place", context) else None


UNDONE = {"what": "$result.what"}


@tool(effect="write", key=["what"], owner="eng", reconcile=find_taken, timeout_ms=5_000, errors=BUSY)
async def take(what: str, context: Context) -> str:
    """Take away what was placed."""
    Stage.what[context.operation_id] = what
    return await Stage.world.act("take", context)


@tool(effect="write", key=["name"], owner="eng", reconcile=find_placed, compensate=take, compensate_arguments=UNDONE)
async def place(name: str, context: Context) -> dict[str, str]:
    """Place something, which can be taken away again."""
    await Stage.world.act("place", context)
    return {"what": name}


TOOLS = (peek, put, post, send, remove, stow)
UNDOING = (place, take)
COST = {each.name: each.spec().cost.max_micros for each in (*TOOLS, *UNDOING)}
ONCE = frozenset({"post", "send", "remove", "place", "take"})
"""Tools whose effect must never come twice under one key."""
