"""Who drives a run writes each step once; who lost it writes nothing more; who leaves lets go of it whole."""

import asyncio
from collections.abc import Mapping

import pytest

from interlock import Gate, Host
from interlock.core.errors import StoreError
from interlock.loop.entries import Wish
from interlock.loop.limits import RunLimits
from interlock.loop.machine import State
from interlock.loop.model import Reply
from interlock.ports import NotMoved, RunMove
from interlock.store.memory import MemoryStore
from interlock.testing.fakes import FakeClock
from interlock.testing.models import Script, ScriptedModel
from tests.gates import ALICE, Shelf
from tests.runs import events, happened, on_store, opened, rested, start

pytestmark = pytest.mark.requirement("LOOP-7")


class Waiting(ScriptedModel):
    """A model that does not answer before it is let."""

    def __init__(self, script: Script) -> None:
        super().__init__(script)
        self.asked, self.go = asyncio.Event(), asyncio.Event()

    async def ask(self, body: Mapping[str, object]) -> Reply:
        self.asked.set()
        await self.go.wait()
        return await super().ask(body)


async def test_one_that_wakes_up_after_another_took_the_run_writes_nothing() -> None:
    """Its answer comes late: it is not recorded, and its calls are not made."""
    store, shelf = MemoryStore(), Shelf()
    late, model = Waiting([("search", {"query": "late"})]), ScriptedModel([("search", {"query": "x"}), "done"])
    async with on_store(store, late, shelf.tools) as gate:
        await start(gate, run_id="r")
        await late.asked.wait()
        store.abandon()
        async with on_store(store, model, shelf.tools, None) as other:
            run = await other.runs.get("r", by=ALICE)
            report = await run.result()
            late.go.set()
            await rested(gate, "r")
            assert (await run.report()) == report
            assert len(await events(run, "responded")) == 2
    assert (report.state, shelf.searched) == (State.COMPLETE, ["x"])


async def test_a_gate_that_closes_lets_go_of_a_run_whose_model_is_asked_and_another_asks_it_again() -> None:
    store, shelf, slow = MemoryStore(), Shelf(), Waiting([])
    async with on_store(store, slow, shelf.tools) as gate:
        await start(gate, run_id="r")
        await slow.asked.wait()
    found = await store.runs.run("acme", "r")
    assert found is not None
    assert (found.held, found.state) == (False, "model_request")
    async with on_store(store, ScriptedModel(["done"]), shelf.tools, None) as gate:
        assert (await (await gate.runs.get("r", by=ALICE)).result()).state is State.COMPLETE


async def test_a_gate_that_closes_waits_for_calls_that_run() -> None:
    store, shelf = MemoryStore(), Shelf()
    shelf.open.clear()
    async with on_store(store, ScriptedModel([("save", {"note": "n", "text": "t"})]), shelf.tools) as gate:
        run = await start(gate, run_id="r")
        await shelf.started.wait()
        closing = asyncio.create_task(gate.close())
        await asyncio.wait([closing], timeout=0.01)
        assert not closing.done()
        shelf.open.set()
        await closing
        assert (await happened(run, "observed")).data["status"] == "ok"


async def test_a_store_that_is_away_for_a_while_ends_no_run(caplog: pytest.LogCaptureFixture) -> None:
    store, shelf = MemoryStore(), Shelf()
    write, faults = store.runs.move_run, iter([True])

    async def failing(move: object) -> object:
        if next(faults, False):
            raise StoreError("the disk is full")
        return await write(move)  # type: ignore[arg-type]

    store.runs.move_run = failing  # type: ignore[method-assign,assignment]
    async with on_store(store, ScriptedModel(["lost", "done"]), shelf.tools) as gate:
        run = await start(gate)
        await rested(gate, run.id)
        assert "could not go on" in caplog.text
        await gate.runs._engine.wake("acme", run.id)
        assert (await run.result()).answer == "done"


