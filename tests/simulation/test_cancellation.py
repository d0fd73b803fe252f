"""Cancelled at each single step: what was begun ends whole, and leaves its record."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from itertools import takewhile

import pytest

from interlock import Gate, ToolCall
from interlock.core.effect import CallState
from interlock.core.journal import AuditQuery, EventKind
from interlock.ports import Claim
from interlock.testing.store_values import Values
from tests.simulation.people import ALICE, APPROVERS, HOST, TENANT, policies
from tests.simulation.plan import LIMITS, Plan
from tests.simulation.play import Stretch, at_once
from tests.simulation.verdict import verdict
from tests.simulation.world import Mood

pytestmark = [pytest.mark.requirement("CALL-8", "IDEM-3", "IDEM-4", "APR-4", "AUD-1")]

STEPS_MAX = 60


@dataclass
class Cut(Stretch):
    """A process in which one task is cancelled at a step, counted from where it begins."""

    victim: asyncio.Task[object] | None = None
    steps_left: int = 0

    def _watch(self, step: str) -> None:
        super()._watch(step)
        if self.victim is not None:
            self.steps_left -= 1
        if self.victim is not None and self.steps_left == 0:
            self.victim.cancel()

    async def cut(self, work: Awaitable[object], *, step: int) -> bool:
        """Whether there was such a step to be cancelled at."""
        self.victim, self.steps_left = asyncio.ensure_future(work), step
        await asyncio.wait([self.victim])
        return self.victim.cancelled()


def call(gate: Gate, tool: str) -> Awaitable[object]:
    return gate.call(ToolCall("the-call", tool, {"name": "x", "how": 0}), principal=ALICE, task="task")


async def call_it(cut: Cut, gate: Gate, *, step: int) -> bool:
    return await cut.cut(call(gate, "post"), step=step)


async def read_it(cut: Cut, gate: Gate, *, step: int) -> bool:
    return await cut.cut(call(gate, "peek"), step=step)


async def ask_for_it(cut: Cut, gate: Gate, *, step: int) -> bool:
    return await cut.cut(call(gate, "remove"), step=step)


async def ask_for_it_again(cut: Cut, gate: Gate, *, step: int) -> bool:
    other = ToolCall("another-call", "remove", {"name": "x", "how": 0})
    await gate.call(other, principal=ALICE, task="task")
    return await cut.cut(call(gate, "remove"), step=step)


async def call_what_is_forbidden_elsewhere(cut: Cut, gate: Gate, *, step: int) -> bool:
    async with cut.opened() as other:
        await other.policies.save(policies("post"), by=HOST)
    return await cut.cut(call(gate, "post"), step=step)


async def call_what_is_permitted_elsewhere(cut: Cut, gate: Gate, *, step: int) -> bool:
    await gate.policies.save(policies("post"), by=HOST)
    async with cut.opened() as other:
        await other.policies.save(policies(), by=HOST)
    return await cut.cut(call(gate, "post"), step=step)


async def resume_it(cut: Cut, gate: Gate, *, step: int) -> bool:
    await call(gate, "remove")
    approval = (await gate.approvals.list(by=ALICE))[0]
    for each in APPROVERS[:2]:
        await gate.approvals.approve(approval.id, by=each)
    return await cut.cut(gate.approvals.resume(approval.id, by=APPROVERS[0]), step=step)


async def recover_it(cut: Cut, gate: Gate, *, step: int) -> bool:
    await call(gate, "post")
    return await cut.cut(gate.recovery.recover(), step=step)


Scene = Callable[..., Awaitable[bool]]
SCENES: Mapping[str, tuple[Scene, tuple[Mood, ...]]] = {
    "a call": (call_it, ()),
    "a call that fails": (call_it, (Mood.BUSY,)),
    "a read": (read_it, ()),
    "a question": (ask_for_it, ()),
    "a question that waits already": (ask_for_it_again, ()),
    "a call that was forbidden elsewhere": (call_what_is_forbidden_elsewhere, ()),
    "a call that was permitted elsewhere": (call_what_is_permitted_elsewhere, ()),
    "a resumed approval": (resume_it, ()),
    "a recovery": (recover_it, (Mood.BREAKS_AFTER,)),
}


@pytest.mark.parametrize("name", SCENES)
def test_what_is_cancelled_at_any_step_ends_whole_and_leaves_its_record(name: str) -> None:
    scene, moods = SCENES[name]
    steps = list(takewhile(lambda step: cut_at(scene, moods, step=step), range(1, STEPS_MAX)))
    assert 3 <= len(steps) < STEPS_MAX - 1


def cut_at(scene: Scene, moods: tuple[Mood, ...], *, step: int) -> bool:
    """Whether it was cancelled at that step; nothing is wrong afterwards, before and after the next start."""
    cut = Cut(Plan(step, (), moods, LIMITS["none"]))

    async def live() -> bool:
        async with cut.opened() as gate:
            return await scene(cut, gate, step=step)

    was_cut = cut.simulation.run(live)
    assert isinstance(was_cut, bool)
    assert CallState.CLAIMED not in {call.state for call in at_once(cut.store.open_calls)}, f"cancelled at step {step}"
    records = at_once(lambda: cut.store.records(AuditQuery(limit=1_000)))
    ends = [each for each in records if each.call == "the-call" and each.kind != EventKind.CLAIMED]
    assert ends, f"cancelled at step {step}, it left no record"
    left = cut.play()
    assert verdict(cut.facts(), left) == []
    return was_cut


class Robbed(Cut):
    """A process that loses its call to another just when, cancelled, it looks whether it has claimed it."""

    taken: Claim | None = None

    def _watch(self, step: str) -> None:
        super()._watch(step)
        if step == "before find":
            self.store.abandon()
            found = at_once(self.store.open_calls)[0]
            self.taken = at_once(lambda: self.store.take_over(found, Values().event(EventKind.TAKEN_OVER)))


@pytest.mark.requirement("IDEM-5")
@pytest.mark.parametrize("tool", ["peek", "post"])
def test_a_cancelled_call_that_another_has_taken_over_is_not_settled_by_who_lost_it(tool: str) -> None:
    robbed = Robbed(Plan(1, (), (), LIMITS["none"]))

    async def live() -> None:
        async with robbed.opened() as gate:
            await robbed.cut(call(gate, tool), step=4)

    robbed.simulation.run(live)
    taken = robbed.taken
    assert taken is not None
    now = at_once(lambda: robbed.store.find(TENANT, taken.operation_id))
    assert now is not None
    assert (now.state, now.fence) == (CallState.CLAIMED, taken.fence)
