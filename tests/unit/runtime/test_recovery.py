"""What a dead worker left is found out, let go, or listed unknown; nothing is done again and nothing stays held."""

import asyncio
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from anyio.lowlevel import checkpoint

from interlock import Cost, Gate, Observation, ToolCall, tool
from interlock.core.effect import CallState
from interlock.runtime.recovery import Recovered
from interlock.store.memory import MemoryStore
from tests.gates import ALICE, OPERATOR, AnyTool, code, opened, records, used

NOTHING = Recovered()


class Post:
    """A tool whose effect is known to it alone, and that stands still in the middle."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.started, self.open = asyncio.Event(), asyncio.Event()
        self.knows = True
        self.tools = (self._send(), self._read())

    def _look(self, to: str) -> str | None:
        if not self.knows:
            raise TimeoutError
        return f"to {to}" if to in self.sent else None

    def _send(self) -> AnyTool:
        @tool(effect="write", name="send", key=["to"], reconcile=self._look, cost=Cost(max_micros=7))
        async def send(to: str) -> str:
            """Send something."""
            if to != "lost":
                self.sent.append(to)
            self.started.set()
            await self.open.wait()
            return f"to {to}"

        return send

    def _read(self) -> AnyTool:
        @tool(effect="read", name="read", cost=Cost(max_micros=5))
        async def read() -> str:
            """Read something."""
            self.started.set()
            await self.open.wait()
            return "read"

        return read


async def crash(gate: Gate, post: Post, call: ToolCall) -> asyncio.Task[object]:
    """A call whose worker counts as dead while it stands still in its handler."""
    running: asyncio.Task[object] = asyncio.create_task(gate.call(call, principal=ALICE, task="t"))
    await post.started.wait()
    store = gate._world.calls
    assert isinstance(store, MemoryStore)
    store.abandon()
    return running


@pytest.mark.requirement("IDEM-3", "IDEM-4", "BUD-2", "BUD-3")
@pytest.mark.parametrize(
    ("to", "knows", "found", "ends", "cost"),
    [
        ("x", True, Recovered(found_out=1), "ok", 7),
        ("lost", True, Recovered(found_out=1), "ok", 7),
        ("x", False, Recovered(unknown=1), "OUTCOME_UNKNOWN", 0),
    ],
)
async def test_an_effect_of_a_dead_worker_is_looked_up(
    to: str, knows: bool, found: Recovered, ends: str, cost: int
) -> None:
    post = Post()
    async with opened(":memory:", post.tools) as gate:
        running = await crash(gate, post, ToolCall("c1", "send", {"to": to}))
        post.knows = knows
        assert await gate.recovery.recover() == found
        post.open.set()
        assert code(await running) == "OUTCOME_UNKNOWN"
        again = await gate.call(ToolCall("c2", "send", {"to": to}), principal=ALICE, task="t")
        assert (code(again), again.replayed) == (ends, to == "x")
        late = await records(gate, "call.late")
        assert [each["status"] for each in late] == ["ok"]
        if knows:
            assert await used(gate, "cost_micros") == cost
    assert post.sent == ([] if to == "lost" else ["x"])


@pytest.mark.requirement("IDEM-4", "BUD-2", "BUD-3")
async def test_a_read_of_a_dead_worker_is_let_go_and_charged() -> None:
    post = Post()
    async with opened(":memory:", post.tools) as gate:
        running = await crash(gate, post, ToolCall("c1", "read", ""))
        assert await gate.recovery.recover() == Recovered(released=1)
        assert await used(gate, "cost_micros") == 5
        post.open.set()
        assert code(await running) == "OUTCOME_UNKNOWN"
        assert await gate.recovery.recover() == NOTHING


@pytest.mark.requirement("IDEM-4", "BUD-2")
async def test_what_dead_workers_claimed_is_on_record_as_unknown_before_any_tool_is_asked() -> None:
    post, asked = Post(), asyncio.Event()

    async def hang(to: str) -> str:
        asked.set()
        await asyncio.Event().wait()
        return to

    @tool(effect="write", name="slow", key=["to"], reconcile=hang)
    async def slow(to: str) -> str:
        """Send something slowly."""
        await post.open.wait()
        return to

    async with opened(":memory:", [slow]) as gate:
        calls = [ToolCall("c1", "slow", {"to": str(number)}) for number in range(9)]
        running = [asyncio.create_task(gate.call(call, principal=ALICE, task="t")) for call in calls]
        while len(await gate._world.recovery.open_calls()) < len(calls):
            await checkpoint()
        store = gate._world.calls
        assert isinstance(store, MemoryStore)
        store.abandon()
        recovering = asyncio.create_task(gate.recovery.recover())
        await asyncio.wait_for(asked.wait(), 20)
        assert {each.state for each in await gate._world.recovery.open_calls()} == {CallState.UNKNOWN}
        recovering.cancel()
        post.open.set()
        await asyncio.wait([recovering, *running])


@pytest.mark.requirement("IDEM-4")
async def test_what_is_still_on_its_way_is_left_alone() -> None:
    post = Post()
    async with opened(":memory:", post.tools) as gate:
        running = asyncio.create_task(gate.call(ToolCall("c1", "send", {"to": "x"}), principal=ALICE, task="t"))
        await post.started.wait()
        assert await gate.recovery.recover() == NOTHING
        post.open.set()
        assert code(await running) == "ok"


@pytest.mark.requirement("IDEM-3")
async def test_a_look_up_that_hangs_leaves_the_call_unknown_and_does_not_hold_up_opening(tmp_path: Path) -> None:
    path = str(tmp_path / "gate.db")

    async def hang(to: str) -> str:
        await asyncio.Event().wait()
        return to

    @tool(effect="write", key=["to"], reconcile=hang, timeout_ms=30)
    async def send(to: str) -> str:
        """Send something."""
        raise TimeoutError

    async with opened(path, [send]) as gate:
        assert (
            code(await gate.call(ToolCall("c1", "send", {"to": "x"}), principal=ALICE, task="t")) == "OUTCOME_UNKNOWN"
        )
    async with opened(path, [send], None) as gate:
        (unknown,) = await gate.recovery.unknown(by=ALICE)
        assert unknown.operation.tool == "send"


class Press:
    """A tool in a thread that cannot be stopped; whether it is done shows only once `go` is set and it has ended."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.pressed: list[str] = []
        self.asked: list[str] = []
        self.sees = True
        self.tools = (self._press(),)

    def _look(self, what: str) -> str | None:
        self.asked.append(what)
        return what if self.sees and what in self.pressed else None

    def _press(self) -> AnyTool:
        @tool(effect="write", name="press", key=["what"], reconcile=self._look, timeout_ms=20)
        def press(what: str) -> str:
            """Press something."""
            self.go.wait(20)
            self.pressed.append(what)
            return what

        return press


