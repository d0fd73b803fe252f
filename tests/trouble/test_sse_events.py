"""Progress that was lost or told twice: the log of events behind every stream of them, replayed against whole runs."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from interlock.loop.events import RunEvent
from interlock.loop.machine import State
from interlock.testing.models import Said, ScriptedModel
from tests.gates import BOB, Shelf
from tests.runs import ASKS_TO_SAVE, events, opened, reached, start

pytestmark = [pytest.mark.trouble, pytest.mark.requirement("LOOP-9")]

TroubleCase = Callable[[str], Mapping[str, Any]]
SCRIPT: list[Said] = [("search", {"query": "x"}), ("save", {"note": "n", "text": "t"}), "done"]


async def test_only_what_is_in_the_log_has_a_cursor_and_every_position_resumes(
    trouble_case: TroubleCase, gate_path: str
) -> None:
    """SSE-01: a made-up frame had a larger id than the next event, which was skipped by who reconnected with it."""
    at = int(trouble_case("SSE-01")["input"]["reconnect"]["Last-Event-ID"])
    async with opened(gate_path, ScriptedModel(SCRIPT), Shelf().tools, ASKS_TO_SAVE) as gate:
        run = await start(gate)
        before = [(await reached(run, State.WAITING_APPROVAL)).cursor]
        watching = asyncio.create_task(_after(run, before[0]))
        (waits,) = (await run.report()).waiting
        await gate.approvals.approve(waits, by=BOB)
        await run.result()
        everything = await events(run)
        stored = await gate._world.run_reads.run_entries("acme", run.id)
        assert [event.cursor for event in everything] == [entry.sequence for entry in stored]
        assert await watching == everything[before[0] :]  # who waited while nothing happened skips nothing
        assert len(everything) > at
        for position in range(len(everything) + 1):
            assert await _after(run, position) == everything[position:]


async def test_every_subscriber_sees_everything_once_and_a_late_one_the_end(
    trouble_case: TroubleCase, gate_path: str
) -> None:
    """SSE-03: one queue a run, from which two subscribers stole each other's events, and a late one waited for ever."""
    count = trouble_case("SSE-03")["input"]["subscribers"]
    async with opened(gate_path, ScriptedModel(SCRIPT), Shelf().tools) as gate:
        run = await start(gate)
        found = await asyncio.gather(*[events(run) for _ in range(count)])
        assert (await run.result()).state is State.COMPLETE
        late = await events(run)
    assert all(each == late for each in found)
    assert [event.kind for event in late[:2]] + [late[-1].kind] == ["begun", "responded", "ended"]


async def _after(run: Any, cursor: int) -> list[RunEvent]:
    return [event async for event in run.events(after=cursor)]
