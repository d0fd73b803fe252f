"""A call that did not end by itself is settled by one who took it over, and both are on record."""

import asyncio

from interlock import Gate, ToolCall, tool
from interlock.core.effect import CallEvent
from interlock.runtime.taking_over import End, TakingOver, lost_call
from interlock.store.memory import MemoryStore
from tests.gates import ALICE, OPERATOR, AnyTool, opened, records

CALL = ToolCall("c1", "send", "{}")


def sending(started: asyncio.Event) -> AnyTool:
    @tool(effect="write", name="send")
    async def send() -> str:
        """Send something."""
        started.set()
        await asyncio.Event().wait()
        return "sent"

    return send


def taking_over(gate: Gate) -> TakingOver:
    return TakingOver(gate, gate._world, records=gate._records)


async def test_of_several_who_settle_a_call_one_does() -> None:
    started = asyncio.Event()
    async with opened(":memory:", [sending(started)]) as gate:
        running = asyncio.create_task(gate.call(CALL, principal=ALICE, task="t"))
        await started.wait()
        store = gate._world.calls
        assert isinstance(store, MemoryStore)
        store.abandon()
        (call,) = await store.open_calls("acme")
        end = End(CallEvent.LOSE_OUTCOME, lost_call(call), "its worker died", closer="nobody")
        done = await asyncio.gather(*[taking_over(gate).settle(call, end, by=OPERATOR) for _ in range(3)])
        assert sorted(done) == [0, 0, 1]
        told = [each for each in await records(gate) if each["event"] in ("call.taken_over", "call.closed")]
        assert [(each["event"], each["why"], each["principal"]) for each in told] == [
            ("call.taken_over", "its worker died", OPERATOR.id),
            ("call.closed", "its worker died", OPERATOR.id),
        ]
        running.cancel()
