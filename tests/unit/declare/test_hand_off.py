"""The tool by which a task is handed on: by the agent that is at it, to those it may hand it to, by nobody else."""

import pytest

from interlock import Agent, Status, ToolCall
from interlock.declare.hand_off import hand_off
from interlock.testing.models import Said, ScriptedModel
from tests.gates import ALICE, Shelf, code
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
    script: list[Said] = [
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


class Hands:
    """A run `r` whose agent may hand its task to `b`."""

    def hands_to(self, tenant: str, run_id: str) -> tuple[str, ...]:
        return ("b",) if (tenant, run_id) == ("acme", "r") else ()


async def test_it_hands_to_whom_the_run_says_and_to_nobody_else() -> None:
    async with opened_gate(":memory:", (hand_off(Hands(), owner="eng"),)) as gate:
        for run, agent, end in (("r", "b", "ok"), ("r", "c", "TOOL_ERROR"), ("s", "b", "TOOL_ERROR"), (None, "b", "")):
            call = ToolCall("c", "hand_off", {"agent": agent, "message": "Go on."})
            seen = await gate.call(call, principal=ALICE, run=run, task="t")
            assert code(seen) == (end or "TOOL_ERROR")
            assert (seen.data == {"agent": "b", "message": "Go on."}) is (end == "ok")


@pytest.mark.parametrize("arguments", [{"agent": "b"}, {"agent": "b", "message": "x" * 4_001}, {"message": "x"}])
async def test_whom_and_with_which_words_are_both_said_and_bounded(arguments: dict[str, str]) -> None:
    async with opened_gate(":memory:", (hand_off(Hands(), owner="eng"),)) as gate:
        seen = await gate.call(ToolCall("c", "hand_off", arguments), principal=ALICE, run="r")
        assert code(seen) == "TOOL_ARGUMENT_INVALID"


def test_it_says_when_to_use_it_and_that_nothing_happened_where_it_fails() -> None:
    spec = hand_off(Hands(), owner="eng").spec()
    assert (spec.name, spec.owner, spec.effect.is_effect) == ("hand_off", "eng", False)
    assert [(each.code, each.nothing_happened) for each in spec.errors] == [("NOT_HANDED", True)]
