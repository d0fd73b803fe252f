"""What comes of a call is in the run's journal as soon as the call is settled, unless the run is another's by then."""

from pathlib import Path

import pytest

from interlock import Gate, Host, Settings
from interlock.assemble import wired
from interlock.loop.machine import State
from interlock.store.memory import MemoryStore
from interlock.store.sqlite import SqliteStore
from interlock.testing.models import ScriptedModel
from tests.gates import ALICE, ALL, Shelf
from tests.gates import opened as gate_opened
from tests.runs import KEYS, events, on_store, opened, rested, start

pytestmark = pytest.mark.requirement("LOOP-7")

SAVES = ("save", {"note": "n", "text": "t"})


async def test_a_turn_with_a_call_is_two_commits(tmp_path: Path) -> None:
    commits = list[tuple[str, ...]]()
    script = [("search", {"query": "x"}), ("search", {"query": "y"}), "done"]
    path, shelf, model = tmp_path / "gate.db", Shelf(), ScriptedModel(script)
    async with gate_opened(str(path), shelf.tools, ALL):
        pass
    store = await SqliteStore.open(
        path, chain="main", on_commit=lambda when, names: commits.append(names) if when == "after" else None
    )
    gate = wired(Gate, store, Settings(tenant="acme"), host=Host(models=(model,)), keys=KEYS)
    await gate.begin([*shelf.tools], None)
    await (await start(gate)).result()
    assert commits[commits.index(("begin_run",)) + 1 :] == [("move_run",), ("settle", "move_run")] * 2 + [("move_run",)]
    await gate.close()


async def test_what_was_said_while_a_call_ran_stands_before_what_came_of_it(gate_path: str) -> None:
    shelf = Shelf()
    shelf.open.clear()
    async with opened(gate_path, ScriptedModel([SAVES, "done"]), shelf.tools) as gate:
        run = await start(gate)
        await shelf.started.wait()
        await run.say("be quick")
        shelf.open.set()
        assert (await run.result()).state is State.COMPLETE
        kinds = [event.kind for event in await events(run)]
    assert kinds == ["begun", "responded", "said", "observed", "responded", "ended"]
    assert shelf.saved == [("n", "t")]


@pytest.mark.requirement("IDEM-2")
async def test_a_call_that_ends_when_its_run_is_anothers_is_settled_and_written_by_that_one() -> None:
    store, shelf = MemoryStore(), Shelf()
    shelf.open.clear()
    async with on_store(store, ScriptedModel([SAVES, "late"]), shelf.tools) as gate:
        await start(gate, run_id="r")
        await shelf.started.wait()
        store.runs.abandon()
        async with on_store(store, ScriptedModel(["done"]), shelf.tools, None) as other:
            shelf.open.set()
            await rested(gate, "r")
            run = await other.runs.get("r", by=ALICE)
            assert (await run.result()).answer == "done"
            (seen,) = await events(run, "observed")
    assert (seen.data["replayed"], seen.data["status"], shelf.saved) == (True, "ok", [("n", "t")])


@pytest.mark.requirement("LOOP-8")
async def test_a_call_that_is_cut_off_with_its_run_is_settled_and_not_written_into_it(gate_path: str) -> None:
    shelf = Shelf()
    shelf.open.clear()
    async with opened(gate_path, ScriptedModel([SAVES, "done"]), shelf.tools) as gate:
        run = await start(gate)
        await shelf.started.wait()
        await run.cancel()
        assert (await run.result()).state is State.CANCELLED
        assert len(await gate.recovery.unknown(by=ALICE)) == 1
        assert [event.kind for event in await events(run)] == ["begun", "responded", "wished", "ended"]
