"""Who drives a plan: a process that has the tool, to the end of each step, and whatever else may be broken."""

import asyncio
from pathlib import Path

import apsw
import pytest

from interlock import CompensationPlan, CompensationState, ToolCall, tool
from tests.gates import ALICE, OPERATOR, opened, settled

pytestmark = pytest.mark.requirement("IDEM-6")

DID: list[str] = []


@tool(effect="write", key=["name"])
async def remove(name: str) -> str:
    """Remove it."""
    DID.append(name)
    return name


@tool(effect="write", key=["name"], compensate=remove)
async def add(name: str) -> str:
    """Add it."""
    return name


async def test_a_process_without_the_tool_leaves_the_step_to_one_that_has_it(tmp_path: Path) -> None:
    path = str(tmp_path / "gate.db")
    DID.clear()
    async with opened(path, [add, remove], reap_every_s=0) as both:
        await both.call(ToolCall("c", "add", {"name": "x"}), principal=ALICE, task="t")
    async with opened(path, [add], None, reap_every_s=0) as without:
        plan = await without.compensations.start(by=ALICE, reason="wrong", task="t")
        assert isinstance(plan, CompensationPlan)
        assert (plan.state, DID) == (CompensationState.WAITING, [])
        assert plan.steps[0].says == "The process that has remove has not come to it yet."
        for _ in range(2):
            await without.recovery.recover()
            (plan,) = await without.compensations.list(by=OPERATOR)
            assert (plan.state, plan.version) == (CompensationState.WAITING, 2)
    async with opened(path, [remove], None, reap_every_s=0) as having:
        (plan,) = await having.compensations.list(by=OPERATOR)
        assert (plan.state, DID) == (CompensationState.COMPENSATED, ["x"])


async def test_a_plan_that_cannot_be_read_keeps_no_gate_from_opening(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = str(tmp_path / "gate.db")
    async with opened(path, [add, remove], reap_every_s=0) as gate:
        await gate.call(ToolCall("c", "add", {"name": "x"}), principal=ALICE, task="t")
    async with opened(path, [add], None, reap_every_s=0) as gate:
        await gate.compensations.start(by=ALICE, reason="wrong", task="t")
    with apsw.Connection(path) as connection:
        connection.execute("UPDATE compensations SET plan_sealed = x'7b7d'")
    async with opened(path, [add, remove], None, reap_every_s=0) as gate:
        assert "could not go on" in caplog.text
        seen = await gate.call(ToolCall("d", "add", {"name": "y"}), principal=ALICE, task="u")
        assert seen.status == "ok"


async def test_a_step_ends_whole_though_who_drives_it_is_cancelled(gate_path: str) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    @tool(effect="write", name="remove", key=["name"])
    async def slow(name: str) -> str:
        """Remove it, in time."""
        begun.set()
        await go_on.wait()
        return name

    async with opened(gate_path, [add, slow], reap_every_s=0) as gate:
        for name in ("x", "y"):
            await gate.call(ToolCall("c", "add", {"name": name}), principal=ALICE, task="t")
        starting = asyncio.create_task(gate.compensations.start(by=ALICE, reason="wrong", task="t"))
        await begun.wait()
        starting.cancel()
        await asyncio.wait([starting])
        assert starting.cancelled()
        go_on.set()
        await settled(gate)
        (plan,) = await gate.compensations.list(by=ALICE)
        assert [step.state for step in plan.steps] == ["compensated", "pending"]
        await gate.recovery.recover()
        (plan,) = await gate.compensations.list(by=ALICE)
        assert plan.state is CompensationState.COMPENSATED
