"""However a proposal ends, there is one observation and one complete record of it, and nothing is left held."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock import Caller, Gate, Host, Limit, Observation, ScopeKind, ToolCall, Unit, tool
from interlock.core.canonical import Json
from interlock.core.effect import CallState
from interlock.core.operation import Operation
from tests.gates import ALICE, AnyTool, Shelf, code, opened, records, save, search, settled, used

ENDS = {
    "search": "ok", "save": "ok", "broken": "TOOL_EXCEPTION", "lost": "OUTCOME_UNKNOWN", "ask": "APPROVAL_REQUIRED",
    "denied": "PERMISSION_DENIED", "bad": "INVALID_JSON", "unfit": "TOOL_ARGUMENT_INVALID", "nope": "TOOL_NOT_FOUND",
    "keyless": "IDEMPOTENCY_REQUIRED", "misfit": "OUTPUT_INVALID", "late": "DEADLINE_EXCEEDED",
}  # fmt: skip
TERMINAL = ("call.settled", "call.refused", "call.waiting")
MANDATORY = frozenset(
    "principal kind on_behalf_of door agent model trace_id actor run task call_id tool status arguments".split()
)
POLICY = """
@id("all") permit (principal, action, resource);
@id("ask") @approval("approver") permit (principal, action == Action::"save", resource)
when { context.args.note == "ask" };
@id("no") forbid (principal, action == Action::"search", resource) when { context.args.query == "denied" };
"""


def tools(shelf: Shelf) -> list[AnyTool]:
    @tool(effect="read", name="broken")
    async def broken() -> None:
        """Break."""
        raise ValueError("inside")

    @tool(effect="write", name="lost")
    async def lost() -> None:
        """Lose the connection."""
        raise ConnectionResetError

    @tool(effect="write", name="misfit", output_schema={"type": "object"})
    async def misfit() -> int:
        """Give what was not promised."""
        return 1

    return [*shelf.tools, broken, lost, misfit]


async def end(gate: Gate, way: str, number: int) -> Observation:
    """A call that ends in this way."""
    name = f"c{number}"
    caller = Caller(ALICE, task=None if way == "keyless" else f"t{number}", deadline_ms=0 if way == "late" else None)
    calls = {
        "ask": save("ask", id=name), "denied": search("denied", id=name), "search": search(id=name),
        "bad": ToolCall(name, "search", "{"), "unfit": ToolCall(name, "search", "[]"), "save": save(id=name),
        "keyless": save(id=name), "late": search(id=name),
    }  # fmt: skip
    return await gate.propose(calls.get(way, ToolCall(name, way, "{}")), caller)


@pytest.mark.requirement("CALL-8", "AUD-1")
@pytest.mark.parametrize("way", ENDS)
async def test_every_end_leaves_one_record_with_the_same_mandatory_fields(way: str, gate_path: str) -> None:
    async with opened(gate_path, tools(Shelf()), POLICY) as gate:
        seen = await end(gate, way, 1)
        assert code(seen) == ENDS[way]
        found = [each for each in await records(gate, call="c1") if each["event"] != "call.claimed"]
        assert len(found) == 1
        assert found[0].keys() >= MANDATORY
        assert found[0]["status"] == seen.status.value
        if way != "lost":  # what may have happened holds its cost until that is known
            assert await used(gate, "calls") in (0, 1)


@pytest.mark.requirement("CALL-8", "OBS-7")
@settings(max_examples=20)
@given(ways=st.lists(st.sampled_from(sorted(ENDS)), min_size=1, max_size=12))
async def test_calls_side_by_side_end_each_in_its_own_way_once(ways: list[str]) -> None:
    async with opened(":memory:", tools(Shelf()), POLICY) as gate:
        seen = await asyncio.gather(*[end(gate, way, number) for number, way in enumerate(ways)])
        assert [code(each) for each in seen] == [ENDS[way] for way in ways]
        ended = [each["call_id"] for each in await records(gate) if each["event"] in TERMINAL]
        assert sorted(ended) == sorted(f"c{number}" for number in range(len(ways)))
        assert all(each.hint or each.status.value == "ok" for each in seen)
        assert [each.user_text == "This is done." for each in seen] == [each.status.value == "ok" for each in seen]


@dataclass
class Stalls:
    """Where a call can be made to stand still on its way: one event for each place, and one that tells it is there."""

    at: str
    there: asyncio.Event = field(default_factory=asyncio.Event)
    go: asyncio.Event = field(default_factory=asyncio.Event)

    async def here(self, place: str) -> None:
        if place == self.at:
            self.there.set()
            await self.go.wait()

    async def fetch(self, names: frozenset[str], operation: Operation) -> dict[str, Json]:
        await self.here("look")
        return {"score": 1}

    def around(self, gate: Gate, name: str) -> None:
        """Stand still after the store has carried out the write and before it answers, as a slow disk would."""
        calls = gate._world.calls
        write: Callable[[Any], Awaitable[Any]] = getattr(calls, name)

        async def slow(given: Any) -> Any:
            done = asyncio.ensure_future(write(given))
            await self.here(name)
            return await asyncio.shield(done)

        setattr(calls, name, slow)


CUT = {"look": "CANCELLED", "claim": "CANCELLED", "execute": "OUTCOME_UNKNOWN", "settle": None}


@pytest.mark.requirement("CALL-8", "IDEM-3")
@pytest.mark.parametrize("place", CUT)
async def test_a_call_cancelled_anywhere_is_on_record_and_nothing_stays_claimed(place: str, gate_path: str) -> None:
    stalls, shelf = Stalls(place), Shelf()

    @tool(effect="write", name="save", key=["note"])
    async def saving(note: str, text: str) -> str:
        """Save a note."""
        shelf.saved.append((note, text))
        await stalls.here("execute")
        return note

    policy = "permit (principal, action, resource) when { context.facts.score == 1 };"
    host = Host(facts=stalls, fact_names=frozenset({"score"}))
    async with opened(gate_path, [saving], policy, host=host) as gate:
        for name in ("claim", "settle"):
            stalls.around(gate, name)
        running = asyncio.create_task(gate.call(save(), principal=ALICE, task="t"))
        await stalls.there.wait()
        running.cancel()
        await asyncio.wait([running])
        stalls.go.set()
        await settled(gate)
        assert running.cancelled()
        ended = [each for each in await records(gate) if each["event"] in ("call.settled", "call.refused")]
        assert [each.get("code") for each in ended] == [CUT[place]]
        left = {each.state for each in await gate._world.recovery.open_calls()}
        assert left == ({CallState.UNKNOWN} if place == "execute" else set())
        again = await gate.call(save(), principal=ALICE, task="t")
        assert code(again) == ("OUTCOME_UNKNOWN" if place == "execute" else "ok")
        assert again.replayed == (place in ("execute", "settle"))
    assert len(shelf.saved) == 1


@pytest.mark.requirement("CALL-8", "BUD-1")
async def test_a_call_cancelled_while_it_queues_for_a_rate_is_on_record(gate_path: str) -> None:
    rate = Limit(ScopeKind.TENANT, Unit.CALLS, 1, window_s=3_600)
    async with opened(gate_path, Shelf().tools, limits=[rate], deadline_ms=7_200_000) as gate:
        await gate.call(search(id="c1"), principal=ALICE)
        queued = asyncio.create_task(gate.call(search(id="c2"), principal=ALICE))
        await asyncio.wait([queued], timeout=0.02)
        queued.cancel()
        await asyncio.wait([queued])
        await settled(gate)
        (record,) = await records(gate, call="c2")
        assert (record["code"], record["status"]) == ("CANCELLED", "refused")
        assert await used(gate, "calls") == 2
