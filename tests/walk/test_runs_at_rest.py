"""A run that rests costs nothing until there is something to do: nobody takes it and lets go of it again and again."""

import pytest

from interlock import Host
from interlock.loop.entries import Wish
from interlock.loop.limits import RunLimits
from interlock.loop.machine import State
from interlock.loop.model import Reply
from interlock.providers.incoming import nothing
from interlock.testing.fakes import FakeClock
from interlock.testing.models import ScriptedModel
from tests.runs import opened, reached, start

BUSY = Reply(nothing("busy"), status=503, may_repeat=True, retry_after_s=30.0)


@pytest.mark.requirement("LOOP-7")
async def test_a_run_that_waits_for_its_model_is_looked_at_when_its_time_has_come_and_not_before() -> None:
    clock = FakeClock()
    async with opened(":memory:", ScriptedModel([BUSY, "done"]), [], host=Host(clock=clock), runs_every_s=0) as gate:
        run = await start(gate, limits=RunLimits(waits_s=5))
        await reached(run, State.MODEL_RETRY)
        clock.advance(10)
        taken = [await gate.runs.recover() for _ in range(3)]
        clock.advance(30)
        taken.append(await gate.runs.recover())
        assert (await run.result()).answer == "done"
    assert taken == [0, 0, 0, 1]


@pytest.mark.requirement("LOOP-7")
async def test_a_run_that_was_paused_while_it_waited_for_its_model_stays_at_rest() -> None:
    clock = FakeClock()
    async with opened(":memory:", ScriptedModel([BUSY, "done"]), [], host=Host(clock=clock), runs_every_s=0) as gate:
        run = await start(gate)
        await reached(run, State.MODEL_RETRY)
        await run.wish(Wish.PAUSE)
        await reached(run, State.PAUSED)
        clock.advance(60)
        taken = [await gate.runs.recover() for _ in range(3)]
        await run.wish(Wish.RESUME)
        assert (await run.result()).answer == "done"
    assert taken == [0, 0, 0]
