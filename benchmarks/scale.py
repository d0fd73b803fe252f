"""Whether size matters: each case of a large installation beside the same case of a small one, in alternation.

Large is 100,000 tools, 1,000 policies and 1,000,000 audit records, small is 10, 10 and none. Setting the large one up
takes some minutes, so these cases run only where they are asked for (`scripts/bench --scale`). `INTERLOCK_BENCH_SCALE`
(tools, policies, records, with commas) sets other sizes.
"""

from __future__ import annotations

import asyncio
import os
import resource
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import scale_catalogue
from benchmarks.gates import ARGUMENTS, CONCURRENT, check, writer_of
from benchmarks.harness import Measured, in_turn
from benchmarks.tools import ALICE, BY_VALUE, POLICY, SETTINGS, TOOLS, search
from interlock import Break, Declaration, Gate, PolicySource, ToolCall, ToolSpec
from interlock.core.tool import SHARED

LIMIT, AIM = 1.2, 1.05
AT_ONCE = 512
VERIFY_S = 15.0
FLAT = 1.05


@dataclass(frozen=True)
class Size:
    """How much there is of everything."""

    tools: int
    policies: int
    records: int


SMALL = Size(10, 10, 0)


def large() -> Size:
    """The large installation."""
    return Size(*map(int, os.environ.get("INTERLOCK_BENCH_SCALE", "100000,1000,1000000").split(",")))


class Clone:
    """The tool `search` under another name."""

    def __init__(self, number: int) -> None:
        self.code = search.code
        self._number = number

    def spec(self, *, tenant: str = SHARED, source: str = "python") -> ToolSpec:
        """Its contract."""
        return replace(search.spec(tenant=tenant, source=source), name=f"search_{self._number}")


async def cases() -> AsyncIterator[Measured]:
    """All of them: those in memory first, then the others one after the other on the same two files."""
    size = large()
    for name, policy, new in (("governed read", POLICY, False), ("governed read, new value", BY_VALUE, True)):
        async with AsyncExitStack() as stack:
            few, many = await _pair(stack, size, policy)
            yield await _beside(f"{name}, memory", _reader(few, new=new), _reader(many, new=new), times=300)
    with TemporaryDirectory(prefix="interlock-scale-") as name:
        async for measured in _on_disk(size, Path(name)):
            yield measured
        yield await scale_catalogue.opened_anew(str(Path(name, "large.db")), size.tools)


async def _on_disk(size: Size, folder: Path) -> AsyncIterator[Measured]:
    async with AsyncExitStack() as stack:
        few, many = await _pair(stack, size, POLICY, folder=folder)
        yield scale_catalogue.published(size.tools, _published_s[-1])
        async for measured in scale_catalogue.cases(few, many):
            yield measured
        await _fill(many, size.records)
        yield await _beside("governed write", writer_of(few), writer_of(many), times=40)
        yield await _beside("64 writes at once", _at_once(writer_of(few)), _at_once(writer_of(many)), times=6)
        yield await _beside("64 reads at once", _at_once(_reader(few)), _at_once(_reader(many)), times=6)
        if size.records:
            yield _flat(*_memory)
            yield await _verified(many, size)


_published_s: list[float] = []
"""Processor time (seconds) that each installation took to open with its tools."""

_memory: list[float] = []
"""Memory (MB) of the process once a tenth of the records was written, and once all were."""


async def _pair(
    stack: AsyncExitStack, size: Size, policy: PolicySource, *, folder: Path | None = None
) -> tuple[Gate, Gate]:
    """The small installation and the large one."""
    found: list[Gate] = []
    for name, each in (("small", SMALL), ("large", size)):
        path = ":memory:" if folder is None else str(folder / f"{name}.db")
        found.append(await stack.enter_async_context(_opened(path, each, policy)))
    return found[0], found[1]


@asynccontextmanager
async def _opened(path: str, size: Size, policy: PolicySource) -> AsyncIterator[Gate]:
    _say(f"opening {path} with {size.tools:,} tools and {size.policies:,} policies")
    rules = "".join(
        f'@id("p{number}") forbid(principal, action == Action::"search_{number % size.tools}", resource) '
        f'when {{ principal.groups.contains("g{number}") }};\n'
        for number in range(size.policies)
    )
    tools: list[Declaration] = [*TOOLS, *(Clone(number) for number in range(size.tools))]
    source = PolicySource(policy.name, policy.text + rules)
    began_s = time.process_time()
    async with Gate.open(path, tools=tools, policies=[source], settings=SETTINGS) as gate:
        _published_s.append(time.process_time() - began_s)
        yield gate


async def _fill(gate: Gate, records: int) -> None:
    """So many records of real calls."""
    read, began = _reader(gate), time.monotonic()
    for done in range(0, records, AT_ONCE):
        await asyncio.gather(*[read() for _ in range(AT_ONCE)])
        if len(_memory) == 0 and done >= records / 10:
            _memory.append(_resident_mb())
        if done % (AT_ONCE * 200) == 0:
            _say(f"{done:,} of {records:,} records after {time.monotonic() - began:.0f} s")
    if records:
        _memory.append(_resident_mb())


async def _beside(
    name: str, small: Callable[[], Awaitable[object]], big: Callable[[], Awaitable[object]], *, times: int
) -> Measured:
    value, floor = await in_turn(big, small, times=times, rounds=15)
    return Measured(f"large beside small: {name}", value * 1e6, "us", floor * 1e6, LIMIT, AIM)


async def _verified(gate: Gate, size: Size) -> Measured:
    began = time.monotonic()
    is_broken = isinstance(await gate.audit.verify(), Break)
    if is_broken:
        raise RuntimeError("the log of the benchmark is broken")
    return Measured(f"verify {size.records:,} records", time.monotonic() - began, "s", None, VERIFY_S, VERIFY_S / 2)


def _flat(after_a_tenth: float, after_all: float) -> Measured:
    return Measured("memory after all calls, and after a tenth", after_all, "MB", after_a_tenth, FLAT, 1.01)


def _reader(gate: Gate, *, new: bool = False) -> Callable[[], Awaitable[None]]:
    """Reads with arguments that are always the same, or always new."""
    numbers = count()

    async def read() -> None:
        arguments = f'{{"query":"how approvals are bound {next(numbers)}","limit":3}}' if new else ARGUMENTS
        check(await gate.call(ToolCall("c", "search", arguments), principal=ALICE))

    return read


def _at_once(work: Callable[[], Awaitable[object]]) -> Callable[[], Awaitable[object]]:
    async def all_of_them() -> None:
        await asyncio.gather(*[work() for _ in range(CONCURRENT)])

    return all_of_them


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


def _say(what: str) -> None:
    print(f"scale: {what}", file=sys.stderr, flush=True)
