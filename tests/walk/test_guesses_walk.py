"""Whoever guesses what others have done decides as who looks: random schedules of two processes, played both ways.

Each schedule follows from its seed, and is played by two processes on one database that guess, by two that look each
time, by two on one file and by one, and in memory. What callers hear, and what is left in the end, has to be the same.
"""

import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from interlock import (
    Context,
    ErrorContract,
    Gate,
    Host,
    Limit,
    Limits,
    PolicySource,
    Principal,
    ScopeKind,
    Settings,
    ToolCall,
    ToolFault,
    Unit,
    tool,
)
from interlock.assemble import wired
from interlock.core.chain import Break
from interlock.core.decision import Deny
from interlock.core.journal import AuditQuery
from interlock.core.stops import StopScope
from interlock.ports import Look, Seen
from interlock.store import postgres_writer
from interlock.store.memory import MemoryStore
from interlock.store.postgres import PostgresStore
from interlock.store.sqlite import SqliteStore
from interlock.testing.fakes import FakeClock, SeededEntropy
from tests.gates import AnyTool, code
from tests.postgres import reused
from tests.runs import KEYS

TENANTS = ("acme", "beta")
STEPS = 60
BUSY = (ErrorContract("busy", nothing_happened=True),)
ALL = '@id("all") permit (principal, action, resource);'
ASKS = '@id("asks") @approval("approver") @lifetime("1h") permit (principal, action == Action::"save", resource);'
READS = '@id("reads") permit (principal, action in Action::"read", resource);'
ONCE = """
@id("once") forbid (principal, action == Action::"save", resource)
when { context has run && context.run.tools.contains("search") };
"""
POLICIES = (ALL, ALL, ALL, ALL + ASKS, ALL + ASKS, ALL + ONCE, READS)


def who(tenant: str, name: str = "alice") -> Principal:
    """Somebody of a tenant: everybody may ask, all but Alice may decide."""
    groups = {"eng"} if name == "alice" else {"approver", "operator", "auditor"}
    return Principal(tenant, name, groups=frozenset(groups))


@dataclass
class World:
    """What really happened, by tenant, tool and key, and how the next execution goes."""

    effects: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    mood: str = "well"

    async def act(self, name: str, context: Context) -> str:
        if self.mood == "busy":
            raise ToolFault("busy")
        self.effects[context.principal.tenant, name, context.key] += 1
        if self.mood == "breaks":
            raise ConnectionError("after")
        return name

    def tools(self) -> list[AnyTool]:
        """A read and four kinds of effects."""

        @tool(effect="read", owner="eng")
        async def search(name: str, how: int) -> str:
            """Look."""
            return name

        @tool(effect="write", owner="eng", key=["name"], errors=BUSY, key_lifetime_s=3_600)
        async def save(name: str, how: int, context: Context) -> str:
            """Save, which answers for an hour."""
            return await self.act("save", context)

        @tool(effect="idempotent_write", owner="eng", key=["name"], errors=BUSY)
        async def put(name: str, how: int, context: Context) -> str:
            """Put, which may be repeated."""
            return await self.act("put", context)

        @tool(effect="write", owner="eng", key=["what"], errors=BUSY)
        async def take(what: str, context: Context) -> str:
            """Undo."""
            return await self.act("take", context)

        @tool(
            effect="write",
            owner="eng",
            key=["name"],
            errors=BUSY,
            compensate=take,
            compensate_arguments={"what": "$arguments.name"},
        )
        async def place(name: str, how: int, context: Context) -> str:
            """Place, which may be undone."""
            return await self.act("place", context)

        return [search, save, put, place, take]


@dataclass
class Played:
    """What was heard at each step, and what is left."""

    heard: list[str] = field(default_factory=list)
    left: dict[str, object] = field(default_factory=dict)


