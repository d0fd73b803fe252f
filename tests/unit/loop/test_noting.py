"""What comes of a call is in the run's journal as soon as the call is settled, unless the run is another's by then."""

import asyncio
from pathlib import Path

import pytest

from interlock import CacheRule, Gate, Host, Resource, Settings, tool
from interlock.assemble import wired
from interlock.loop.machine import State
from interlock.store.memory import MemoryStore
from interlock.store.sqlite import SqliteStore
from interlock.testing.models import Call, ScriptedModel
from tests.gates import ALICE, ALL, AnyTool, Shelf, settled
from tests.gates import opened as gate_opened
from tests.runs import KEYS, events, on_store, opened, rested, start

pytestmark = pytest.mark.requirement("LOOP-7")

NOT_SECRET = (
    '@id("no") forbid (principal, action == Action::"search", resource) when { context.args.query == "secret" };'
)
SAVES = ("save", {"note": "n", "text": "t"})


class LookedUp:
    """A read whose resource takes its time to be looked up: until then a call of it is not claimed."""

    def __init__(self) -> None:
        self.begun, self.may_end = asyncio.Event(), asyncio.Event()
        self.load = self._load()

    async def _look_up(self, note: str) -> Resource:
        self.begun.set()
        await self.may_end.wait()
        return Resource("Note", note)

    def _load(self) -> AnyTool:
        @tool(effect="read", owner="eng", resource=("Note", "note"), resolve=self._look_up)
        async def load(note: str) -> str:
            """Load a note."""
            return note

        return load


def cached_read() -> AnyTool:
    """A read that is given again."""

    @tool(effect="read", owner="eng", name="count", cache=CacheRule(60))
    async def count() -> int:
        """Count the notes."""
        return 3

    return count


@pytest.mark.parametrize(
    ("calls", "ends"),
    [
        ([("search", {"query": "x"}), ("search", {"query": "y"})], ["settle", "settle"]),
        ([("nope", {}), ("search", {})], ["record", "record"]),
        ([("search", {"query": "secret"}), ("save", "{")], ["record", "record"]),
        ([SAVES, SAVES], ["settle", "record"]),
        ([("count", {}), ("count", {})], ["settle", "record"]),
    ],
    ids=["run", "refused by name and shape", "refused by policy and shape", "replayed", "given again"],
)
async def test_a_turn_with_a_call_is_two_commits(tmp_path: Path, calls: list[Call], ends: list[str]) -> None:
    commits = list[tuple[str, ...]]()
    path, tools, model = tmp_path / "gate.db", [*Shelf().tools, cached_read()], ScriptedModel([*calls, "done"])
    async with gate_opened(str(path), tools, f"{ALL} {NOT_SECRET}"):
        pass
    store = await SqliteStore.open(
        path, chain="main", on_commit=lambda when, names: commits.append(names) if when == "after" else None
    )
    gate = wired(Gate, store, Settings(tenant="acme"), host=Host(models=(model,)), keys=KEYS)
    await gate.begin(tools, None)
    run = await start(gate, task_id="t")
    assert (await run.result()).state is State.COMPLETE
    commits = [each for each in commits[commits.index(("begin_run",)) + 1 :] if each != ("claim",)]  # an effect's own
    assert commits == [("move_run",), (ends[0], "move_run"), ("move_run",), (ends[1], "move_run"), ("move_run",)]
    seen = [each.receipt.sequence for each in await gate.runs.observations(run.id, by=ALICE) if each.receipt]
    assert len(seen) == len(calls)
    assert seen == sorted(set(seen))
    await gate.close()


async def test_what_was_said_before_a_call_was_refused_stands_before_its_refusal(gate_path: str) -> None:
    """The step that was made for the transaction of the refusal is not written then, but made anew."""
    looked_up = LookedUp()
    theirs = '@id("not") forbid (principal, action == Action::"load", resource) when { context.args.note == "n" };'
    model = ScriptedModel([("load", {"note": "n"}), "done"])
    async with opened(gate_path, model, [looked_up.load], f"{ALL} {theirs}") as gate:
        run = await start(gate)
        await looked_up.begun.wait()
        await run.say("be quick")
        looked_up.may_end.set()
        assert (await run.result()).state is State.COMPLETE
        found = await events(run)
    assert [event.kind for event in found] == ["begun", "responded", "said", "observed", "responded", "ended"]
    assert found[3].data["status"] == "refused"


@pytest.mark.requirement("LOOP-7")
async def test_a_call_that_was_cut_off_before_its_claim_is_made_by_whoever_goes_on_with_its_run() -> None:
    store, looked_up = MemoryStore(), LookedUp()
    async with on_store(store, ScriptedModel([("load", {"note": "n"}), "late"]), [looked_up.load]) as gate:
        await start(gate, run_id="r")
        await looked_up.begun.wait()
        gate.runs._engine._tasks["acme", "r"].cancel()  # as an event loop does that is stopped
        await rested(gate, "r")
        await settled(gate)
        store.runs.abandon()
        looked_up.may_end.set()
        async with on_store(store, ScriptedModel(["done"]), [looked_up.load], None) as other:
            run = await other.runs.get("r", by=ALICE)
            assert (await run.result()).answer == "done"
            (seen,) = await events(run, "observed")
    assert seen.data["status"] == "ok"


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


@pytest.mark.requirement("IDEM-3")
async def test_a_call_that_is_cut_off_from_outside_is_left_to_whoever_goes_on_with_its_run() -> None:
    store, started, may_end, put = MemoryStore(), asyncio.Event(), asyncio.Event(), list[str]()

    @tool(effect="idempotent_write", owner="eng", name="put", key=["note"])
    async def put_note(note: str) -> str:
        """Put a note."""
        put.append(note)
        started.set()
        await may_end.wait()
        return note

    async with on_store(store, ScriptedModel([("put", {"note": "n"}), "late"]), [put_note]) as gate:
        await start(gate, run_id="r")
        await started.wait()
        gate.runs._engine._tasks["acme", "r"].cancel()  # as an event loop does that is stopped
        await rested(gate, "r")
        await settled(gate)
        assert len(await gate.recovery.unknown(by=ALICE)) == 1
        store.runs.abandon()
        may_end.set()
        async with on_store(store, ScriptedModel(["done"]), [put_note], None) as other:
            run = await other.runs.get("r", by=ALICE)
            assert (await run.result()).answer == "done"
            (seen,) = await events(run, "observed")
    assert (seen.data["status"], put) == ("ok", ["n", "n"])


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
