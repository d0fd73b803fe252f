"""What went wrong for others with calls that come twice: sent twice, run twice, or failed once and for ever."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from anyio.lowlevel import checkpoint

from interlock import ErrorContract, Gate, Host, Observation, ToolCall, ToolFault, tool
from interlock.testing.fakes import FakeClock
from tests.gates import ALICE, OPERATOR, AnyTool, code, opened

pytestmark = [pytest.mark.trouble, pytest.mark.requirement("IDEM-1", "IDEM-2", "IDEM-3")]

Case = Callable[[str], Mapping[str, Any]]


class Outbox:
    """A server that takes messages. `goes` decides how each one ends, with the number of those sent so far."""

    def __init__(self, goes: Callable[[], object] = lambda: None, **options: Any) -> None:
        self.sent: list[str] = []
        self.goes = goes
        self.keys: set[str] = set()
        self.tool = self._send(options)

    def _send(self, options: dict[str, Any]) -> AnyTool:
        @tool(
            effect="write",
            name="send",
            key=["to"],
            errors=(ErrorContract("refused", nothing_happened=True),),
            **options,
        )
        async def send(to: str) -> str:
            """Send a message."""
            self.goes()
            self.sent.append(to)
            await checkpoint()
            return to

        return send


async def send(gate: Gate, *, key: str) -> Observation:
    return await gate.call(ToolCall("c", "send", {"to": "bob"}), principal=ALICE, key=key)


async def test_a_message_whose_answer_is_lost_is_never_sent_again(trouble_case: Case, gate_path: str) -> None:
    retries = trouble_case("IDM-01")["input"]["retries"]

    class Lossy(Outbox):
        def _send(self, options: dict[str, Any]) -> AnyTool:
            @tool(effect="write", name="send", key=["to"], timeout_ms=20)
            async def send(to: str) -> str:
                """Send a message; the server commits, and its answer never comes."""
                self.sent.append(to)
                await asyncio.Event().wait()
                return to

            return send

    outbox = Lossy()
    async with opened(gate_path, [outbox.tool]) as gate:
        told = [code(await send(gate, key="k1")) for _ in range(1 + retries)]
        await gate.recovery.recover()
        assert set(told) == {"OUTCOME_UNKNOWN"}
        assert outbox.sent == ["bob"]


async def test_of_fifty_at_once_under_one_key_one_runs_and_the_others_get_its_result(
    trouble_case: Case, gate_path: str
) -> None:
    case = trouble_case("IDM-03")["input"]
    outbox = Outbox()
    async with opened(gate_path, [outbox.tool]) as gate:
        told = await asyncio.gather(*[send(gate, key=case["key"]) for _ in range(case["concurrency"])])
        assert {code(each) for each in told} == {"ok"}
        assert len({each.operation_id for each in told}) == 1
        assert sum(not each.replayed for each in told) == 1
    assert outbox.sent == ["bob"]


async def test_a_failure_before_anything_happened_gives_the_key_back(trouble_case: Case, gate_path: str) -> None:
    key = trouble_case("IDM-05")["input"]["variant"]["key"]

    def refuse() -> None:
        raise ToolFault("refused")

    outbox = Outbox(refuse)
    async with opened(gate_path, [outbox.tool]) as gate:
        assert (await send(gate, key=key)).status == "failed"
        outbox.goes = lambda: None
        again = await send(gate, key=key)
        assert (code(again), again.replayed) == ("ok", False)
    assert outbox.sent == ["bob"]


async def test_a_failure_after_dispatch_is_unknown_until_it_is_found_out_and_then_told_with_its_time(
    trouble_case: Case, gate_path: str
) -> None:
    first, second = (each["key"] for each in trouble_case("IDM-05")["input"]["attempts"])
    clock = FakeClock()
    known: list[str] = []

    def break_off() -> None:
        raise ConnectionResetError

    def look(to: str) -> str:
        if not known:
            raise TimeoutError
        return to

    outbox = Outbox(break_off, reconcile=look)
    async with opened(gate_path, [outbox.tool], host=Host(clock=clock)) as gate:
        told = await send(gate, key=first)
        clock.advance(60)
        again = await send(gate, key=second)
        assert (code(told), code(again), again.replayed) == ("OUTCOME_UNKNOWN", "OUTCOME_UNKNOWN", True)
        assert again.executed_at_us == told.executed_at_us
        known.append("bob")
        clock.advance(60)
        done = await gate.recovery.look_up(str(told.operation_id), by=OPERATOR)
        clock.advance(60)
        replayed = await send(gate, key=second)
        assert isinstance(done, Observation)
        assert (code(replayed), replayed.replayed, replayed.executed_at_us) == ("ok", True, done.executed_at_us)
    assert outbox.sent == []
