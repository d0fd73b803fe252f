"""Unknown calls are looked up ever more rarely, by one process at a time, and in the end people are asked."""

import asyncio
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from interlock import ApprovalFloor, Gate, Host, LookUpRule, ToolCall, tool
from interlock.runtime import recovery
from interlock.runtime.recovery import Recovered
from interlock.testing.fakes import FakeClock
from tests.gates import ALICE, BOB, CAROL, OPERATOR, AnyTool, code, opened, records


class Oracle:
    """Things whose outcome is always lost, and a look-up that tells only once it `knows`."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.knows = False
        self.is_asked = asyncio.Event()
        self.slow: frozenset[str] = frozenset()
        self.tools = tuple(self._lose(name) for name in ("lose", "mislay"))

    def _lose(self, name: str) -> AnyTool:
        async def look(what: str) -> str | None:
            self.asked.append(what)
            self.is_asked.set()
            if what in self.slow:
                await asyncio.Event().wait()
            if not self.knows:
                raise TimeoutError
            return what

        @tool(effect="write", name=name, key=["what"], reconcile=look)
        async def lose(what: str) -> str:
            """Lose the outcome of something."""
            raise ConnectionError

        return lose

    async def lost(self, gate: Gate, what: str = "x", *, name: str = "lose") -> str:
        """The operation of a call that is unknown."""
        seen = await gate.call(ToolCall("c1", name, {"what": what}), principal=ALICE, task="t")
        assert code(seen) == "OUTCOME_UNKNOWN"
        return str(seen.operation_id)


def rule(**changed: float) -> LookUpRule:
    return replace(LookUpRule(attempts=3, first_pause_s=10, growth=2, pause_max_s=100), **changed)  # type: ignore[arg-type]


@pytest.mark.requirement("IDEM-3")
async def test_a_tool_is_asked_ever_more_rarely_and_in_the_end_a_person_is(gate_path: str) -> None:
    oracle, clock = Oracle(), FakeClock()
    async with opened(gate_path, oracle.tools, host=Host(clock=clock), look_ups=rule()) as gate:
        await oracle.lost(gate)
        asked = []
        for _ in range(6):
            for _ in range(3):
                assert await gate.recovery.recover() == Recovered(unknown=1)
            asked.append(len(oracle.asked))
            clock.advance(10)
        assert asked == [1, 2, 2, 3, 3, 3]
        (unknown,) = await gate.recovery.unknown(by=ALICE)
        assert (unknown.looks.count, unknown.looks.escalated) == (3, True)
        (escalated,) = await records(gate, "call.escalated")
        assert (escalated["why"], escalated["looks"]) == ("no look-up could tell", 3)
        assert [each["looks"] for each in await records(gate, "call.looked_up")] == [1, 2, 3]
        clock.advance(100_000)
        assert (await gate.recovery.recover(), len(oracle.asked)) == (Recovered(unknown=1), 3)


@pytest.mark.requirement("IDEM-3")
async def test_a_person_has_it_looked_up_at_once_whatever_was_tried(gate_path: str) -> None:
    oracle = Oracle()
    async with opened(gate_path, oracle.tools, look_ups=rule(attempts=1)) as gate:
        operation = await oracle.lost(gate)
        await gate.recovery.recover()
        assert code(await gate.recovery.look_up(operation, by=ALICE)) == "PERMISSION_DENIED"
        assert code(await gate.recovery.look_up("none", by=OPERATOR)) == "PRECONDITION_FAILED"
        assert code(await gate.recovery.look_up(operation, by=OPERATOR)) == "OUTCOME_UNKNOWN"
        oracle.knows = True
        assert await gate.recovery.recover() == Recovered(unknown=1)
        assert code(await gate.recovery.look_up(operation, by=OPERATOR)) == "ok"
        (closed,) = await records(gate, "call.closed")
        assert (closed["principal"], closed["why"]) == ("olga", "looked up by its tool")


@pytest.mark.requirement("IDEM-3", "IDEM-4")
async def test_of_processes_that_recover_at_once_one_asks_the_tool(tmp_path: Path) -> None:
    path, oracle = str(tmp_path / "gate.db"), Oracle()
    async with opened(path, oracle.tools) as gate, opened(path, oracle.tools, None) as other:
        await oracle.lost(gate)
        await asyncio.gather(*[each.recovery.recover() for each in (gate, other) * 4])
        assert oracle.asked == ["x"]
    async with opened(path, oracle.tools, None) as later:
        assert (later.recovered, oracle.asked) == (Recovered(unknown=1), ["x"])


@pytest.mark.requirement("IDEM-3", "IDEM-4")
async def test_who_was_not_first_to_look_for_the_last_time_asks_no_people(tmp_path: Path) -> None:
    path, oracle = str(tmp_path / "gate.db"), Oracle()
    oracle.slow = frozenset({"x"})
    few = rule(attempts=1, timeout_s=0.1)
    async with (
        opened(path, oracle.tools, look_ups=few) as gate,
        opened(path, oracle.tools, None, look_ups=few) as other,
    ):
        await oracle.lost(gate)
        (seen_before,) = (await other._world.look_ups.due(gate._world.clock.now_us(), 9)).calls
        looking = asyncio.create_task(gate.recovery.recover())
        await asyncio.wait_for(oracle.is_asked.wait(), 20)
        assert await other.recovery._look_or_escalate(seen_before) == 0
        assert await records(gate, "call.escalated") == []
        await looking
        assert len(await records(gate, "call.escalated")) == 1
    assert oracle.asked == ["x"]


@pytest.mark.requirement("IDEM-3")
async def test_a_slow_look_up_holds_up_no_other_tool_and_is_cut_off() -> None:
    oracle = Oracle()
    async with opened(":memory:", oracle.tools, look_ups=rule(timeout_s=0.05)) as gate:
        await oracle.lost(gate, "slow")
        await oracle.lost(gate, "y", name="mislay")
        oracle.slow, oracle.knows = frozenset({"slow"}), True
        assert await gate.recovery.recover() == Recovered(found_out=1, unknown=1)
        assert sorted(oracle.asked) == ["slow", "y"]


@pytest.mark.requirement("IDEM-3")
async def test_what_no_look_up_can_tell_is_escalated_at_once_and_once() -> None:
    @tool(effect="write", key=["what"])
    async def lose(what: str) -> str:
        """Lose the outcome of something."""
        raise ConnectionError

    async with opened(":memory:", [lose]) as gate:
        await gate.call(ToolCall("c1", "lose", {"what": "x"}), principal=ALICE, task="t")
        for _ in range(3):
            assert await gate.recovery.recover() == Recovered(unknown=1)
        (escalated,) = await records(gate, "call.escalated")
        assert (escalated["why"], escalated["principal"]) == ("its tool has no look-up", "alice")


@pytest.mark.requirement("IDEM-4")
async def test_calls_that_nobody_here_can_ask_about_hold_up_no_others_however_many_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "DUE_MAX", 2)
    path, oracle = str(tmp_path / "gate.db"), Oracle()
    async with opened(path, oracle.tools) as gate:
        for number in range(3):
            await oracle.lost(gate, str(number), name="mislay")
        await oracle.lost(gate, "x")
    async with opened(path, oracle.tools[:1], None) as other:
        await other.recovery.recover()
        assert oracle.asked == ["x"]
        assert other.recovery._passed_over == 3


@pytest.mark.requirement("IDEM-4")
async def test_calls_that_there_was_no_time_for_hold_up_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery, "DUE_MAX", 2)
    oracle, clock = Oracle(), FakeClock()
    async with opened(":memory:", oracle.tools, host=Host(clock=clock), look_ups=rule(at_once=1)) as gate:
        for number in range(3):
            await oracle.lost(gate, str(number))
        await oracle.lost(gate, "x", name="mislay")
        monkeypatch.setattr(recovery, "PASS_S", 0)
        await gate.recovery.recover()
        assert oracle.asked == []
        monkeypatch.setattr(recovery, "PASS_S", 1)
        await gate.recovery.recover()
        assert oracle.asked == ["0", "1", "2", "x"]


@pytest.mark.requirement("IDEM-3")
async def test_a_process_without_the_tools_code_leaves_its_calls_to_those_that_have_it(tmp_path: Path) -> None:
    path, oracle = str(tmp_path / "gate.db"), Oracle()
    async with opened(path, oracle.tools) as gate:
        operation = await oracle.lost(gate)
        async with opened(path, [], None) as other:
            assert await other.recovery.recover() == Recovered(unknown=1)
            assert code(await other.recovery.look_up(operation, by=OPERATOR)) == "PRECONDITION_FAILED"
        oracle.knows = True
        assert await gate.recovery.recover() == Recovered(found_out=1)
    assert oracle.asked == ["x"]


@pytest.mark.requirement("IDEM-3")
@pytest.mark.parametrize("why", ["setting", "floor"])
async def test_two_people_close_a_call_and_the_record_names_both(gate_path: str, why: str) -> None:
    otto = replace(OPERATOR, id="otto", actor="o")
    options: Any = {"approval_floor": ApprovalFloor(quorum=2)} if why == "floor" else {}

    @tool(effect="write", key=["what"], **options)
    async def lose(what: str) -> str:
        """Lose the outcome of something."""
        raise ConnectionError

    async with opened(gate_path, [lose], closing_people=2 if why == "setting" else 1) as gate:
        seen = await gate.call(ToolCall("c1", "lose", {"what": "x"}), principal=ALICE, task="t")
        if seen.approval_id is not None:
            for each in (BOB, CAROL):
                await gate.approvals.approve(seen.approval_id, by=each)
            await gate.approvals.resume(seen.approval_id, by=BOB)
        (unknown,) = await gate.recovery.unknown(by=ALICE)
        close = partial(gate.recovery.close, unknown.operation.id)
        assert code(await close(by=OPERATOR, happened=True, evidence="in the outbox")) == "APPROVAL_REQUIRED"
        assert code(await close(by=OPERATOR, happened=True, evidence="I am sure")) == "PERMISSION_DENIED"
        assert code(await close(by=otto, happened=False, evidence="not in the inbox")) == "APPROVAL_REQUIRED"
        assert [each.by for each in (await gate.recovery.proposed(by=ALICE)).values()] == ["otto"]
        assert len(await gate.recovery.unknown(by=ALICE)) == 1
        assert code(await close(by=OPERATOR, happened=False, evidence="right: not there")) == "CANCELLED"
        assert len(await records(gate, "call.closing_proposed")) == 2
        (closed,) = await records(gate, "call.closed")
        assert (closed["proposed_by"], closed["principal"]) == ("otto", "olga")
        assert (closed["proposed_why"], closed["why"]) == ("not in the inbox", "right: not there")
        assert await gate.recovery.proposed(by=ALICE) == {}


@pytest.mark.requirement("IDEM-3", "IDEM-4")
async def test_what_there_is_no_time_for_in_one_pass_is_due_in_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    oracle = Oracle()
    async with opened(":memory:", oracle.tools, reap_every_s=0) as gate:
        await oracle.lost(gate)
        oracle.knows = True
        with monkeypatch.context() as hurried:
            hurried.setattr("interlock.runtime.recovery.PASS_S", 0)
            assert (await gate.recovery.recover(), oracle.asked) == (Recovered(unknown=1), [])
        assert (await gate.recovery.recover(), oracle.asked) == (Recovered(found_out=1), ["x"])