@pytest.mark.requirement("LOOP-8")
async def test_words_that_come_while_a_step_is_written_stand_before_it() -> None:
    model = Waiting([("search", {"query": "x"}), "done"])
    async with opened(":memory:", model, Shelf().tools) as gate:
        run = await start(gate)
        await model.asked.wait()
        for number in range(20):
            await run.say(str(number))
        model.go.set()
        await run.result()
        kinds = [event.kind for event in await events(run)]
    assert kinds == ["begun", *["said"] * 20, "responded", "observed", "responded", "ended"]


@pytest.mark.requirement("LOOP-8")
async def test_of_an_answer_that_came_when_its_run_was_to_rest_nothing_is_called_before_it_goes_on() -> None:
    model, shelf = Waiting([("search", {"query": "x"}), "done"]), Shelf()
    async with opened(":memory:", model, shelf.tools) as gate:
        run = await start(gate)
        await model.asked.wait()
        await run.wish(Wish.PAUSE)
        model.go.set()
        await rested(gate, run.id)
        assert ((await run.report()).state, shelf.searched) == (State.PAUSED, [])
        await run.wish(Wish.RESUME)
        assert (await run.result()).state is State.COMPLETE
    assert shelf.searched == ["x"]


async def test_of_an_answer_that_came_when_its_process_was_to_let_go_nothing_is_called_here() -> None:
    store, shelf = MemoryStore(), Shelf()
    write = store.runs.move_run

    async def leaving(move: RunMove) -> int | NotMoved:
        moved = await write(move)
        if len(gates) == 1 and move.state == State.TOOLS:
            gates[0].runs._engine._drives["acme", move.claim.id].leave()
        return moved

    store.runs.move_run = leaving  # type: ignore[method-assign]
    gates = list[Gate]()
    async with on_store(
        store, ScriptedModel([("search", {"query": "x"}), "done"]), shelf.tools, runs_every_s=0
    ) as gate:
        gates.append(gate)
        run = await start(gate)
        await rested(gate, run.id)
        assert ((await run.report()).state, shelf.searched) == (State.TOOLS, [])
        gates.append(gate)
        await gate.runs._engine.wake("acme", run.id)
        assert (await run.result()).state is State.COMPLETE
    assert shelf.searched == ["x"]


class Falters(ScriptedModel):
    """A model that answers once, in which time the clock goes on, and then never."""

    def __init__(self, clock: FakeClock, *, takes_s: float) -> None:
        super().__init__([("search", {"query": "x"})])
        self.clock, self.takes_s = clock, takes_s

    async def ask(self, body: Mapping[str, object]) -> Reply:
        if self.requests:
            await asyncio.Event().wait()
        self.clock.advance(self.takes_s)
        return await super().ask(body)


@pytest.mark.requirement("LOOP-8")
async def test_nothing_is_called_of_an_answer_that_came_when_the_time_of_its_run_was_over() -> None:
    clock, shelf = FakeClock(), Shelf()
    async with opened(":memory:", Falters(clock, takes_s=11), shelf.tools, host=Host(clock=clock)) as gate:
        run = await start(gate, limits=RunLimits(expires_s=10))
        report = await run.result(timeout_s=5)
        kinds = [event.kind for event in await events(run)]
    assert (report.state, report.reason) == (State.ABORTED, "expired")
    assert (kinds, shelf.searched) == (["begun", "responded", "ended"], [])


@pytest.mark.requirement("LOOP-8")
@pytest.mark.parametrize(("expires_s", "takes_s"), [(0.1, 0), (3_600, 3_599.9)])
async def test_the_time_of_a_run_ends_while_it_waits_for_a_later_answer(expires_s: float, takes_s: float) -> None:
    """By the timer of its first request, or by another where the clock has gone on by itself since."""
    clock = FakeClock()
    async with opened(":memory:", Falters(clock, takes_s=takes_s), Shelf().tools, host=Host(clock=clock)) as gate:
        run = await start(gate, limits=RunLimits(expires_s=expires_s))
        await happened(run, "observed")
        ending = asyncio.create_task(run.result(timeout_s=5))
        await asyncio.wait([ending], timeout=0.15)
        clock.advance(0.1)
        report = await ending
    assert (report.state, report.reason) == (State.ABORTED, "expired")
