"""Progress as events: resumable at every position without loss or repeat, for any number of watchers, by both forms."""

import asyncio
import json
from typing import Any

import pytest

from interlock import tool
from interlock.loop.desk import Run
from interlock.loop.events import RunEvent
from interlock.loop.machine import State
from interlock.testing.models import Call, Said, ScriptedModel
from tests.gates import ALICE, BOB, Shelf
from tests.runs import ASKS_TO_SAVE, events, opened, reached, start

pytestmark = pytest.mark.requirement("LOOP-9")

READ: Call = ("search", {"query": "x"})
SAVE: Call = ("save", {"note": "n1", "text": "t"})
SCRIPT: list[Said] = [READ, [READ, SAVE], "done"]
KINDS = [
    "begun", "responded", "observed", "responded", "observed", "observed", "moved", "moved", "observed", "responded",
    "ended",
]  # fmt: skip


async def approved(gate: Any, run: Run) -> None:
    await reached(run, State.WAITING_APPROVAL)
    (waits,) = (await run.report()).waiting
    await gate.approvals.approve(waits, by=BOB)


async def test_resuming_after_any_cursor_gives_the_rest_once(gate_path: str) -> None:
    async with opened(gate_path, ScriptedModel(SCRIPT), Shelf().tools, ASKS_TO_SAVE) as gate:
        run = await start(gate)
        await approved(gate, run)
        await run.result()
        everything = await events(run)
        assert [event.kind for event in everything] == KINDS
        assert [event.cursor for event in everything] == [*range(1, len(KINDS) + 1)]
        for position in range(len(KINDS) + 1):
            assert [event async for event in run.events(after=position)] == everything[position:]


async def test_a_watcher_that_reconnects_while_the_run_goes_on_loses_and_repeats_nothing(gate_path: str) -> None:
    """Each connection takes one event and is cut."""
    async with opened(gate_path, ScriptedModel(SCRIPT), Shelf().tools, ASKS_TO_SAVE) as gate:
        run = await start(gate)
        deciding = asyncio.create_task(approved(gate, run))
        cursor, found = 0, list[RunEvent]()
        while not found or not found[-1].state.is_over:
            async for event in run.events(after=cursor):
                cursor = event.cursor
                found.append(event)
                break
        await deciding
        assert found == await events(run)


async def test_two_watchers_and_one_that_comes_late_see_the_same(gate_path: str) -> None:
    async with opened(gate_path, ScriptedModel(SCRIPT), Shelf().tools, ASKS_TO_SAVE) as gate:
        run = await start(gate)
        watching = [asyncio.create_task(events(run)) for _ in range(2)]
        await approved(gate, run)
        one, two = await asyncio.gather(*watching)
        other = await gate.runs.get(run.id, by=ALICE)
        assert one == two == await events(run) == await events(other)
        assert [event async for event in run.events(after=len(one))] == []


async def test_a_slow_watcher_holds_up_nothing(gate_path: str) -> None:
    shelf = Shelf()
    async with opened(gate_path, ScriptedModel([READ, READ, "done"]), shelf.tools) as gate:
        run = await start(gate)
        slow = run.events()
        first = await anext(slow)
        assert (await run.result()).state is State.COMPLETE
        assert [first, *[event async for event in slow]] == await events(run)


async def test_a_function_is_told_of_everything_in_order_and_awaited_where_it_takes_time(gate_path: str) -> None:
    told: list[RunEvent] = []

    async def tell(event: RunEvent) -> None:
        await asyncio.to_thread(told.append, event)

    plain: list[int] = []
    async with opened(gate_path, ScriptedModel(SCRIPT), Shelf().tools, ASKS_TO_SAVE) as gate:
        run = await start(gate)
        watching = asyncio.gather(run.watch(tell), run.watch(lambda event: plain.append(event.cursor), after=3))
        await approved(gate, run)
        assert {*await watching} == {len(KINDS)}
        assert told == await events(run)
    assert plain == [*range(4, len(KINDS) + 1)]


async def test_what_a_watcher_raises_is_its_own_affair(gate_path: str) -> None:
    async with opened(gate_path, ScriptedModel([READ, "done"]), Shelf().tools) as gate:
        run = await start(gate)

        def tell(event: RunEvent) -> None:
            raise ConnectionResetError(event.kind)

        with pytest.raises(ConnectionResetError, match="begun"):
            await run.watch(tell)
        assert (await run.result()).state is State.COMPLETE


async def test_action_result_waiting_budget_and_state_are_all_told(gate_path: str) -> None:
    async with opened(gate_path, ScriptedModel(SCRIPT), Shelf().tools, ASKS_TO_SAVE) as gate:
        run = await start(gate)
        await approved(gate, run)
        await run.result()
        found = await events(run)
    assert [event.state.value for event in found] == [
        "model_request", "tools", "model_request", "tools", "tools", "tools", "waiting_approval", "tools",
        "model_request", "model_response", "complete",
    ]  # fmt: skip
    assert found[1].data["calls"] == [{"position": 0, "name": "search"}]
    assert (found[2].data["status"], found[2].data["stage"]) == ("ok", "record_result")
    assert (found[5].data["status"], found[5].data["stage"]) == ("waiting", "wait_approval")
    assert found[-2].data["spent"] == {"rounds": 3, "calls": 3, "tokens": 90, "cost_micros": 0}
    assert json.loads(json.dumps(found[1].to_json()))["cursor"] == 2


async def test_an_event_holds_no_secret_and_no_whole_result(gate_path: str) -> None:
    @tool(effect="read", name="search")
    async def search(query: str) -> str:
        """Search."""
        return "the whole result"

    secret = "hunter2-hunter2-hunter2"
    model = ScriptedModel([READ, f"The password is {secret}."])
    async with opened(gate_path, model, [search], secrets=(secret,)) as gate:
        run = await start(gate, task=f"Log in with {secret}.")
        await run.result()
        texts = json.dumps([event.to_json() for event in await events(run)])
    assert secret not in texts
    assert "the whole result" not in texts


async def test_a_run_of_another_process_is_watched_too(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The gate that watches drives nothing: it looks for itself."""
    path = str(tmp_path_factory.mktemp("gate") / "gate.db")
    shelf = Shelf()
    async with opened(path, ScriptedModel(SCRIPT), shelf.tools, ASKS_TO_SAVE) as gate:
        run = await start(gate, run_id="r")
        async with opened(path, (), shelf.tools, None) as other:
            watching = asyncio.create_task(events(await other.runs.get("r", by=ALICE)))
            await approved(gate, run)
            assert [event.kind for event in await watching] == KINDS
