"""A run whose model and tools never wait leaves room for others: it is heard, paused and cancelled like any other."""

import asyncio

import pytest

from interlock import RunLimits, Wish
from interlock.loop.machine import State
from interlock.testing.models import ScriptedModel
from tests.gates import Shelf
from tests.runs import happened, opened, reached, start

pytestmark = [pytest.mark.requirement("LOOP-8"), pytest.mark.timeout(30)]


async def test_a_run_that_never_waits_can_be_paused_and_cancelled() -> None:
    model = ScriptedModel(lambda _: ("search", {"query": "x"}), keeps=1)
    async with opened(":memory:", model, Shelf().tools) as gate, asyncio.timeout(20):
        run = await start(gate, limits=RunLimits(rounds=None, calls=None, repeats=0))
        await happened(run, "observed")
        assert await run.wish(Wish.PAUSE) is None
        await reached(run, State.PAUSED)
        assert await run.cancel(reason="enough") is None
        assert (await run.result()).state is State.CANCELLED
