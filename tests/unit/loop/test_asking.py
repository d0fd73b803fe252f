"""A model is asked with all that came, again after a pause where it did not answer, and never twice for one answer."""

import pytest

from interlock import Host
from interlock.loop.entries import Wish
from interlock.loop.limits import RunLimits
from interlock.loop.machine import State
from interlock.loop.model import Reply
from interlock.models.turn import Ended, Turn
from interlock.testing.fakes import FakeClock
from interlock.testing.models import ScriptedModel
from tests.gates import OPERATOR, Shelf
from tests.runs import events, happened, opened, rested, start


def busy(retry_after_s: float | None = None) -> Reply:
    turn = Turn("", (), Ended.HTTP_ERROR, reason="busy")
    return Reply(turn, status=503, retry_after_s=retry_after_s, may_repeat=True)


@pytest.mark.requirement("LOOP-1")
async def test_a_fault_that_passes_is_borne_and_the_pauses_grow(gate_path: str) -> None:
    clock, model = FakeClock(), ScriptedModel([busy(), busy(), busy(), "done"])
    async with opened(gate_path, model, Shelf().tools, host=Host(clock=clock)) as gate:
        run = await start(gate)
        assert (await run.result()).state is State.COMPLETE
        found = await events(run, "faulted")
    pauses = [int(str(event.data["until_us"])) - event.at_us for event in found]
    assert [event.state for event in found] == [State.MODEL_RETRY] * 3
    assert all(250_000 * 2**at <= pause <= 500_000 * 2**at for at, pause in enumerate(pauses))
    assert [request["messages"] for request in model.requests] == [model.requests[0]["messages"]] * 4


@pytest.mark.requirement("LOOP-8")
async def test_a_long_pause_lets_go_of_the_run_until_it_is_over(gate_path: str) -> None:
    clock, model = FakeClock(), ScriptedModel([busy(60.0), "done"])
    async with opened(gate_path, model, Shelf().tools, host=Host(clock=clock)) as gate:
        run = await start(gate)
        await happened(run, "faulted")
        await rested(gate, run.id)
        (head,) = await gate.runs.list(by=OPERATOR)
        assert (head.held, head.state) == (False, "model_retry")
        clock.advance(61)
        assert (await run.result()).state is State.COMPLETE


async def test_a_success_in_between_starts_the_count_of_faults_anew() -> None:
    model = ScriptedModel([busy(), ("search", {"query": "x"}), busy(), "done"])
    async with opened(":memory:", model, Shelf().tools, host=Host(clock=FakeClock())) as gate:
        report = await (await start(gate, limits=RunLimits(faults=1))).result()
    assert report.state is State.COMPLETE


@pytest.mark.requirement("LOOP-8")
async def test_a_run_that_is_paused_while_its_model_is_away_rests_without_being_looked_at_again(gate_path: str) -> None:
    clock, model = FakeClock(), ScriptedModel([busy(60.0)])
    async with opened(gate_path, model, Shelf().tools, host=Host(clock=clock)) as gate:
        run = await start(gate)
        await happened(run, "faulted")
        await run.wish(Wish.PAUSE)
        event = await happened(run, "moved")
        clock.advance(61)
        await rested(gate, run.id)
        assert (event.state, await gate._world.runs.due_runs(clock.now_us(), 10)) == (State.PAUSED, ())


@pytest.mark.requirement("LOOP-7")
async def test_a_run_whose_model_is_not_here_is_left_to_a_process_that_has_it(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path, clock = str(tmp_path_factory.mktemp("gate") / "gate.db"), FakeClock()
    shelf = Shelf()
    one, two = ScriptedModel([busy(60.0)], name="one"), ScriptedModel([], name="two")
    async with opened(path, one, shelf.tools, host=Host(clock=clock)) as gate:
        await happened(await start(gate, model="one", run_id="r"), "faulted")
    clock.advance(61)
    async with opened(path, two, shelf.tools, None, host=Host(clock=clock)) as gate:
        await rested(gate, "r")
        assert (await (await gate.runs.get("r", by=OPERATOR)).report()).state is State.MODEL_RETRY
    clock.advance(61)
    async with opened(path, ScriptedModel(["done"], name="one"), shelf.tools, None, host=Host(clock=clock)) as gate:
        assert (await (await gate.runs.get("r", by=OPERATOR)).result()).state is State.COMPLETE
