"""The engine of one process takes what is due, sets aside what cannot be driven, and keeps none that it lets go of."""

from pathlib import Path

import pytest

from interlock import Approval, ApprovalState, Host
from interlock.core.errors import StoreError
from interlock.engines.embedded import FAILURES_MAX, EmbeddedEngine
from interlock.loop.limits import RunLimits
from interlock.loop.machine import State
from interlock.store.memory import MemoryStore
from interlock.testing.fakes import FakeClock
from interlock.testing.models import Call, ScriptedModel
from tests.gates import ALICE, BOB, Shelf
from tests.runs import ASKS_TO_SAVE, events, on_store, opened, reached, rested, start

pytestmark = pytest.mark.requirement("LOOP-7")

SAVE: Call = ("save", {"note": "n", "text": "t"})


async def test_a_run_that_rests_is_held_by_nobody_and_taken_when_it_is_due() -> None:
    clock, model = FakeClock(), ScriptedModel([SAVE, "done"])
    host = Host(clock=clock)
    async with opened(":memory:", model, Shelf().tools, ASKS_TO_SAVE, host=host, runs_every_s=0) as gate:
        run = await start(gate)
        await reached(run, State.WAITING_APPROVAL)
        engine = gate.runs._engine
        assert isinstance(engine, EmbeddedEngine)
        await engine.rested("acme", run.id)
        assert (engine._drives, engine._tasks, await gate.runs.recover()) == ({}, {}, 0)
        clock.advance(3_601)  # what it waits for has expired
        assert await gate.runs.recover() == 1
        assert (await run.result()).state is State.COMPLETE
        assert (engine._drives, engine._tasks) == ({}, {})


async def test_a_run_goes_on_as_soon_as_what_it_waits_for_is_decided() -> None:
    model = ScriptedModel([SAVE, "done"])
    async with opened(":memory:", model, Shelf().tools, ASKS_TO_SAVE, runs_every_s=0) as gate:
        run = await start(gate)
        await reached(run, State.WAITING_APPROVAL)
        (waits,) = (await run.report()).waiting
        await gate.approvals.approve(waits, by=BOB)
        assert (await run.result()).state is State.COMPLETE  # nobody looks around here


async def test_a_decision_stands_where_its_run_cannot_be_looked_at_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model = ScriptedModel([SAVE, "done"])
    async with opened(":memory:", model, Shelf().tools, ASKS_TO_SAVE, runs_every_s=0) as gate:
        run = await start(gate)
        await reached(run, State.WAITING_APPROVAL)
        await rested(gate, run.id)
        (waits,) = (await run.report()).waiting

        async def away(*_: object) -> None:
            raise StoreError("the database does not answer")

        with monkeypatch.context() as patch:
            patch.setattr(gate._parts.world.runs, "take_run", away)
            approval = await gate.approvals.approve(waits, by=BOB)
        assert isinstance(approval, Approval)
        assert approval.state is ApprovalState.GRANTED
        assert await gate.runs.recover() == 1
        assert (await run.result()).state is State.COMPLETE


async def test_what_a_dead_process_left_is_due_at_once_and_taken_by_one() -> None:
    store, shelf = MemoryStore(), Shelf()
    shelf.open.clear()
    async with on_store(store, ScriptedModel([SAVE]), shelf.tools, runs_every_s=0) as dead:
        await start(dead, run_id="r")
        await shelf.started.wait()
        store.abandon()
        async with (
            on_store(store, ScriptedModel(["done"]), shelf.tools, None, runs_every_s=0) as one,
            on_store(store, ScriptedModel([]), shelf.tools, None, runs_every_s=0) as two,
        ):
            assert await two.runs.recover() == 0  # the other took it as it opened
            assert (await (await one.runs.get("r", by=ALICE)).result()).state is State.COMPLETE
            shelf.open.set()


async def test_a_process_without_models_takes_no_run(tmp_path: Path) -> None:
    path, shelf = str(tmp_path / "gate.db"), Shelf()
    async with opened(path, ScriptedModel([SAVE]), shelf.tools, ASKS_TO_SAVE) as gate:
        run = await start(gate)
        await reached(run, State.WAITING_APPROVAL)
        (waits,) = (await run.report()).waiting
    async with opened(path, (), shelf.tools, None, runs_every_s=0) as gate:
        await gate.approvals.approve(waits, by=BOB)
        assert await gate.runs.recover() == 0
        assert len(await gate._world.runs.due_runs(gate._world.clock.now_us(), 9)) == 1


async def test_a_run_that_cannot_be_driven_is_set_aside_with_growing_pauses_and_then_ended(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = FakeClock()

    def broken(body: object) -> str:
        raise RuntimeError("a fault of ours")

    async with opened(":memory:", ScriptedModel(broken), Shelf().tools, host=Host(clock=clock), runs_every_s=0) as gate:
        run = await start(gate)
        for failures in range(1, FAILURES_MAX):
            await rested(gate, run.id)
            pause_s = 2 * 2**failures
            why = f"It could not go on (RuntimeError): attempt {failures} of 5, again in {pause_s} s."
            standing = await run.report()
            assert (standing.fault, standing.state) == (why, State.MODEL_REQUEST)
            clock.advance(pause_s - 0.1)
            assert await gate.runs.recover() == 0
            clock.advance(0.2)
            assert await gate.runs.recover() == 1
        report = await run.result()
        told = await events(run, "faulted")
    assert (report.state, report.reason, report.why) == (State.FAILED, "fault", "It could not go on; the log says why.")
    assert ([each.data["why"] for each in told][-1], report.fault) == (why, "")
    assert (caplog.text.count("Traceback"), caplog.text.count("a fault of ours")) == (1, 2)  # its source and its words


async def test_faults_of_the_program_are_none_of_the_model_and_are_forgotten_once_the_run_goes_on() -> None:
    clock, faults = FakeClock(), iter([True, True])

    def shaky(body: object) -> str:
        if next(faults, False):
            raise RuntimeError("a fault of ours")
        return "done"

    async with opened(":memory:", ScriptedModel(shaky), Shelf().tools, host=Host(clock=clock), runs_every_s=0) as gate:
        run = await start(gate, limits=RunLimits(faults=0))
        for _ in range(2):
            await rested(gate, run.id)
            clock.advance(60)
            await gate.runs.recover()
        report = await run.result()
        assert (report.state, report.answer, report.fault) == (State.COMPLETE, "done", "")
        assert len(await events(run, "faulted")) == 2


async def test_one_run_that_is_broken_holds_up_no_other() -> None:
    def broken(body: object) -> str:
        raise RuntimeError("a fault of ours")

    models = [ScriptedModel(broken, name="broken"), ScriptedModel(["done"])]
    async with opened(":memory:", models, Shelf().tools) as gate:
        await start(gate, model="broken")
        assert (await (await start(gate)).result()).state is State.COMPLETE
