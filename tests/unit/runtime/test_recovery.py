"""What a dead worker left is found out, let go, or listed unknown; nothing is done again and nothing stays held."""

import asyncio
from pathlib import Path

import pytest

from interlock import Cost, Gate, ToolCall, tool
from interlock.runtime.recovery import Recovered
from interlock.store.memory import MemoryStore
from tests.gates import ALICE, AnyTool, code, opened, records, used

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
        (unknown,) = await gate.recovery.unknown(ALICE)
        assert unknown.operation.tool == "send"
