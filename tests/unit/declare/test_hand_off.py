"""The tool by which a task is handed on: by the agent that is at it, to those it may hand it to, by nobody else."""

import pytest

from interlock import Agent, Status, ToolCall
from interlock.testing.models import ScriptedModel
from tests.gates import ALICE, Shelf
from tests.gates import opened as opened_gate
from tests.runs import opened, start

pytestmark = pytest.mark.requirement("LOOP-10")


async def test_nobody_outside_of_a_run_hands_anything_on() -> None:
    call = ToolCall("c", "hand_off", {"agent": "other", "message": "go on"})
    async with opened_gate(":memory:", Shelf().tools, hand_off_owner="eng") as gate:
        for run in (None, "no-such-run"):
            seen = await gate.call(call, principal=ALICE, run=run)
            assert seen.status is Status.FAILED
            assert seen.error is not None
            assert seen.error.details["tool_code"] == "NOT_HANDED"


async def test_a_task_goes_to_an_agent_that_may_take_it_and_to_no_other() -> None:
    script = [
        ("hand_off", {"agent": "stranger", "message": "go on"}),
        ("hand_off", {"agent": "writer", "message": "it was found"}),
        "written",
    ]
    agents = (Agent("writer"), Agent("stranger"))
    model = ScriptedModel(script)
    async with opened(":memory:", model, Shelf().tools, hand_off_owner="eng") as gate:
        run = await start(gate, agent=Agent("finder", hand_offs=("writer",)), agents=agents)
        report = await run.result(timeout_s=10)
        assert (report.agent, report.answer, report.spent.hand_offs) == ("writer", "written", 1)
    assert "it was found" in str(model.requests[2])
