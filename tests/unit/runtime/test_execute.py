"""Executing a claimed call: secrets reach the handler alone, locks outlast what cannot be stopped."""

import asyncio
import logging
import threading
from collections.abc import Mapping

import pytest
from anyio.lowlevel import checkpoint

from interlock import Context, Host, Principal, ToolCall, tool
from interlock.testing.fakes import FakeSecrets
from tests.gates import ALICE, AnyTool, code, opened, records, used

TOKEN = "tok-5f1e9c27aa"


def fetch(given: list[str]) -> AnyTool:
    @tool(effect="read", secrets=["token"], name="fetch")
    async def handler(context: Context) -> str:
        """Fetch something with a credential."""
        given.append(context.secrets["token"])
        return f"fetched with {context.secrets['token']}"

    return handler


@pytest.mark.requirement("EXEC-8")
async def test_a_credential_reaches_the_handler_for_who_asks_and_nothing_else() -> None:
    given, secrets = list[str](), FakeSecrets({"token": TOKEN})
    async with opened(":memory:", [fetch(given)], host=Host(secrets=secrets)) as gate:
        seen = await gate.call(ToolCall("c1", "fetch", ""), principal=ALICE)
        assert (given, secrets.asked) == ([TOKEN], [("token", "alice")])
        assert TOKEN not in str(seen) + str(await records(gate))


class Failing:
    """A source of credentials that raises, or never answers."""

    def __init__(self, *, hangs: bool) -> None:
        self._hangs = hangs

    async def fetch(self, names: tuple[str, ...], principal: Principal) -> Mapping[str, str]:
        if self._hangs:
            await asyncio.Event().wait()
        raise RuntimeError("the vault is sealed")


@pytest.mark.requirement("EXEC-8", "CALL-8")
@pytest.mark.parametrize(
    "secrets", [None, FakeSecrets({}), FakeSecrets({"token": "short"}), Failing(hangs=False), Failing(hangs=True)]
)
async def test_without_its_credential_nothing_runs_and_nothing_stays_claimed(secrets: FakeSecrets | None) -> None:
    given = list[str]()
    async with opened(":memory:", [fetch(given)], host=Host(secrets=secrets), deadline_ms=50) as gate:
        seen = await gate.call(ToolCall("c1", "fetch", ""), principal=ALICE)
        assert (code(seen), seen.status.value, given) == ("CONTEXT_MISSING", "refused", [])
        assert "vault" not in str(seen)
        await used(gate, "calls")


class Slow:
    """A tool in a thread that cannot be stopped, under a lock that another tool wants too."""

    def __init__(self) -> None:
        self.go, self.began = threading.Event(), threading.Event()
        self.log: list[str] = []
        self.tools = (self._slow(), self._quick())

    def _slow(self) -> AnyTool:
        @tool(effect="write", name="slow", locks=["desk"], timeout_ms=30)
        def slow() -> str:
            """Take long."""
            self.began.set()
            self.go.wait(20)
            self.log.append("slow")
            return "slow"

        return slow

    def _quick(self) -> AnyTool:
        @tool(effect="write", name="quick", locks=["desk"])
        async def quick() -> str:
            """Be quick."""
            self.log.append("quick")
            return "quick"

        return quick


@pytest.mark.requirement("EXEC-1")
async def test_a_thread_that_runs_late_keeps_its_lock_and_its_late_result_is_recorded_and_never_used(
    gate_path: str,
) -> None:
    slow = Slow()
    async with opened(gate_path, slow.tools) as gate:
        seen = await gate.call(ToolCall("c1", "slow", ""), principal=ALICE, task="t")
        assert (code(seen), seen.data) == ("OUTCOME_UNKNOWN", None)
        other = asyncio.create_task(gate.call(ToolCall("c2", "quick", ""), principal=ALICE, task="t"))
        await asyncio.wait([other], timeout=0.02)
        assert not other.done()
        slow.go.set()
        assert code(await other) == "ok"
        assert slow.log == ["slow", "quick"]
        (late,) = await records(gate, "call.late")
        assert (late["status"], late["call_id"]) == ("ok", "c1")
        again = await gate.call(ToolCall("c1", "slow", ""), principal=ALICE, task="t")
        assert (code(again), again.replayed) == ("OUTCOME_UNKNOWN", True)


@pytest.mark.requirement("EXEC-1")
async def test_what_waits_for_a_busy_lock_to_the_deadline_has_not_run(gate_path: str) -> None:
    slow = Slow()
    async with opened(gate_path, slow.tools, deadline_ms=60) as gate:
        await gate.call(ToolCall("c1", "slow", ""), principal=ALICE, task="t")
        seen = await gate.call(ToolCall("c2", "quick", ""), principal=ALICE, task="t")
        assert (code(seen), slow.log) == ("DEADLINE_EXCEEDED", [])
        slow.go.set()


@pytest.mark.requirement("EXEC-2")
@pytest.mark.parametrize(
    ("effect", "runs", "ends"),
    [("read", 3, "TOOL_EXCEPTION"), ("idempotent_write", 3, "OUTCOME_UNKNOWN"), ("write", 1, "OUTCOME_UNKNOWN")],
)
async def test_only_what_may_be_repeated_is_tried_again(effect: str, runs: int, ends: str) -> None:
    keys: list[tuple[str, int]] = []

    @tool(effect=effect, name="flaky")
    async def flaky(context: Context) -> None:
        """Be reset by the peer."""
        keys.append((context.key, context.attempt))
        raise ConnectionResetError

    async with opened(":memory:", [flaky]) as gate:
        assert code(await gate.call(ToolCall("c1", "flaky", ""), principal=ALICE, task="t")) == ends
        (record,) = await records(gate, "call.settled")
        assert record["attempts"] == runs
    assert [attempt for _, attempt in keys] == [*range(1, runs + 1)]
    assert len({key for key, _ in keys}) == 1


async def test_a_tool_that_keeps_failing_is_not_called_for_a_while_and_says_for_how_long() -> None:
    runs: list[int] = []

    @tool(effect="read", name="down")
    async def down() -> None:
        """Be down."""
        runs.append(1)
        raise ConnectionResetError

    async with opened(":memory:", [down]) as gate:
        seen = [await gate.call(ToolCall("c1", "down", ""), principal=ALICE) for _ in range(8)]
        assert code(seen[-1]) == "TOOL_UNAVAILABLE"
        assert seen[-1].retry_after_s is not None
        before = len(runs)
        await gate.call(ToolCall("c1", "down", ""), principal=ALICE)
        assert len(runs) == before


async def test_the_words_of_a_broken_source_are_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        async with opened(":memory:", [fetch([])], host=Host(secrets=Failing(hangs=False))) as gate:
            await gate.call(ToolCall("c1", "fetch", ""), principal=ALICE)
    assert "the vault is sealed" in caplog.text


async def test_no_more_reads_of_a_tool_run_at_once_than_it_declares() -> None:
    running, most = 0, list[int]()

    @tool(effect="read", concurrency=2, name="narrow")
    async def narrow() -> str:
        """Look, beside one other at most."""
        nonlocal running
        running += 1
        most.append(running)
        for _ in range(5):
            await checkpoint()
        running -= 1
        return "seen"

    async with opened(":memory:", [narrow]) as gate:
        calls = [gate.call(ToolCall(f"c{number}", "narrow", ""), principal=ALICE) for number in range(5)]
        assert {seen.status.value for seen in await asyncio.gather(*calls)} == {"ok"}
    assert (len(most), max(most)) == (5, 2)
