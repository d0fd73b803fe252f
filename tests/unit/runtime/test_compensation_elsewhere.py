"""A plan whose tools are in several processes: each takes the steps that it can, and fails none that it cannot."""

from pathlib import Path

import pytest

from interlock import CompensationPlan, CompensationState, ToolCall, tool
from tests.gates import ALICE, OPERATOR, opened

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
            (plan,) = await without.compensations.list(OPERATOR)
            assert (plan.state, plan.version) == (CompensationState.WAITING, 2)
    async with opened(path, [remove], None, reap_every_s=0) as having:
        (plan,) = await having.compensations.list(OPERATOR)
        assert (plan.state, DID) == (CompensationState.COMPENSATED, ["x"])
