"""A run whose journal this version cannot read, such as one that a newer one wrote: it is left alone, and nobody else
suffers for it."""

import asyncio
from collections.abc import Mapping

import anyio.lowlevel
import pytest

from interlock import Gate
from interlock.engines import embedded
from interlock.loop.entries import Wish
from interlock.loop.machine import State
from interlock.loop.model import Reply
from interlock.ports import RunEntry, StoredRun
from interlock.testing.models import ScriptedModel
from tests.gates import ALICE, Shelf
from tests.runs import opened, reached, start

pytestmark = pytest.mark.requirement("LOOP-7")

FOREIGN = RunEntry("dreamt", 1, b'{"causes":[],"is":{}}')


class Slow(ScriptedModel):
    """Answers once `go` is set."""

    def __init__(self) -> None:
        super().__init__([("search", {"query": "x"}), "done"])
        self.asked, self.go = asyncio.Event(), asyncio.Event()

    async def ask(self, body: Mapping[str, object]) -> Reply:
        self.asked.set()
        await self.go.wait()
        return await super().ask(body)


async def _let_go(gate: Gate, run_id: str, *, times: int) -> StoredRun:
    """The run once it was taken so often and nobody holds it."""
    async with asyncio.timeout(20):
        while True:
            head = await gate.runs.head(run_id, by=ALICE)
            if head.fence >= times and not head.held and head.wake_us:
                return head
            await anyio.lowlevel.checkpoint()


async def test_it_is_let_go_of_and_looked_at_again_and_never_ended(
    gate_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "PAUSE_S", 0.001)
    model = Slow()
    async with opened(gate_path, model, Shelf().tools) as gate:
        run = await start(gate)
        await model.asked.wait()
        await run.wish(Wish.PAUSE)
        model.go.set()
        await reached(run, State.PAUSED)
        await gate._world.runs.tell_run("acme", run.id, FOREIGN)
        assert await run.wish(Wish.RESUME) is None
        head = await _let_go(gate, run.id, times=embedded.FAILURES_MAX + 3)
    assert (head.state, head.over) == (State.PAUSED, False)


async def test_one_that_is_driven_here_is_let_go_of_and_those_beside_it_are_heard(
    gate_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "PAUSE_S", 60.0)
    model = Slow()
    async with opened(gate_path, model, Shelf().tools) as gate:
        spoilt, other = await start(gate), await start(gate)
        await model.asked.wait()
        await gate._world.runs.tell_run("acme", spoilt.id, FOREIGN)
        assert await spoilt.wish(Wish.CANCEL) is None
        assert await other.cancel() is None
        assert (await other.result(timeout_s=5)).state is State.CANCELLED
        assert not (await _let_go(gate, spoilt.id, times=1)).over


@pytest.mark.parametrize("lost", [1, 2])
async def test_one_that_lacks_an_entry_asks_its_model_for_nothing(lost: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "PAUSE_S", 60.0)
    model = Slow()
    async with opened(":memory:", model, Shelf().tools) as gate:
        run = await start(gate)
        await model.asked.wait()
        for _ in range(3):
            await run.say("hello")
        entries = gate._world.runs._runs["acme", run.id].entries  # type: ignore[attr-defined]
        entries[lost:] = entries[lost + 1 :] if lost == 1 else []
        model.go.set()
        assert not (await _let_go(gate, run.id, times=1)).over
    assert len(model.requests) == 1
