"""What an agent's versions mean to runs, approvals, keys and lost outcomes, when they change in between."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from interlock import Gate, tool
from interlock.core.agents import AgentTools, Canary, ToolUse
from interlock.core.lifecycle import Lifecycle
from interlock.loop.agent import Agent
from interlock.loop.machine import State
from interlock.testing.models import Call, ScriptedModel
from tests.agents import CLERK, WHY, called, canary_of, saved, saves, searches, version
from tests.gates import ALICE, ASKS, BOB, OPERATOR, AnyTool, code, opened, save
from tests.runs import offered, start
from tests.runs import opened as opened_for_runs
from tests.walk.test_runs_bound import Between

pytestmark = pytest.mark.requirement("REG-3")

READ: Call = ("search", {"query": "x"})
HELD = ToolUse("search", "1")


@pytest.mark.requirement("REG-4")
async def test_a_run_keeps_the_version_that_its_agent_had_when_it_began() -> None:
    ran: list[str] = []
    model = Between([READ, READ, "done"])
    async with opened_for_runs(":memory:", model, searches("1", "2", ran=ran)) as gate:
        await saved(gate, HELD)

        async def pin() -> None:
            await gate.agents.pin(CLERK, "search", version="2", by=OPERATOR, reason=WHY)

        model.between = pin
        assert (await (await start(gate, agent=CLERK)).result()).state is State.COMPLETE
        assert ran == ["1", "1"]
        model.between = None
        again = await gate.runs.start(
            model=ScriptedModel([READ, "done"], name="b"), task="Again.", principal=ALICE, agent=CLERK
        )
        await again.result()
    assert ran == ["1", "1", "2"]


@pytest.mark.requirement("REG-4")
async def test_what_an_agent_does_not_list_any_more_it_may_not_use_in_the_middle_of_a_run() -> None:
    ran: list[str] = []
    model = Between([READ, READ, "done"])
    async with opened_for_runs(":memory:", model, searches("1", ran=ran)) as gate:
        await saved(gate, HELD)

        async def take_back() -> None:
            await saved(gate, revision=1)

        model.between = take_back
        assert (await (await start(gate, agent=CLERK)).result()).state is State.COMPLETE
    assert (ran, [offered(each) for each in model.requests]) == (["1"], [["search"], ["search"], []])


async def test_the_agents_of_one_run_have_each_its_own_version() -> None:
    ran: list[str] = []
    first, second = Agent("first", hand_offs=("second",)), Agent("second")
    script = [READ, ("hand_off", {"agent": "second", "message": "go on"}), READ, "done"]
    model = ScriptedModel(script)
    tools = searches("1", "2", "3", ran=ran)
    async with opened_for_runs(":memory:", model, tools, hand_off_owner="eng") as gate:
        for name, held in (("first", "1"), ("second", "2")):
            uses = (ToolUse("search", held), ToolUse("hand_off"))
            await gate.agents.save(AgentTools(name, "acme", uses), by=OPERATOR, reason=WHY)
        run = await start(gate, agent=first, agents=[second])
        report = await run.result()
        again = await gate.runs.replay(run.id, by=OPERATOR)
    assert (report.state, ran) == (State.COMPLETE, ["1", "2"])
    assert {each.now for each in again} == {"allow"}


@pytest.mark.parametrize("between", ["canary", "pin", "remove", "promote"])
async def test_an_approval_is_for_the_version_that_was_asked_for(gate_path: str, between: str) -> None:
    ran: list[str] = []
    async with opened(gate_path, saves("1", "2", ran=ran), ASKS) as gate:
        await saved(gate, ToolUse("save", "1"))
        asked = await called(gate, call=save(), task="t")
        assert asked.approval_id is not None
        await gate.approvals.approve(asked.approval_id, by=BOB)
        match between:
            case "canary":
                everybody = Canary("2", 1000)
                await gate.agents.canary(CLERK, "save", canary=everybody, by=OPERATOR, reason=WHY)
            case "pin":
                await gate.agents.pin(CLERK, "save", version="2", by=OPERATOR, reason=WHY)
            case "remove":
                await gate.agents.remove(CLERK, by=OPERATOR, reason=WHY)
            case _:
                await gate.catalogue.promote("save", "1", by=OPERATOR, reason=WHY)
        seen = await gate.approvals.resume(asked.approval_id, by=ALICE)
        assert code(seen) == ("ok" if between == "promote" else "APPROVAL_MISMATCH")
    assert ran == (["1"] if between == "promote" else [])


async def test_a_repeat_is_replayed_whatever_version_the_name_means_by_then(gate_path: str) -> None:
    ran: list[str] = []
    async with opened(gate_path, saves("1", "2", ran=ran)) as gate:
        await saved(gate, ToolUse("save", "1"))
        first = await called(gate, call=save(), task="t")
        await gate.agents.canary(CLERK, "save", canary=Canary("2", 1000), by=OPERATOR, reason=WHY)
        second = await called(gate, call=save(), task="t")
        assert (second.replayed, second.operation_id, second.version) == (True, first.operation_id, "1")
        assert code(await called(gate, call=save("n2"), task="t")) == "ok"
    assert ran == ["1", "2"]


def lossy(version_: str, looked: list[str]) -> AnyTool:
    """An effect whose outcome is lost, and that can be looked up."""

    def reconcile(**_: Any) -> dict[str, str]:
        looked.append(version_)
        return {"found": version_}

    @tool(effect="write", owner="eng", name="save", version=version_, key=["note"], reconcile=reconcile)
    async def save(note: str, text: str) -> dict[str, str]:
        """Save."""
        raise ConnectionResetError("the line broke")

    return save


async def test_a_lost_outcome_is_looked_up_by_the_version_that_was_called(tmp_path: Path) -> None:
    looked: list[str] = []
    async with opened(str(tmp_path / "gate.db"), [lossy("1", looked), lossy("2", looked)]) as gate:
        await saved(gate, ToolUse("save", "1"))
        seen = await called(gate, call=save(), task="t")
        await gate.agents.pin(CLERK, "save", version="2", by=OPERATOR, reason=WHY)
        await gate.recovery.recover()
        again = await called(gate, call=save(), task="t")
    assert (code(seen) in ("OUTCOME_UNKNOWN", "ok"), looked[:1]) == (True, ["1"])
    assert again.version == "1"


async def test_a_freeze_in_the_midst_of_a_canary_holds_for_the_next_call_of_every_process(tmp_path: Path) -> None:
    path, ran = str(tmp_path / "gate.db"), list[str]()
    tools = searches("1", "2", ran=ran)
    async with opened(path, tools) as one, opened(path, tools) as other:
        await saved(one, HELD)
        await canary_of(one, "2", 1000)
        assert await version(other) == "2"
        calls = [asyncio.create_task(_until_frozen(other)) for _ in range(3)]
        await one.catalogue.move("search", Lifecycle.FROZEN, version="2", by=OPERATOR, reason="stop")
        at = len(ran)
        assert await version(other) == "TOOL_FROZEN"
        await asyncio.gather(*calls)
        assert len(ran) - at <= 3  # those that were claimed before it
        assert await version(one) == "TOOL_FROZEN"


async def _until_frozen(gate: Gate) -> None:
    for _ in range(1_000):
        if await version(gate) == "TOOL_FROZEN":
            return
    raise AssertionError("it was never frozen")
