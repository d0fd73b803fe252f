"""What becomes of calls of a retired version: those that ran, those that wait, those that come late."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from interlock import Caller, Host, ToolCall
from interlock.core.lifecycle import Lifecycle
from interlock.core.retirement import day
from interlock.loop.limits import RunLimits
from interlock.loop.machine import State
from interlock.runtime.recovery import Recovered
from interlock.runtime.retiring import DAY_US
from interlock.testing.fakes import FakeClock
from interlock.testing.models import ScriptedModel
from tests.gates import ALICE, ALL, ASKS, BOB, OPERATOR, Shelf, asked, code, granted, opened, save
from tests.runs import ASKS_TO_SAVE, offered, reached, start, told
from tests.runs import opened as opened_runs
from tests.unit.runtime.test_catalogue import search_of
from tests.unit.runtime.test_recovery_look_ups import Oracle
from tests.walk.test_runs_bound import READ, Between

pytestmark = pytest.mark.requirement("REG-7")


@pytest.mark.requirement("IDEM-2")
async def test_what_was_done_is_told_again_under_its_key_and_nothing_else_runs(gate_path: str) -> None:
    shelf = Shelf()
    async with opened(gate_path, shelf.tools) as gate:
        assert code(await gate.call(save(), principal=ALICE, task="t")) == "ok"
        await gate.catalogue.move("save", Lifecycle.RETIRED, by=OPERATOR, reason="gone")
        again = await gate.call(save(), principal=ALICE, task="t")
        assert (code(again), again.replayed, again.data) == ("ok", True, {"note": "n1"})
        for late in (
            gate.call(save(text="other"), principal=ALICE, task="t"),
            gate.call(save("n2"), principal=ALICE, task="t"),
            gate.call(save(), principal=ALICE),
            gate.call(ToolCall("c", "save", {"wrong": 1}), principal=ALICE, task="t"),
        ):
            assert code(await late) == "TOOL_RETIRED"
        assert shelf.saved == [("n1", "hello")]


@pytest.mark.requirement("IDEM-2")
async def test_what_was_done_is_told_again_where_the_code_is_gone_too(tmp_path: object) -> None:
    path, shelf = f"{tmp_path}/gate.db", Shelf()
    async with opened(path, shelf.tools) as gate:
        assert code(await gate.call(save(), principal=ALICE, task="t")) == "ok"
        await gate.catalogue.move("save", Lifecycle.RETIRED, by=OPERATOR, reason="gone")
    async with opened(path, [Shelf().search], None) as gate:
        assert (await gate.call(save(), principal=ALICE, task="t")).replayed
        assert code(await gate.call(save("n2"), principal=ALICE, task="t")) == "TOOL_RETIRED"


async def test_a_call_that_executes_when_its_version_is_retired_finishes_and_is_settled(gate_path: str) -> None:
    shelf = Shelf()
    shelf.open.clear()
    async with opened(gate_path, shelf.tools) as gate:
        running = asyncio.create_task(gate.call(save(), principal=ALICE, task="t"))
        await shelf.started.wait()
        await gate.catalogue.move("save", Lifecycle.RETIRED, by=OPERATOR, reason="gone")
        beside = asyncio.create_task(gate.call(save(), principal=ALICE, task="t"))
        shelf.open.set()
        assert (code(await running), shelf.saved) == ("ok", [("n1", "hello")])
        assert (await beside).replayed


async def test_an_approved_call_runs_no_more_once_its_version_is_retired(gate_path: str) -> None:
    shelf = Shelf()
    async with opened(gate_path, shelf.tools, ASKS) as gate:
        done, waits = await granted(gate), await granted(gate, save("n2"))
        assert code(await gate.approvals.resume(done, by=ALICE)) == "ok"
        await gate.catalogue.move("save", Lifecycle.RETIRED, by=OPERATOR, reason="gone")
        assert (await gate.approvals.resume(done, by=ALICE)).replayed
        assert code(await gate.approvals.resume(waits, by=ALICE)) in ("TOOL_RETIRED", "APPROVAL_MISMATCH")
        assert shelf.saved == [("n1", "hello")]


@pytest.mark.requirement("IDEM-3")
async def test_an_unknown_call_of_a_retired_version_is_closed_by_its_look_up_still(gate_path: str) -> None:
    oracle = Oracle()
    async with opened(gate_path, oracle.tools) as gate:
        await oracle.lost(gate)
        await gate.catalogue.move("lose", Lifecycle.RETIRED, by=OPERATOR, reason="gone")
        oracle.knows = True
        assert await gate.recovery.recover() == Recovered(found_out=1)


async def test_a_name_falls_back_on_an_older_version_that_is_open_once_the_newer_is_retired(gate_path: str) -> None:
    async with opened(gate_path, [search_of("one"), search_of("two", version="2")], ALL) as gate:
        await gate.catalogue.move("search", Lifecycle.RETIRED, version="2", by=OPERATOR, reason="worse")
        assert (await gate.call(ToolCall("c", "search", {"query": "x"}), principal=ALICE)).data == ["one"]
        await gate.catalogue.move("search", Lifecycle.FROZEN, version="1", by=OPERATOR, reason="worse")
        assert code(await gate.call(ToolCall("c", "search", {"query": "x"}), principal=ALICE)) == "TOOL_FROZEN"


async def test_it_is_not_asked_of_people_what_may_not_run_any_more(gate_path: str) -> None:
    async with opened(gate_path, Shelf().tools, ASKS) as gate:
        await asked(gate)
        await gate.catalogue.move("save", Lifecycle.RETIRED, by=OPERATOR, reason="gone")
        assert code(await gate.call(save("n2"), principal=ALICE, task="t")) == "TOOL_RETIRED"


async def test_a_run_that_is_bound_goes_on_until_the_day_and_one_that_begins_later_is_not_bound(gate_path: str) -> None:
    shelf, clock = Shelf(), FakeClock()
    model = Between([READ, READ, "done"])
    async with opened_runs(gate_path, model, shelf.tools, host=Host(clock=clock)) as gate:

        async def retire() -> None:
            await gate.catalogue.retire("search", by=OPERATOR, reason="gone", drain_until="2999-01-01")

        model.between = retire
        assert (await (await start(gate)).result()).state is State.COMPLETE
        assert (shelf.searched, offered(model.requests[2])) == (["x", "x"], ["save", "search"])
        assert code(await gate.call(ToolCall("c", "search", {"query": "x"}), principal=ALICE)) == "TOOL_RETIRED"
        later = ScriptedModel([READ, "done"], name="later")
        await (await gate.runs.start(model=later, task="Do it.", principal=ALICE)).result()
        assert (offered(later.requests[0]), shelf.searched) == (["save"], ["x", "x"])


async def test_a_tool_that_has_drained_is_offered_to_no_run_any_more_and_says_so_when_it_is_called(
    gate_path: str,
) -> None:
    shelf, clock = Shelf(), FakeClock()
    model = Acting([READ, READ, READ, READ, "done"])
    async with opened_runs(gate_path, model, shelf.tools, host=Host(clock=clock)) as gate:

        async def retire() -> None:
            until = day(clock.now_us() + 2 * DAY_US)
            await gate.catalogue.retire("search", by=OPERATOR, reason="gone", drain_until=until)

        async def wait() -> None:
            clock.advance(3 * DAY_US / 1_000_000)

        model.acts = {1: retire, 2: wait}
        await (await start(gate, limits=RunLimits(expires_s=None, working_s=None))).result()
    assert [len(offered(each)) for each in model.requests] == [2, 2, 2, 1, 1]
    assert (offered(model.requests[3]), shelf.searched) == (["save"], ["x", "x"])
    assert ["TOOL_RETIRED" in told(each)[-1] for each in model.requests[1:]] == [False, False, True, True]


class Acting(ScriptedModel):
    """A model, and what happens while it is asked for the nth time, from 0."""

    acts: Mapping[int, Callable[[], Awaitable[None]]]

    async def ask(self, body: Any) -> Any:
        act = self.acts.get(len(self.requests))
        if act is not None:
            await act()
        return await super().ask(body)


async def test_a_run_that_is_bound_is_refused_from_the_day_on_and_while_it_is_frozen_at_once(gate_path: str) -> None:
    shelf, clock = Shelf(), FakeClock()
    async with opened(gate_path, shelf.tools, host=Host(clock=clock)) as gate:
        bound = Caller(ALICE, run="r", pin=gate.catalogue.get("search").digest)
        call = ToolCall("c", "search", {"query": "x"})
        await gate.catalogue.retire("search", by=OPERATOR, reason="gone", drain_until="2999-01-01")
        assert code(await gate.propose(call, bound)) == "ok"
        assert code(await gate.propose(call, replace(bound, run=None))) == "TOOL_RETIRED"
        clock.advance(40_000_000_000)
        assert code(await gate.propose(call, bound)) == "TOOL_RETIRED"
        assert shelf.searched == ["x"]


async def test_a_question_of_a_bound_run_waits_on_while_its_version_drains(gate_path: str) -> None:
    shelf, model = Shelf(), ScriptedModel([("save", {"note": "n1", "text": "t"}), "done"])
    async with opened_runs(gate_path, model, shelf.tools, ASKS_TO_SAVE) as gate:
        run = await start(gate, run_id="r")
        await reached(run, State.WAITING_APPROVAL)
        (waits,) = (await run.report()).waiting
        await gate.catalogue.retire("save", by=OPERATOR, reason="gone", drain_until="2999-01-01")
        await gate.approvals.approve(waits, by=BOB)
        assert (await run.result()).state is State.COMPLETE
    assert shelf.saved == [("n1", "t")]


async def test_an_old_run_is_replayed_with_the_schemas_of_then(gate_path: str) -> None:
    shelf, model = Shelf(), ScriptedModel([READ, "done"])
    async with opened_runs(gate_path, model, shelf.tools) as gate:
        await (await start(gate, run_id="r")).result()
        await gate.catalogue.retire("search", by=OPERATOR, reason="gone")
        found = await gate.runs.replay("r", by=ALICE)
    assert [(each.tool, each.then) for each in found] == [("search", "allow")]
