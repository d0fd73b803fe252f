"""All attempts at one operation come to one honest outcome."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest

from interlock.core.breaker import BreakerRule
from interlock.core.budget import Amounts
from interlock.core.effect import Effect
from interlock.core.errors import ToolFault
from interlock.core.operation import Operation
from interlock.core.outcome import Failed, Outcome, Partial, Succeeded, Unknown
from interlock.core.refusals import Code
from interlock.core.resource import Resource
from interlock.core.tool import ErrorContract, RetryRule
from interlock.declare import Declared, tool
from interlock.ports import Attempt, Invocation, Runner
from interlock.runtime.attempts import attempt_all, tail_of
from interlock.runtime.health import Health
from tests.execution import LoopClock, Steady, VirtualLoop, invocation_of, passing, runner_of
from tests.golden import check_golden

pytestmark = pytest.mark.anyio

OK = Succeeded(b'"ok"')
BUSY = Failed(Code.TOOL_ERROR, "503", retryable=True, spent=Amounts(tokens=5))


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, object]]:
    return "asyncio", {"loop_factory": VirtualLoop}


@dataclass
class Scripted:
    """A runner whose attempts end as the script says; an awaitable step is awaited first."""

    script: list[Outcome | Callable[[], Awaitable[Outcome]]]
    seen: list[Invocation] = field(default_factory=list)
    condition: Failed | None = None
    conditions: int = 0

    async def run(self, invocation: Invocation) -> Attempt:
        self.seen.append(invocation)
        step = self.script.pop(0)
        return Attempt(await step() if callable(step) else step)

    async def precondition(self, invocation: Invocation) -> Failed | None:
        self.conditions += 1
        return self.condition

    async def reconcile(self, invocation: Invocation) -> Outcome | None:
        return None

    async def resolve(self, operation: Operation) -> Resource | None:
        return None


def tool_of(effect: Effect, *, timeout_ms: int = 1_000, condition: bool = False) -> Declared[..., object]:
    async def act(word: str) -> str:
        """Act on a word."""
        return word

    declare = tool(effect=effect, timeout_ms=timeout_ms, retry=RetryRule(attempts=3, backoff_ms=100))
    if condition:
        declare = tool(effect=effect, timeout_ms=timeout_ms, precondition=act)
    return declare(act)


async def ran(runner: Runner, invocation: Invocation, *, health: Health | None = None) -> Attempt:
    clock = LoopClock()
    return await attempt_all(
        invocation, runner=runner, clock=clock, entropy=Steady(), health=health or Health(clock=clock)
    )


async def never() -> Outcome:
    await passing(1_000_000)
    return OK


async def test_a_first_attempt_that_succeeds_is_all() -> None:
    runner = Scripted([OK])
    assert await ran(runner, invocation_of(tool_of(Effect.WRITE), {"word": "x"})) == Attempt(OK)


@pytest.mark.requirement("EXEC-2")
@pytest.mark.parametrize("effect", [Effect.READ, Effect.IDEMPOTENT_WRITE])
async def test_transient_faults_of_repeatable_calls_are_tried_again_under_the_same_key(effect: Effect) -> None:
    runner, start_s = Scripted([BUSY, BUSY, OK]), asyncio.get_running_loop().time()
    invocation = invocation_of(tool_of(effect), {"word": "x"})
    attempt = await ran(runner, invocation)
    assert attempt.outcome == Succeeded(b'"ok"', attempts=3)
    assert [each.attempt for each in runner.seen] == [1, 2, 3]
    assert {(each.key, each.operation_id, each.fence) for each in runner.seen} == {(invocation.key, "op-1", 7)}
    assert 0.15 < asyncio.get_running_loop().time() - start_s < 0.3


@pytest.mark.requirement("EXEC-2", "IDEM-3")
@pytest.mark.parametrize("effect", [Effect.WRITE, Effect.DESTRUCTIVE])
async def test_an_effect_that_may_not_be_repeated_is_attempted_once(effect: Effect) -> None:
    runner = Scripted([BUSY, OK])
    attempt = await ran(runner, invocation_of(tool_of(effect), {"word": "x"}))
    assert attempt.outcome == Unknown("503", Amounts(tokens=5))
    assert len(runner.seen) == 1


@pytest.mark.requirement("EXEC-2")
async def test_the_cost_of_all_attempts_is_told_when_they_run_out() -> None:
    attempt = await ran(Scripted([BUSY, BUSY, BUSY]), invocation_of(tool_of(Effect.READ), {"word": "x"}))
    assert attempt.outcome == Failed(Code.TOOL_ERROR, "503", retryable=True, spent=Amounts(tokens=15), attempts=3)


async def test_a_partial_result_is_an_answer() -> None:
    runner = Scripted([BUSY, Partial(b"[]", ("a",))])
    attempt = await ran(runner, invocation_of(tool_of(Effect.READ), {"word": "x"}))
    assert attempt.outcome == Partial(b"[]", ("a",), attempts=2)


@pytest.mark.requirement("EXEC-1")
async def test_each_attempt_has_its_timeout_and_all_share_one_deadline() -> None:
    runner, start_s = Scripted([never, never, never, never]), asyncio.get_running_loop().time()
    attempt = await ran(runner, invocation_of(tool_of(Effect.READ), {"word": "x"}, within_s=1.5))
    assert attempt.outcome == Failed(Code.TOOL_TIMEOUT, "The tool did not answer in time.", retryable=True, attempts=2)
    assert asyncio.get_running_loop().time() - start_s == pytest.approx(1.5)
    assert runner.seen[0].deadline_s == start_s + 1
    assert runner.seen[1].deadline_s == start_s + 1.5


@pytest.mark.requirement("EXEC-2")
async def test_a_wait_beyond_the_deadline_is_told_instead_of_waited() -> None:
    later = Failed(Code.TOOL_ERROR, "429", retryable=True, retry_after_s=300.0)
    runner, start_s = Scripted([later, OK]), asyncio.get_running_loop().time()
    attempt = await ran(runner, invocation_of(tool_of(Effect.READ), {"word": "x"}))
    assert attempt.outcome == later
    assert asyncio.get_running_loop().time() == start_s


@pytest.mark.requirement("EXEC-1")
async def test_nothing_is_started_after_the_deadline() -> None:
    runner = Scripted([OK])
    attempt = await ran(runner, invocation_of(tool_of(Effect.WRITE), {"word": "x"}, within_s=0))
    assert isinstance(attempt.outcome, Failed)
    assert (attempt.outcome.code, attempt.outcome.nothing_happened) == (Code.DEADLINE_EXCEEDED, True)
    assert runner.seen == []


async def test_an_open_breaker_refuses_with_a_time_and_nothing_runs() -> None:
    health = Health(clock=LoopClock(), rule=BreakerRule(failures_max=2, rest_s=10.0))
    runner, invocation = Scripted([BUSY, BUSY, OK]), invocation_of(tool_of(Effect.READ), {"word": "x"})
    assert isinstance((await ran(runner, invocation, health=health)).outcome, Failed)
    assert len(runner.seen) == 2
    refused = (await ran(runner, invocation, health=health)).outcome
    assert isinstance(refused, Failed)
    assert (refused.code, refused.nothing_happened) == (Code.TOOL_UNAVAILABLE, True)
    assert refused.retry_after_s == pytest.approx(10.0)
    await passing(10)
    assert (await ran(runner, invocation, health=health)).outcome == OK
    assert health.unavailable(invocation.operation.spec) is None


@pytest.mark.requirement("TOOL-8")
async def test_a_precondition_that_does_not_hold_refuses_and_nothing_runs() -> None:
    stale = Failed(Code.PRECONDITION_FAILED, "The draft has changed.", nothing_happened=True)
    runner = Scripted([OK], condition=stale)
    invocation = invocation_of(tool_of(Effect.WRITE, condition=True), {"word": "x"})
    assert (await ran(runner, invocation)).outcome == stale
    assert runner.seen == []
    runner.condition = None
    assert (await ran(runner, invocation)).outcome == OK
    assert runner.conditions == 2


@pytest.mark.requirement("EXEC-1", "IDEM-3")
async def test_work_that_will_not_stop_is_not_started_again_and_its_late_outcome_is_the_tail() -> None:
    async def stubborn() -> Outcome:
        for _ in range(3):
            with contextlib.suppress(asyncio.CancelledError):
                await passing(100)
        return OK

    runner = Scripted([stubborn, OK])
    attempt = await ran(runner, invocation_of(tool_of(Effect.IDEMPOTENT_WRITE), {"word": "x"}))
    assert isinstance(attempt.outcome, Unknown)
    assert attempt.tail is not None
    assert await attempt.tail == OK
    assert len(runner.seen) == 1


@pytest.mark.requirement("IDEM-3")
async def test_no_later_failure_proves_that_an_earlier_attempt_in_doubt_did_nothing() -> None:
    lost = Failed(Code.TOOL_EXCEPTION, "reset", retryable=True)
    gone = Failed(Code.TOOL_UNAVAILABLE, "refused", nothing_happened=True)
    invocation = invocation_of(tool_of(Effect.IDEMPOTENT_WRITE), {"word": "x"})
    assert isinstance((await ran(Scripted([lost, gone]), invocation)).outcome, Unknown)
    assert (await ran(Scripted([gone]), invocation)).outcome == gone
    assert (await ran(Scripted([lost, OK]), invocation)).outcome == Succeeded(b'"ok"', attempts=2)


async def test_a_cancellation_gets_out_and_stops_the_attempt() -> None:
    runner = Scripted([never])
    invocation = invocation_of(tool_of(Effect.WRITE), {"word": "x"})
    task = asyncio.create_task(ran(runner, invocation))
    await passing(0.5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as cancelled:
        await task
    assert tail_of(cancelled.value) is None


CONTRACT = (
    ErrorContract("NOT_FOUND"),
    ErrorContract("BUSY", retryable=True),
    ErrorContract("STALE", nothing_happened=True),
)


def faults() -> dict[str, Callable[[], Awaitable[object]]]:
    """Everything that a handler may do, by name."""

    def raising(fault: BaseException) -> Callable[[], Awaitable[object]]:
        async def act() -> object:
            raise fault

        return act

    def giving(value: object) -> Callable[[], Awaitable[object]]:
        async def act() -> object:
            return value

        return act

    return {
        "returns": giving("ok"),
        "returns NaN": giving(float("nan")),
        "returns an object": giving(object()),
        "does not answer": never,
        "raises KeyError": raising(KeyError("x")),
        "raises ConnectionResetError": raising(ConnectionResetError()),
        "raises TimeoutError": raising(TimeoutError()),
        "raises SystemExit": raising(SystemExit(1)),
        "raises CancelledError itself": raising(asyncio.CancelledError()),
        "reports a declared error": raising(ToolFault("NOT_FOUND")),
        "reports a declared retryable error": raising(ToolFault("BUSY")),
        "reports that nothing happened": raising(ToolFault("STALE")),
        "reports an undeclared error": raising(ToolFault("OTHER")),
    }


@pytest.mark.requirement("EXEC-2", "EXEC-5", "IDEM-3")
async def test_what_each_fault_of_each_effect_comes_to_is_the_golden_table() -> None:
    rows = [
        f"{name:36}{effect.value:18}{_told(await _outcome(act, effect))}"
        for name, act in faults().items()
        for effect in Effect
    ]
    check_golden("outcomes.txt", "\n".join([*rows, ""]))


async def _outcome(act: Callable[[], Awaitable[object]], effect: Effect) -> Outcome:
    @tool(effect=effect, timeout_ms=100, retry=RetryRule(attempts=2), errors=CONTRACT)
    async def handler(word: str) -> object:
        """Do it."""
        return await act()

    return (await ran(runner_of(handler), invocation_of(handler, {"word": "x"}))).outcome


def _told(outcome: Outcome) -> str:
    kind, attempts = type(outcome).__name__, f"attempts={outcome.attempts}"
    if isinstance(outcome, Failed):
        proof = " nothing_happened" if outcome.nothing_happened else ""
        return f"{kind:10}{attempts}  {outcome.code.value} {outcome.tool_code}".rstrip() + proof
    return f"{kind:10}{attempts}"
