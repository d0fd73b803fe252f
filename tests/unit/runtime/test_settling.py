"""Settling a claimed call: whatever came of it, it ends, and what is told of it is honest."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from anyio.lowlevel import checkpoint

from interlock import Gate, Observation, ToolCall, tool
from interlock.core.labels import Labels
from interlock.core.operation import Operation
from interlock.core.outcome import Failed, Outcome, Produced, Succeeded, Unknown
from interlock.core.refusals import Code
from interlock.core.resource import Resource
from interlock.core.tool import ToolSpec
from interlock.ports import Attempt, Invocation, Runner
from interlock.runners.by_kind import CodeRunner, RunnersByKind
from interlock.runners.threads import StillRunning
from tests.gates import ALICE, OPERATOR, code, opened, records, used

MISLABELLED = Produced(labels=Labels(origins=frozenset({5})))  # type: ignore[arg-type]


@dataclass
class Hostile:
    """A runner of somebody else's, which hands back what no runner may, or breaks."""

    outcome: Outcome | Exception
    late: Outcome | None = None
    found: Outcome | None = None
    begun: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, invocation: Invocation) -> Attempt:
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return Attempt(self.outcome, None if self.late is None else self._late(self.late))

    async def _late(self, outcome: Outcome) -> Outcome:
        await checkpoint()
        return outcome

    async def precondition(self, invocation: Invocation) -> Failed | None:
        return None

    async def reconcile(self, invocation: Invocation) -> Outcome | None:
        return self.found

    async def resolve(self, operation: Operation) -> Resource | None:
        return None

    def bind(self, spec: ToolSpec, *, code: object) -> None:
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError


@tool(effect="write", key=["to"], reconcile=lambda: None)
async def send(to: str) -> str:
    """Send something."""
    return to


@asynccontextmanager
async def run_by(path: str, runner: CodeRunner) -> AsyncIterator[Gate]:
    async with opened(path, [send]) as gate:
        runners: Mapping[str, Runner] = gate._world.runners
        assert isinstance(runners, RunnersByKind)
        bound, runners._made["python"] = runners["python"], runner
        try:
            yield gate
        finally:
            runners._made["python"] = bound


async def _send(gate: Gate) -> Observation:
    return await gate.call(ToolCall("c1", "send", {"to": "x"}), principal=ALICE, task="t")


@pytest.mark.requirement("EXEC-5", "CALL-8", "IDEM-4", "BUD-2")
@pytest.mark.parametrize(
    ("outcome", "ends", "again"),
    [
        (Succeeded(b'"sent"', MISLABELLED), "OUTPUT_INVALID", True),
        (Succeeded(b'"sent"', Produced(spent=("a",) * 6)), "OUTPUT_INVALID", True),  # type: ignore[arg-type]
        (Failed(Code.TOOL_ERROR, 5, tool_code="full"), "TOOL_ERROR", True),  # type: ignore[arg-type]
        (Failed(Code.TOOL_ERROR, 5, tool_code="full", nothing_happened=True), "TOOL_ERROR", False),  # type: ignore[arg-type]
        (Unknown(None), "OUTCOME_UNKNOWN", True),  # type: ignore[arg-type]
        (KeyError("the runner"), "OUTCOME_UNKNOWN", True),
    ],
)
async def test_a_call_ends_whatever_its_runner_hands_back(
    outcome: Outcome | Exception, ends: str, again: bool, gate_path: str
) -> None:
    async with run_by(gate_path, Hostile(outcome)) as gate:
        seen = await _send(gate)
        assert code(seen) == ends
        repeat = await _send(gate)
        assert (code(repeat), repeat.replayed) == (ends, again)
        assert {each.state.value for each in await gate._world.recovery.open_calls()} <= {"unknown"}
        assert [each["code"] for each in await records(gate, "call.settled")] == [ends] * (1 if again else 2)


@pytest.mark.requirement("EXEC-1", "EXEC-5")
async def test_what_comes_late_is_on_record_whatever_it_is(gate_path: str) -> None:
    given_up = Failed(Code.TOOL_TIMEOUT, "Too late.")
    async with run_by(gate_path, Hostile(given_up, late=Succeeded(b'"sent"', MISLABELLED))) as gate:
        assert code(await _send(gate)) == "OUTCOME_UNKNOWN"
        await asyncio.wait(gate._executor._tails)
        assert [each["code"] for each in await records(gate, "call.late")] == ["OUTPUT_INVALID"]
        assert [each.orphaned for each in await gate.recovery.unknown(by=ALICE)] == [True]


class Cut(Hostile):
    """When it is cancelled its work goes on, and has ended before anybody comes to hear of it."""

    async def run(self, invocation: Invocation) -> Attempt:
        try:
            self.begun.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended = asyncio.get_running_loop().create_future()
            ended.set_result(self.outcome)
            raise StillRunning(ended) from None
        return Attempt(Unknown("Lost."))


@pytest.mark.requirement("IDEM-3", "EXEC-1")
async def test_work_that_ends_before_its_call_is_settled_is_looked_up_all_the_same(gate_path: str) -> None:
    done = Succeeded(b'"sent"')
    runner = Cut(done, found=done)
    async with run_by(gate_path, runner) as gate:
        call = asyncio.create_task(_send(gate))
        await runner.begun.wait()
        call.cancel()
        await asyncio.wait([call])
        await asyncio.wait(gate._executor._tails)
        assert [each["status"] for each in await records(gate, "call.late")] == ["ok"]
        assert await gate.recovery.unknown(by=ALICE) == ()
        assert (await _send(gate)).replayed


@pytest.mark.requirement("IDEM-4", "EXEC-5")
async def test_a_look_up_that_hands_back_what_it_may_not_leaves_the_call_unknown(gate_path: str) -> None:
    runner = Hostile(Unknown("Lost."), found=Succeeded(b'"sent"', MISLABELLED))
    async with run_by(gate_path, runner) as gate:
        lost = await _send(gate)
        assert code(lost) == "OUTCOME_UNKNOWN"
        assert (await gate.recovery.recover()).unknown == 1
        runner.found = Succeeded(b'"sent"')
        assert code(await gate.recovery.look_up(str(lost.operation_id), by=OPERATOR)) == "ok"
        await used(gate, "calls")
