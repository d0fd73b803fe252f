"""What went wrong for others between an attempt and the next: headers misread, limits hammered, siblings lost."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from interlock.core.effect import Effect
from interlock.core.errors import ToolFault
from interlock.core.outcome import Failed, Outcome, Succeeded, Unknown
from interlock.core.refusals import Code
from interlock.core.retry import RETRY_AFTER_MAX_S, parse_retry_after
from interlock.core.tool import ErrorContract
from interlock.declare import tool
from interlock.ports import Attempt, Invocation
from interlock.runtime.attempts import attempt_all
from interlock.runtime.health import Health
from tests.execution import LoopClock, VirtualLoop, invocation_of, passing, runner_of

pytestmark = [pytest.mark.anyio, pytest.mark.trouble]

Case = Callable[[str], Mapping[str, Any]]


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, object]]:
    return "asyncio", {"loop_factory": VirtualLoop}


class Uneven:
    """Randomness that is different each time."""

    def __init__(self) -> None:
        self._next = 0

    def bytes(self, count: int) -> bytes:
        self._next += 37
        return bytes([self._next % 256]) * count


@pytest.mark.requirement("EXEC-2")
def test_ret_01_every_header_is_read_within_bounds_or_as_if_absent(trouble_case: Case) -> None:
    now_us = int(datetime(2026, 10, 21, 7, 27, tzinfo=UTC).timestamp()) * 1_000_000
    read = {each: parse_retry_after(each, now_us=now_us) for each in trouble_case("RET-01")["input"]["headers"]}
    assert read == {
        "Wed, 21 Oct 2026 07:28:00 GMT": 60.0,
        "-5": 0.0,
        "1.5": 2.0,
        "": None,
        "garbage": None,
        "120, 60": None,
        "Fri, 31 Dec 99999 23:59:59 GMT": None,
        "9999999999999999999999999999999999999999": RETRY_AFTER_MAX_S,
    }


@pytest.mark.requirement("EXEC-2")
async def test_ret_02_a_busy_tool_is_neither_hammered_nor_asked_in_step(trouble_case: Case) -> None:
    loop, asked = asyncio.get_running_loop(), []

    @tool(effect="read", errors=[ErrorContract("429", retryable=True)])
    async def fetch(number: int) -> None:
        """Fetch one page by its number."""
        asked.append(loop.time())
        raise ToolFault("429")

    runner, clock, entropy = runner_of(fetch), LoopClock(), Uneven()
    health = Health(clock=clock)

    async def call(number: int) -> Attempt:
        invocation = invocation_of(fetch, {"number": number})
        return await attempt_all(invocation, runner=runner, clock=clock, entropy=entropy, health=health)

    parallel = trouble_case("RET-02")["input"]["parallel"]
    attempts = await asyncio.gather(*map(call, range(parallel)))
    assert all(isinstance(each.outcome, Failed) for each in attempts)
    first, again = asked[:parallel], asked[parallel:]
    assert len(set(again)) == len(again)
    assert all(each >= first[0] + 0.01 for each in again)
    assert len(again) <= parallel
    assert health.unavailable(fetch.spec()) is not None


@pytest.mark.requirement("EXEC-4", "EXEC-5")
async def test_scd_01_one_call_that_cancels_itself_costs_no_sibling_its_result(trouble_case: Case) -> None:
    @tool(effect="read")
    async def act(how: str) -> str:
        """Act as the case says."""
        await passing(1)
        if how != "ok":
            raise asyncio.CancelledError
        return how

    runner, clock = runner_of(act), LoopClock()

    async def call(how: str) -> Outcome:
        invocation = invocation_of(act, {"how": how})
        health = Health(clock=clock)
        return (await attempt_all(invocation, runner=runner, clock=clock, entropy=Uneven(), health=health)).outcome

    outcomes = await asyncio.gather(*[call(each["tool"]) for each in trouble_case("SCD-01")["input"]["parallel"]])
    assert outcomes[0] == outcomes[2] == Succeeded(b'"ok"')
    assert isinstance(outcomes[1], Failed)
    assert outcomes[1].code is Code.TOOL_EXCEPTION
    assert outcomes[1].message


@pytest.mark.requirement("EXEC-2", "IDEM-3")
@pytest.mark.parametrize(("effect", "sent"), [(Effect.WRITE, 1), (Effect.IDEMPOTENT_WRITE, 3)])
async def test_idm_01_a_lost_answer_is_unknown_and_repeated_only_under_a_stable_key(
    trouble_case: Case, effect: Effect, sent: int
) -> None:
    assert trouble_case("IDM-01")["input"]["tool"] == "send_message"
    seen: list[Invocation] = []

    class Lossy:
        """Commits, and loses the answer."""

        async def run(self, invocation: Invocation) -> Attempt:
            seen.append(invocation)
            await passing(1_000)
            return Attempt(Succeeded(b"null"))

        async def precondition(self, invocation: Invocation) -> None: ...
        async def reconcile(self, invocation: Invocation) -> None: ...
        async def resolve(self, operation: object) -> None: ...

    @tool(effect=effect, timeout_ms=30_000)
    async def send_message(text: str) -> None:
        """Send a message to the one who asked."""

    invocation, clock = invocation_of(send_message, {"text": "hello"}, within_s=200), LoopClock()
    attempt = await attempt_all(invocation, runner=Lossy(), clock=clock, entropy=Uneven(), health=Health(clock=clock))
    assert isinstance(attempt.outcome, Unknown)
    assert len(seen) == sent
    assert {each.key for each in seen} == {invocation.key}
    assert invocation.key