class Walk:
    """One schedule, played by two processes."""

    def __init__(self, seed: int, gates: list[Gate], world: World, clock: FakeClock) -> None:
        self.random = Random(seed)
        self.gates = gates
        self.world = world
        self.clock = clock
        self.played = Played()
        self.calls = 0

    async def play(self) -> Played:
        """All steps, one after the other, each by one of the processes."""
        acts: list[Callable[[Gate, str], Awaitable[object]]] = [
            *[self.call] * 18,
            *[self.decide] * 5,
            self.policy,
            self.stop,
            self.purge,
            self.later,
            self.close_unknown,
            self.undo,
            self.recover,
        ]
        for _ in range(STEPS):
            act, gate = self.random.choice(acts), self.random.choice(self.gates)
            tenant = self.random.choice(TENANTS)
            said = await act(gate, tenant)
            self.played.heard.append(
                f"{len(self.played.heard)} {self.gates.index(gate)} {tenant} {act.__name__}: {said}"
            )
        await self.look_at_the_end()
        return self.played

    async def call(self, gate: Gate, tenant: str) -> str:
        self.calls += 1
        name = self.random.choice(["search", "save", "save", "put", "place"])
        arguments = {"name": self.random.choice("ab"), "how": self.random.choice([0, 0, 0, 1])}
        where: dict[str, Any] = self.random.choice(
            [{"task": "t"}, {"task": "t"}, {"run": "r"}, {"run": "r", "key": "k"}]
        )
        self.world.mood = self.random.choice(["well", "well", "well", "busy", "breaks"])
        seen = await gate.call(ToolCall(f"c{self.calls}", name, arguments), principal=who(tenant), **where)
        return f"{name} {arguments} {where} {code(seen)} {seen.replayed} {seen.data} {seen.user_text}"

    async def decide(self, gate: Gate, tenant: str) -> str:
        found = await gate.approvals.list(by=who(tenant, "bob"))
        does, at = self.random.choice(["approve", "decline", "withdraw", "resume", "resume"]), self.random.random()
        if not found:
            return "nothing"
        approval = found[-1 - int(at * min(3, len(found)))].id
        if does == "resume":
            self.world.mood = "well"
            return code(await gate.approvals.resume(approval, by=who(tenant)))
        by = who(tenant, "alice" if does == "withdraw" else "bob")
        seen = await getattr(gate.approvals, does)(approval, by=by)
        return f"{does} {code(seen) if isinstance(seen, Deny) else seen.state}"

    async def policy(self, gate: Gate, tenant: str) -> None:
        await gate.policies.save((PolicySource("test", self.random.choice(POLICIES)),), by=who("acme", "bob"))

    async def stop(self, gate: Gate, tenant: str) -> object:
        tool, by = self.random.choice(["save", "put"]), who("acme", "bob")
        for each in await gate.catalogue.stops(by=by):
            await gate.catalogue.lift(each.id, by=by, reason="it is well")
            return "lifted"
        await gate.catalogue.stop(StopScope(tenant="acme", tool=tool), by=by, reason="it is not well")
        return f"stopped {tool}"

    async def purge(self, gate: Gate, tenant: str) -> None:
        await gate.audit.purge(self.clock.now_us(), by=who("acme", "bob"))

    async def later(self, gate: Gate, tenant: str) -> None:
        self.clock.advance(self.random.choice([1, 1, 1, 4_000]))

    async def close_unknown(self, gate: Gate, tenant: str) -> object:
        found = await gate.recovery.unknown(by=who(tenant, "bob"))
        happened, at = self.random.random() < 0.5, self.random.random()
        if not found:
            return "nothing"
        operation = found[int(at * len(found))].operation.id
        return code(await gate.recovery.close(operation, by=who(tenant, "bob"), happened=happened, evidence="seen"))

    async def undo(self, gate: Gate, tenant: str) -> str:
        self.world.mood = self.random.choice(["well", "busy", "breaks"])
        plan = await gate.compensations.start(by=who(tenant), task="t", reason="it was wrong")
        return code(plan) if isinstance(plan, Deny) else str(plan.state)

    async def recover(self, gate: Gate, tenant: str) -> None:
        await gate.recovery.recover()

    async def look_at_the_end(self) -> None:
        gate, left = self.gates[0], self.played.left
        for tenant in TENANTS:
            usage = [
                (_same(str(scope)), each) for scope, each in await gate.usage(tenant) if any((*each.used, *each.held))
            ]
            left[f"usage {tenant}"] = Counter(
                (scope, each.used._replace(working_ms=0), each.held._replace(working_ms=0)) for scope, each in usage
            )
            approvals = await gate.approvals.list(by=who(tenant, "bob"))
            left[f"approvals {tenant}"] = Counter(each.state for each in approvals)
        still = await gate._world.recovery.open_calls()
        left["open"] = Counter((each.operation.tenant, each.operation.tool, each.state) for each in still)
        left["effects"] = Counter({_same(str(place)): count for place, count in self.world.effects.items()})
        records = await gate._world.audit.records(AuditQuery(limit=100_000))
        left["records"] = Counter((each.tenant, each.kind, _same(each.call)) for each in records if each.call)
        assert not isinstance(await gate.audit.verify(), Break)


