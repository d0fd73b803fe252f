"""Nothing is started under a lease that does not outlast it."""

import asyncio
from dataclasses import replace

import pytest

from interlock import tool
from interlock.core.outcome import Succeeded
from interlock.core.redaction import Redactor
from interlock.ports import Claim
from interlock.runtime.execute import Executor, Flight
from interlock.runtime.leased import NOT_HELD, Leased, not_held
from tests.execution import LoopClock, invocation_of, operation_of, runner_of
from tests.gates import opened

pytestmark = pytest.mark.requirement("IDEM-5")

CLAIM = Claim("op-1", "acme", 7)


class Leases:
    """A lease that has so long to go, and can be renewed to so long at most."""

    def __init__(self, left_s: float, *, most_s: float = 0.0) -> None:
        self.left_s = left_s
        self.most_s = most_s

    def remaining_s(self, claim: Claim) -> float:
        return self.left_s if claim == CLAIM else 0.0

    async def renew(self, claim: Claim, seconds: float) -> bool:
        self.left_s = max(self.left_s, min(seconds, self.most_s))
        return self.remaining_s(claim) >= seconds


@tool(effect="write", name="save", key=[], timeout_ms=4_000)
async def save() -> str:
    """Save something."""
    ran.append("save")
    return "saved"


@tool(effect="read", name="look", timeout_ms=4_000)
async def look() -> str:
    """Look at something."""
    ran.append("look")
    return "seen"


ran: list[str] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    ran.clear()


async def test_without_a_lease_a_claim_lasts() -> None:
    assert await not_held(None, CLAIM, seconds=1e9) is None


@pytest.mark.parametrize(("left_s", "most_s", "starts"), [(5, 0, True), (3, 5, True), (3, 3.9, False), (-1, 0, False)])
async def test_an_attempt_starts_only_where_the_claim_lasts_or_can_be_renewed(
    left_s: float, most_s: float, *, starts: bool
) -> None:
    runner = Leased(runner_of(save), lease=Leases(left_s, most_s=most_s), claim=CLAIM, clock=LoopClock())
    attempt = await runner.run(invocation_of(save, within_s=4))
    assert isinstance(attempt.outcome, Succeeded) is starts
    assert starts or attempt.outcome == NOT_HELD
    assert ran == ["save"] * starts


@pytest.mark.parametrize(("left_s", "most_s", "starts"), [(1, 0, True), (0, 1, True), (0, 0, False)])
async def test_a_read_needs_a_claim_that_is_its_own_as_it_starts_and_no_longer(
    left_s: float, most_s: float, *, starts: bool
) -> None:
    lease = Leases(left_s, most_s=most_s)
    attempt = await Leased(runner_of(look), lease=lease, claim=CLAIM, clock=LoopClock()).run(
        invocation_of(look, within_s=4)
    )
    assert isinstance(attempt.outcome, Succeeded) is starts
    assert lease.left_s <= 1


async def test_a_claim_that_another_has_is_not_held() -> None:
    assert await not_held(Leases(60, most_s=60), replace(CLAIM, fence=8), seconds=1) == NOT_HELD


@pytest.mark.parametrize(("left_s", "dispatched"), [(5, True), (3, False)])
async def test_a_call_whose_lease_ends_before_its_tool_would_is_never_dispatched(
    left_s: float, *, dispatched: bool
) -> None:
    async with opened(":memory:", [save]) as gate:
        world = replace(gate._world, lease=Leases(left_s))

        async def late(*_: object, **__: object) -> None:
            raise AssertionError("nothing comes late")

        flight = Flight(asyncio.get_running_loop().time() + 60)
        executor = Executor(world, Redactor(), views=gate._views, late=late)
        outcome = await executor.execute(operation_of(save), CLAIM, flight)
    assert (flight.dispatched, ran) == (dispatched, ["save"] * dispatched)
    assert dispatched or outcome == NOT_HELD
