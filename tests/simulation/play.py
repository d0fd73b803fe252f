"""Plays a plan: lives of a process, one after another on one store and in one world, until nothing is open."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from interlock import Approval, ApprovalState, Gate, Host, Observation, Settings, ToolCall
from interlock.assemble import wired
from interlock.core.chain import Break
from interlock.core.effect import CallState
from interlock.core.journal import AuditQuery, AuditRecord
from interlock.store.memory import MemoryStore
from interlock.testing.simulation import Crashed, Simulation, stepped
from tests.simulation.guessing import GuessingStore
from tests.simulation.people import ALICE, APPROVERS, HOST, KEYS, TENANT, policies
from tests.simulation.plan import Act, Does, Life, Plan
from tests.simulation.verdict import Facts, Heard, Left
from tests.simulation.world import TOOLS, SimulatedWorld, Stage

T = TypeVar("T")

PATIENCE = 12
"""How many looks somebody takes before acting on what is there."""


@dataclass
class Stretch:
    """One plan being played. `stalled` are operations and keys that a process went on with after it had lost them."""

    plan: Plan
    haste: float = 0.02
    heard: list[Heard] = field(default_factory=list)
    stalled: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    proposed: list[str] = field(default_factory=list)
    crashes: int = 0

    def __post_init__(self) -> None:
        self.store = GuessingStore() if self.plan.seed % 2 else MemoryStore()
        self.simulation = Simulation(self.plan.seed, haste=self.haste, watch=self._watch)
        self.port = stepped(self.store, simulation=self.simulation)
        self.world = Stage.world = SimulatedWorld(self.simulation, deque(self.plan.moods))

    def play(self) -> Left:
        """All lives, then one more that recovers."""
        for life in self.plan.lives:
            before = len(self.proposed)
            ended = self.simulation.run(lambda life=life: self._live(life), crash_at=life.crash_at)  # type: ignore[misc]
            if isinstance(ended, Crashed):
                self.crashes += 1
            else:
                self._look_at_peace(self.proposed[before:])
            self.store.abandon()
            self.world.running.clear()
        self.simulation.calm()
        left = self.simulation.run(self._end)
        assert isinstance(left, Left)
        return left

    def _look_at_peace(self, proposed: list[str]) -> None:
        """A process that ends in peace leaves nothing claimed, and of all calls a record, whoever was cancelled."""
        left = [each.operation for each in at_once(self.store.open_calls) if each.state is CallState.CLAIMED]
        self.faults += [f"{each.tool} was left claimed" for each in left if each.key not in self.stalled]
        known = {each.call for each in at_once(lambda: self.store.records(AuditQuery(limit=1_000_000)))}
        self.faults += [f"there is no record of {call}" for call in proposed if call not in known]

    async def _live(self, life: Life) -> None:
        async with self.opened() as gate:
            actors: list[asyncio.Task[None]] = []
            for index, act in enumerate(life.acts):
                actors.append(asyncio.create_task(self._perform(gate, act, actors=actors[:index])))
            await asyncio.wait(actors)
            self.faults += [repr(each.exception()) for each in actors if not each.cancelled() and each.exception()]

    async def _end(self) -> Left:
        async with self.opened() as gate:
            await self._find_out(gate)
            verified = await gate.audit.verify()
        return Left(
            await self.store.records(AuditQuery(limit=1_000_000)),
            await self.store.open_calls(),
            await self.store.usage(TENANT),
            await self.store.approvals(TENANT),
            verified if isinstance(verified, Break) else None,
        )

    async def _find_out(self, gate: Gate) -> None:
        """Recover, and again whenever a look-up is due, until people are asked about all that is still unknown."""
        await gate.recovery.recover()
        while times := [each.next_us for each in (await self.store.looks()).values() if not each.escalated]:
            self.simulation.clock.now_s += max(0, min(times) - self.simulation.clock.now_us()) / 1_000_000 + 0.001
            await gate.recovery.recover()

    def facts(self) -> Facts:
        """What was seen of it from outside."""
        world = self.world
        return Facts(
            world.effects, world.started, world.executed, self.heard, world.overlaps, self.stalled, self.faults
        )

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Gate]:
        """A gate on the store as it is; what a real process does when it starts and when it ends."""
        host = Host(clock=self.simulation.clock, entropy=self.simulation.entropy)
        settings = Settings(limits=self.plan.limits, tenant=TENANT, deadline_ms=30_000)
        gate = wired(Gate, self.port, settings, host=host, keys=KEYS)
        _, sources = await self.store.policies()
        await gate.begin(TOOLS, None if sources else policies())
        yield gate
        await gate.close()

    # --- acts ---------------------------------------------------------------------------------------------------------

    async def _perform(self, gate: Gate, act: Act, *, actors: list[asyncio.Task[None]]) -> None:
        await self.simulation.step(act.does.value)
        match act.does:
            case Does.CALL:
                await self._call(gate, act)
            case Does.CANCEL if actors:
                await self._claimed()
                actors[-1 - act.name % len(actors)].cancel()
            case Does.REVOKE:
                await gate.policies.save(policies(act.tool_name), by=HOST)
            case Does.RESTORE:
                await gate.policies.save(policies(), by=HOST)
            case Does.RECOVER:
                await gate.recovery.recover()
            case Does.LOSE_LEASE:
                await self._lose_lease()
            case Does.APPROVE | Does.DECLINE | Does.WITHDRAW | Does.RESUME:
                await self._decide(gate, act)
            case _:
                return

    async def _call(self, gate: Gate, act: Act) -> None:
        self.proposed.append(f"call-{len(self.proposed)}")
        call = ToolCall(self.proposed[-1], act.tool_name, {"name": f"name-{act.name}", "how": act.run // 2})
        run = f"run-{act.run}" if act.run else None
        seen = await gate.call(call, principal=ALICE, task=f"task-{act.task}", run=run)
        self._hear(seen)

    async def _decide(self, gate: Gate, act: Act) -> None:
        late = act.does is Does.RESUME or (act.does is Does.WITHDRAW and act.tool > 0)
        found = await self._approvals(gate, granted=late)
        if not found:
            return
        approval_id = found[-1 - act.name % len(found)].id
        who = APPROVERS[act.tool % len(APPROVERS)]
        match act.does:
            case Does.APPROVE:
                # The quorum is two people.
                await gate.approvals.approve(approval_id, by=who)
                await gate.approvals.approve(approval_id, by=APPROVERS[act.tool % len(APPROVERS) - 1])
            case Does.DECLINE:
                await gate.approvals.decline(approval_id, by=who)
            case Does.WITHDRAW:
                await gate.approvals.withdraw(approval_id, by=ALICE)
            case _:
                seen = await gate.approvals.resume(approval_id, by=who)
                if isinstance(seen, Observation):
                    self._hear(seen)

    async def _approvals(self, gate: Gate, *, granted: bool) -> list[Approval]:
        """Those to act on, after some patience: people decide once they are asked, and resume once it is granted."""
        found: list[Approval] = []
        for _ in range(PATIENCE):
            found = list(await gate.approvals.list(by=ALICE))
            ready = [each for each in found if each.state in (ApprovalState.GRANTED, ApprovalState.USED)]
            if ready or (found and not granted):
                return ready if granted else found
            await self.simulation.step("wait for it")
        return found

    async def _lose_lease(self) -> None:
        """Another process takes over all that this one has claimed; this one does not know, and goes on."""
        await self._claimed()
        self.store.abandon()
        for call in await self.store.open_calls():
            self.stalled |= {call.operation.id, call.operation.key or ""}
        async with self.opened() as other:
            await other.recovery.recover()

    async def _claimed(self) -> None:
        """Some patience until something is claimed."""
        for _ in range(PATIENCE):
            if any(call.state is CallState.CLAIMED for call in await self.store.open_calls()):
                return
            await self.simulation.step("wait for a claim")

    # --- what is looked at on the way --------------------------------------------------------------------------------

    def _hear(self, seen: Observation) -> None:
        receipt = seen.receipt
        found: tuple[AuditRecord, ...] = ()
        if receipt is not None:
            found = at_once(
                lambda: self.store.records(AuditQuery(after=(receipt.chain, receipt.sequence - 1), limit=1))
            )
        self.heard.append(Heard.of(seen, found[0] if found else None))

    def _watch(self, step: str) -> None:
        """Limits hold and nothing is held below zero, at every single step."""
        caps = {(each.scope, each.window_s): each for each in self.plan.limits.limits if each.unit != "calls"}
        for scope, usage in at_once(lambda: self.store.usage(TENANT)):
            if min(usage.held) < 0 or min(usage.used) < 0:
                self.faults.append(f"{step}: {scope} fell below zero: {usage}")
            cap = caps.get((scope.kind, 0))
            if cap is not None and getattr(usage.used.plus(usage.held), cap.unit.value) > cap.amount:
                self.faults.append(f"{step}: {scope} took more than {cap.amount} {cap.unit.value}: {usage}")


def at_once(ask: Callable[[], Coroutine[object, object, T]]) -> T:
    """What a method of the memory store answers, which never waits."""
    coroutine = ask()
    try:
        coroutine.send(None)
    except StopIteration as ended:
        answer: T = ended.value
        return answer
    raise AssertionError("the memory store waited")