def _same(text: str) -> str:
    """The text without ids and keys, which differ from one playing to the next."""
    return re.sub("[0-9a-f]{32,}", "id", text)


LIMITS = Limits(
    (
        Limit(ScopeKind.TENANT, Unit.CALLS, 25),
        Limit(ScopeKind.RUN, Unit.CALLS, 6),
        Limit(ScopeKind.TOOL, Unit.CONCURRENT, 1),
    )
)


@asynccontextmanager
async def two(way: str, world: World, clock: FakeClock) -> AsyncIterator[list[Gate]]:
    """Two processes on one store; two gates of one, where only one may be at it."""
    async with AsyncExitStack() as stack:
        stores = await opened(way, stack)
        gates = []
        for number, store in enumerate(stores):
            host = Host(clock=clock, entropy=SeededEntropy(f"{way}-{number}"))
            settings = Settings(tenant="acme", limits=LIMITS, runs_every_s=600, reap_every_s=600)
            gate = wired(Gate, store, settings, host=host, keys=KEYS)
            await gate.begin(world.tools(), (PolicySource("test", ALL),) if number == 0 else None)
            stack.push_async_callback(gate.close)
            gates.append(gate)
        yield gates


async def opened(way: str, stack: AsyncExitStack) -> list[Any]:
    """The stores of the two, closed with the stack."""
    stores: list[Any] = []
    if way == "memory":
        return [MemoryStore()] * 2
    if way.startswith("sqlite"):
        path = Path(stack.enter_context(TemporaryDirectory())) / "store.db"
        stores = [await SqliteStore.open(path, chain=name) for name in ("one", "two")[: 1 + (way == "sqlite")]]
    else:
        url = await stack.enter_async_context(reused.url())
        stores = [await PostgresStore.open(url, chain=name) for name in ("one", "two")]
    for store in stores:
        stack.push_async_callback(store.close)
    return [looking(each) for each in stores] if way == "looks" else [stores[0], stores[-1]]


def looking(store: PostgresStore) -> PostgresStore:
    """A store that never guesses."""
    look = store.look

    async def surely(wanted: Look) -> Seen:
        return await look(replace(wanted, may_guess=False))

    store.look = surely  # type: ignore[method-assign, assignment]  # what it is compared with
    return store


async def played(seed: int, way: str) -> Played:
    """How a schedule goes on one kind of store."""
    world, clock = World(), FakeClock()
    async with two(way, world, clock) as gates:
        return await Walk(seed, gates, world, clock).play()


async def compared(seed: int, first: str, *ways: str) -> None:
    """Play it in all of these ways, and find no difference."""
    guessed = await played(seed, first)
    for way in ways:
        other = await played(seed, way)
        for mine, theirs in zip(guessed.heard, other.heard, strict=True):
            assert mine == theirs, f"seed {seed}, {first} and {way}"
        assert guessed.left == other.left, f"seed {seed}, {first} and {way}"


@pytest.fixture(autouse=True)
def guess_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guess again soon after one was wrong."""
    monkeypatch.setattr(postgres_writer, "DOUBTS", 1)


@pytest.mark.requirement("IDEM-2", "BUD-2", "SCALE-2")
async def test_two_processes_that_guess_decide_as_two_that_look() -> None:
    await compared(5, "guesses", "looks")


@pytest.mark.requirement("IDEM-2", "BUD-2")
async def test_what_a_file_makes_of_a_schedule_is_what_memory_does() -> None:
    await compared(5, "sqlite alone", "sqlite", "memory")


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(6, 60))
async def test_two_processes_that_guess_decide_as_two_that_look_many_times(seed: int) -> None:
    await compared(seed, "guesses", "looks", "memory", "sqlite alone", "sqlite")
