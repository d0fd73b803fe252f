"""Plans of compensations under crashes at every step: each effect is undone once, the last first, and no plan hangs."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import takewhile

import pytest

from interlock import (
    ApprovalState,
    CompensationPlan,
    CompensationState,
    Gate,
    Host,
    PolicySource,
    Principal,
    Settings,
    ToolCall,
)
from interlock.assemble import wired
from interlock.core.effect import CallState
from interlock.core.journal import EventKind
from interlock.testing.simulation import Crashed
from tests.simulation.people import ALICE, APPROVERS, KEYS, TENANT
from tests.simulation.plan import LIMITS
from tests.simulation.plan import Plan as Schedule
from tests.simulation.play import Stretch, at_once
from tests.simulation.verdict import Left, verdict
from tests.simulation.world import UNDOING, Mood, Stage

pytestmark = pytest.mark.requirement("IDEM-6", "IDEM-4", "EXEC-9")

THINGS = ("a", "b", "c")
OTHER = Principal(TENANT, "olga", groups=frozenset({"eng", "operator"}))
FREE = '@id("all") permit (principal, action, resource);'
ASKS = (
    FREE
    + '@id("asks") @approval("approver") @quorum("2") @lifetime("1h")'
    + 'permit (principal, action == Action::"take", resource);'
)
STEPS_MAX = 400
ENDS = {CompensationState.COMPENSATED, CompensationState.FAILED, CompensationState.WAITING}


@dataclass
class Undoing(Stretch):
    """Processes that place things and take them away again."""

    policy: str = FREE
    placed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__post_init__()
        Stage.what.clear()

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Gate]:
        """A gate with the tools of this world."""
        host = Host(clock=self.simulation.clock, entropy=self.simulation.entropy)
        settings = Settings(tenant=TENANT, deadline_ms=30_000)
        gate = wired(Gate, self.port, settings, host=host, keys=KEYS)
        await gate.begin(UNDOING, (PolicySource("all", self.policy, tenant=TENANT),))
        yield gate
        await gate.close()

    def taken(self) -> list[str]:
        """What was taken away, in order, as often as it was."""
        return [
            Stage.what[each] for each, count in self.world.executed.items() if each in Stage.what for _ in range(count)
        ]

    async def place(self) -> None:
        """Place everything, one after another."""
        async with self.opened() as gate:
            for index, thing in enumerate(THINGS):
                await gate.call(ToolCall(f"c{index}", "place", {"name": thing}), principal=ALICE, task="task")

    async def undo(self) -> None:
        """Two people have it undone at once in two processes, which recover meanwhile, and some decide what waits."""
        async with self.opened() as gate, self.opened() as other:
            starts = [
                each.compensations.start(by=by, reason="wrong", task="task")
                for each, by in ((gate, ALICE), (other, OTHER))
            ]
            await asyncio.gather(*starts, gate.recovery.recover(), other.recovery.recover(), decide(gate))
            await gate.recovery.recover()

    def plans(self) -> Sequence[CompensationPlan]:
        """The plans that there are."""
        return at_once(lambda: self.store.plans(TENANT))


async def decide(gate: Gate) -> None:
    """Approve and resume whatever waits, some of it twice at once."""
    for _ in range(len(THINGS)):
        for approval in await gate.approvals.list(by=ALICE, state=ApprovalState.PENDING):
            await asyncio.gather(*[gate.approvals.approve(approval.id, by=each) for each in APPROVERS[:2]])
        granted = await gate.approvals.list(by=ALICE, state=ApprovalState.GRANTED)
        await asyncio.gather(*[gate.approvals.resume(each.id, by=APPROVERS[0]) for each in granted * 2])
        await gate.recovery.recover()


def wrong(undoing: Undoing, left: Left) -> list[str]:
    """Every sentence about what is wrong."""
    found = verdict(undoing.facts(), left)
    taken, plans = undoing.taken(), undoing.plans()
    if taken != sorted(set(taken), reverse=True):
        found.append(f"it was undone in the order {taken}")
    if len(plans) > 1:
        found.append("it was undone by two plans")
    for plan in plans:
        undone = [step for step in plan.steps if step.state.value == "compensated"]
        if plan.state not in ENDS:
            found.append(f"a plan was left {plan.state}")
        if plan.state is CompensationState.WAITING and undoing.policy == FREE:
            found.append("a plan waits for nobody")
        if len(undone) > len(taken):
            found.append(f"of {len(undone)} things told to be undone {len(taken)} were")
        if plan.state is CompensationState.COMPENSATED and len(taken) != len(plan.steps):
            found.append(f"a plan of {len(plan.steps)} steps is through, and {len(taken)} things were undone")
    started = [record for record, _ in left.said if record.kind == EventKind.COMPENSATION_STARTED]
    if len(started) != len(plans):
        found.append("a plan began without its record")
    return found


def crashed_at(step: int, *, policy: str = FREE, moods: tuple[Mood, ...] = (), seed: int = 0) -> bool:
    """Whether there was such a step to be killed at; nothing is wrong in the end."""
    undoing = Undoing(Schedule(step + seed, (), (), LIMITS["none"]), haste=0, policy=policy)
    assert not isinstance(undoing.simulation.run(undoing.place), Crashed)
    undoing.world.moods.extend(moods)
    crashed = isinstance(undoing.simulation.run(undoing.undo, crash_at=step), Crashed)
    undoing.store.abandon()
    undoing.world.running.clear()
    if not crashed and not moods and policy == FREE:
        assert [plan.state for plan in undoing.plans()] == [CompensationState.COMPENSATED]
    if undoing.plans() and policy == ASKS:
        undoing.simulation.run(undoing.undo)
    left = undoing.play()
    assert wrong(undoing, left) == [], f"killed at step {step}"
    return crashed


@pytest.mark.parametrize("policy", [FREE, ASKS], ids=["free", "asks"])
def test_a_process_may_be_killed_at_any_step_of_a_plan(policy: str) -> None:
    every = 2 if policy == FREE else 5
    steps = list(takewhile(lambda step: crashed_at(step, policy=policy), range(1, STEPS_MAX, every)))
    assert 60 <= steps[-1] < STEPS_MAX - every


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("policy", [FREE, ASKS], ids=["free", "asks"])
def test_a_process_may_be_killed_at_every_single_step_of_a_plan(policy: str) -> None:
    assert len(list(takewhile(lambda step: crashed_at(step, policy=policy), range(1, STEPS_MAX)))) < STEPS_MAX - 1


@pytest.mark.parametrize("mood", Mood)
@pytest.mark.parametrize("seed", range(2))
def test_a_step_may_end_in_any_way_and_the_process_too(mood: Mood, seed: int) -> None:
    for step in (STEPS_MAX, *range(5 + seed, 90, 16)):
        crashed_at(step, moods=(Mood.WELL, mood, mood), seed=1_000 * seed)


@pytest.mark.slow
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("policy", [FREE, ASKS], ids=["free", "asks"])
def test_many_processes_may_be_killed_at_any_step_in_any_mood(policy: str) -> None:
    for seed in range(1, 12):
        for mood in Mood:
            for step in range(1, 200, 3):
                crashed_at(step, policy=policy, moods=(mood, Mood.WELL, mood), seed=1_000 * seed)


def test_a_plan_of_a_killed_process_is_finished_by_the_next_that_recovers() -> None:
    undoing = Undoing(Schedule(1, (), (), LIMITS["none"]), haste=0)
    undoing.simulation.run(undoing.place)
    step = next(each for each in range(1, STEPS_MAX) if started_and_killed(undoing, each))
    assert step
    left = undoing.play()
    assert [plan.state for plan in undoing.plans()] == [CompensationState.COMPENSATED]
    assert CallState.CLAIMED not in {call.state for call in left.open}


def started_and_killed(undoing: Undoing, step: int) -> bool:
    """Whether a process that was killed at this step had begun a plan."""
    undoing.simulation.run(undoing.undo, crash_at=step)
    undoing.store.abandon()
    undoing.world.running.clear()
    return bool(undoing.plans())
