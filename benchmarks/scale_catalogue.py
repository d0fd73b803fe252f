"""What is done with one tool among few and among many: resolved, listed, declared, frozen, published, heard of."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from itertools import count

from benchmarks.harness import Measured, in_turn
from benchmarks.tools import ALICE, SETTINGS, TOOLS, search
from interlock import AgentTools, Caller, Gate, Principal, ToolUse
from interlock.core.call import Origin
from interlock.core.catalogue import Tool
from interlock.core.journal import EventKind
from interlock.core.lifecycle import Lifecycle
from interlock.core.routing import located

OPERATOR = Principal("default", "olga", groups=frozenset({"operator"}))
LIMIT, AIM = 1.2, 1.05
OPENING_S, PUBLISHING_S = 10.0, 120.0
"""What opening and publishing 100,000 tools may take of a processor: no ratio is asked of these."""

SMALL_AGENT = AgentTools("small", tenant="default", tools=tuple(ToolUse(f"search_{number}") for number in range(5)))
CALLER, AGENT = Caller(ALICE), Caller(ALICE, origin=Origin(agent="small"))


async def cases(few: Gate, many: Gate) -> AsyncIterator[Measured]:
    """Each of them, by turns, in two open installations. What is read is asked a thousand times a turn."""
    for gate in (few, many):
        await gate.agents.save(SMALL_AGENT, by=OPERATOR, reason="to be measured")
    for name, work, times in (
        ("a name is resolved", resolve, 10),
        ("a page of five tools", page, 10),
        ("five tools of an agent are declared", declare, 10),
        ("a tool is frozen and released", freeze, 2),
        ("a tool is published", publish, 10),
        ("a change by another is heard of", hear, 10),
    ):
        value, floor = await in_turn(work(many), work(few), times=times, rounds=15)
        yield Measured(f"large beside small: {name}", value * 1e6, "us", floor * 1e6, LIMIT, AIM)


def resolve(gate: Gate) -> Callable[[], Awaitable[None]]:
    """What a name means, a thousand times."""

    async def once() -> None:
        catalogue = gate._views.current.catalogue
        for _ in range(1_000):
            assert isinstance(located("search_3", CALLER, catalogue), Tool)

    return once


def page(gate: Gate) -> Callable[[], Awaitable[None]]:
    """A page, a hundred times."""

    async def once() -> None:
        for _ in range(100):
            assert len(gate.catalogue.page(CALLER, after="search_2", limit=5).tools) == 5

    return once


def declare(gate: Gate) -> Callable[[], Awaitable[None]]:
    """What a small agent's model is told, ten times."""

    async def once() -> None:
        for _ in range(10):
            assert len(gate.catalogue.declarations(AGENT, dialect="openai-chat").tools) == 5

    return once


def freeze(gate: Gate) -> Callable[[], Awaitable[None]]:
    """A freeze and a release; what is kept of each tool's moves grows alike in both."""
    numbers = count()

    async def once() -> None:
        name = f"search_{next(numbers) % 10}"
        await gate.catalogue.freeze(name, by=OPERATOR, reason="to be measured")
        await gate.catalogue.release(name, by=OPERATOR, reason="to be measured")

    return once


def publish(gate: Gate) -> Callable[[], Awaitable[None]]:
    """One new tool."""
    numbers = count()

    async def once() -> None:
        await gate.catalogue.register([replace(search.spec(), name=f"bench_{next(numbers)}")], by=OPERATOR)

    return once


def hear(gate: Gate) -> Callable[[], Awaitable[None]]:
    """A version that is moved behind this gate's back, and what it costs to hear of that."""
    states = (Lifecycle.RESTRICTED, Lifecycle.AVAILABLE)
    numbers = count()

    async def once() -> None:
        state = states[next(numbers) % 2]
        found = await gate.catalogue.list_versions("search_5")
        event = gate._records.act(EventKind.TOOL_MOVED, "default", {"subject": "search_5"})
        await gate._world.catalogue.publish(tuple(replace(each, state=state) for each in found), event)
        await gate._views.refresh()

    return once


async def opened_anew(path: str, tools: int) -> Measured:
    """Processor time of opening a store of so many tools by a process that has the code of three."""
    began_s = time.process_time()
    async with AsyncExitStack() as stack:
        gate = await stack.enter_async_context(Gate.open(path, tools=TOOLS, settings=SETTINGS))
        took_s = time.process_time() - began_s
        assert isinstance(located("search", CALLER, gate._views.current.catalogue), Tool)
    return Measured(f"opening {tools:,} tools, code elsewhere", took_s, "s", None, OPENING_S, OPENING_S / 5)


def published(tools: int, took_s: float) -> Measured:
    """Processor time of publishing so many tools with their code."""
    return Measured(f"publishing {tools:,} tools", took_s, "s", None, PUBLISHING_S, PUBLISHING_S / 2)
