"""A run whose model and tools never wait leaves room for others: it is heard, paused and cancelled like any other."""

import asyncio

import pytest

from interlock import RunLimits, Wish
from interlock.loop.machine import State
from interlock.testing.models import ScriptedModel
from tests.gates import Shelf
from tests.runs import opened, start

pytestmark = [pytest.mark.requirement("LOOP-8"), pytest.mark.timeout(30)]


async def test_a_run_that_never_waits_can_be_paused_and_cancelled() -> None:
    model = ScriptedModel(lambda _: ("search", {"query": "x"}), keeps=1)
    async with opened(":memory:", model, Shelf().tools) as gate, asyncio.timeout(20):
        run = await start(gate, limits=RunLimits(rounds=None, calls=None, repeats=0))
        while not (await run.report()).spent.rounds:
            await asyncio.sleep(0)
        assert await run.wish(Wish.PAUSE) is None
        while (await run.report()).state is not State.PAUSED:
            await asyncio.sleep(0)
        assert await run.cancel(reason="enough") is None
        assert (await run.result()).state is State.CANCELLED
