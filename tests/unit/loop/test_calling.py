"""The calls of a turn go to the gate together, each end is written as it comes, and the last gives the turn back."""

import asyncio

import pytest

from interlock import ToolCall, tool
from interlock.core.observation import Status
from interlock.core.refusals import BEFORE_DISPATCH
from interlock.loop.calling import FIXABLE
from interlock.loop.machine import State
from interlock.testing.models import Call, Said, ScriptedModel
from tests.gates import ALICE, AnyTool, Shelf
from tests.runs import ended, events, happened, opened, start, told

READ: Call = ("search", {"query": "x"})


class Meeting:
    """Reads that end only once all of them have begun."""

    def __init__(self, count: int) -> None:
        self.barrier = asyncio.Barrier(count)

    def tool(self) -> AnyTool:
        @tool(effect="read", owner="eng", name="meet")
        async def meet(who: int) -> int:
            """Wait for the others."""
            await self.barrier.wait()
            return who

        return meet


@pytest.mark.requirement("EXEC-4")
async def test_reads_of_a_turn_run_side_by_side_and_are_told_in_their_order(gate_path: str) -> None:
    script: list[Said] = [[("meet", {"who": number}) for number in range(5)], "done"]
    report, model = await ended(gate_path, script, [Meeting(5).tool()])
    assert report.state is State.COMPLETE
    assert [text.split("\n")[2] for text in told(model.requests[1])[1:]] == ["0", "1", "2", "3", "4"]


@pytest.mark.requirement("EXEC-4", "LOOP-9")
async def test_what_has_ended_is_told_while_a_sibling_still_runs(gate_path: str) -> None:
    shelf = Shelf()
    shelf.open.clear()
    model = ScriptedModel([[("save", {"note": "n", "text": "t"}), READ], "done"])
    async with opened(gate_path, model, shelf.tools) as gate:
        run = await start(gate)
        first = await happened(run, "observed")
        assert (first.data["tool"], first.state, shelf.saved) == ("search", State.TOOLS, [])
        shelf.open.set()
        await run.result()
        assert [event.data["position"] for event in await events(run, "observed")] == [1, 0]


@pytest.mark.requirement("EXEC-4")
async def test_effects_of_a_turn_run_in_their_order_and_one_that_fails_holds_up_no_other() -> None:
    done: list[str] = []

    @tool(effect="write", owner="eng", name="put", key=["what"])
    async def put(what: str) -> str:
        """Put something somewhere."""
        done.append(what)
        if what == "b":
            raise ValueError(what)
        return what

    script: list[Said] = [[("put", {"what": what}) for what in "abc"], "done"]
    _, model = await ended(":memory:", script, [put])
    assert done == ["a", "b", "c"]
    firsts = [text.split("\n")[0] for text in told(model.requests[1])[1:]]
    assert firsts == ["put: ok", "put: unknown", "put: ok"]


@pytest.mark.requirement("EXEC-4")
async def test_two_equal_calls_of_one_turn_are_two_and_of_a_task_one(gate_path: str) -> None:
    calls: Said = [("save", {"note": "n", "text": "t"})] * 2
    for task_id, count in ((None, 2), ("t", 1)):
        shelf = Shelf()
        async with opened(":memory:", ScriptedModel([calls, "done"]), shelf.tools) as gate:
            await (await start(gate, task_id=task_id)).result()
        assert len(shelf.saved) == count


@pytest.mark.requirement("IDEM-2")
async def test_a_call_under_a_key_that_somebody_else_is_at_waits_for_what_comes_of_it() -> None:
    shelf = Shelf()
    shelf.open.clear()
    model = ScriptedModel([("save", {"note": "n", "text": "t"}), "done"])
    async with opened(":memory:", model, shelf.tools) as gate:
        call = ToolCall("c", "save", {"note": "n", "text": "t"})
        other = asyncio.create_task(gate.call(call, principal=ALICE, task="t"))
        await shelf.started.wait()
        run = await start(gate, task_id="t")
        await happened(run, "responded")
        shelf.open.set()
        await run.result()
        assert ((await other).status, len(shelf.saved)) == (Status.OK, 1)
        assert (await happened(run, "observed")).data["replayed"] is True


def test_what_a_model_can_mend_is_told_as_refused_before_anything_ran() -> None:
    assert FIXABLE < BEFORE_DISPATCH