async def press(gate: Gate) -> Observation:
    return await gate.call(ToolCall("c1", "press", {"what": "x"}), principal=ALICE, task="t")


async def ended(gate: Gate) -> None:
    """Wait for work that went on."""
    await asyncio.wait(gate._executor._tails)


@pytest.mark.requirement("IDEM-3", "IDEM-4", "EXEC-1")
async def test_a_call_is_looked_up_only_once_its_work_has_ended(gate_path: str) -> None:
    it = Press()
    async with opened(gate_path, it.tools) as gate:
        assert code(await press(gate)) == "OUTCOME_UNKNOWN"
        assert await gate.recovery.recover() == Recovered(unknown=1)
        assert code(await press(gate)) == "OUTCOME_UNKNOWN"
        assert it.asked == []
        it.go.set()
        await ended(gate)
        assert [each["status"] for each in await records(gate, "call.late")] == ["ok"]
        (closed,) = await records(gate, "call.closed")
        assert closed["why"] == "looked up by its tool once its work had ended"
        again = await press(gate)
        assert (code(again), again.replayed, again.data) == ("ok", True, "x")
    assert (it.pressed, it.asked) == (["x"], ["x"])


@pytest.mark.requirement("IDEM-3", "IDEM-4")
async def test_another_process_does_not_look_up_a_call_at_which_this_one_is_at_work(tmp_path: Path) -> None:
    path, it = str(tmp_path / "gate.db"), Press()
    async with opened(path, it.tools) as gate:
        assert code(await press(gate)) == "OUTCOME_UNKNOWN"
        async with opened(path, it.tools, None) as other:
            assert other.recovered == Recovered(unknown=1)
            assert code(await press(other)) == "OUTCOME_UNKNOWN"
    async with opened(path, it.tools, None) as later:
        assert later.recovered == Recovered(unknown=1)
    it.go.set()
    assert it.asked == []


@pytest.mark.requirement("IDEM-3")
async def test_a_look_up_that_denies_what_the_work_itself_reports_is_not_believed(gate_path: str) -> None:
    it = Press()
    it.sees = False
    async with opened(gate_path, it.tools) as gate:
        assert code(await press(gate)) == "OUTCOME_UNKNOWN"
        it.go.set()
        await ended(gate)
        assert it.asked == ["x"]
        assert code(await press(gate)) == "OUTCOME_UNKNOWN"
        it.sees = True
        assert await gate.recovery.recover() == Recovered(found_out=1)
        assert code(await press(gate)) == "ok"
    assert it.pressed == ["x"]


@pytest.mark.requirement("IDEM-3")
async def test_nobody_closes_a_call_as_not_done_while_work_on_it_goes_on(gate_path: str) -> None:
    it = Press()
    async with opened(gate_path, it.tools) as gate:
        seen = await press(gate)
        close = partial(gate.recovery.close, str(seen.operation_id), by=OPERATOR, evidence="it is not there")
        assert code(await close(happened=False)) == "CONTENDED"
        assert code(await close(happened=True)) == "ok"
        it.go.set()
        await ended(gate)
        assert it.asked == []


@pytest.mark.requirement("IDEM-4")
async def test_a_call_that_cannot_be_read_back_holds_up_no_other() -> None:
    post = Post()
    post.knows = False
    async with opened(":memory:", post.tools) as gate:
        store = gate._world.calls
        assert isinstance(store, MemoryStore)
        running = [await crash(gate, post, ToolCall("c1", "send", {"to": to})) for to in ("x", "y")]
        await checkpoint()
        store.abandon()
        post.knows = True
        first = next(iter(store._open.values()))
        first.operation = replace(first.operation, sealed=b"[]")
        assert await gate.recovery.recover() == Recovered(found_out=1, unknown=1)
        post.open.set()
        await asyncio.wait(running)
