"""Runs an attempt only while its claim is this process's own: where it has an effect, for as long as it may take.

A read that another process takes over does no harm twice. So it takes no longer lease, under which whatever else a
process has would stay out of reach of the others, once it is dead, for as long as its slowest read might have taken.
"""

from __future__ import annotations

from interlock.core.operation import Operation
from interlock.core.outcome import Failed, Outcome
from interlock.core.refusals import Code
from interlock.core.resource import Resource
from interlock.ports import Attempt, Claim, Clock, Invocation, Lease, Runner

NOT_HELD = Failed(
    Code.TOOL_UNAVAILABLE,
    "This process could not make sure that the call is still its own; nothing was started.",
    retryable=True,
    nothing_happened=True,
)


READ_S = 0.1
"""How long a claim to read has to last when it begins: it is this process's own at that moment."""


def outlasts_s(invocation: Invocation, seconds: float) -> float:
    """How long the claim has to last of an attempt that may take so long."""
    return seconds if invocation.operation.tool.spec.effect.is_effect else min(seconds, READ_S)


async def not_held(lease: Lease | None, claim: Claim, *, seconds: float) -> Failed | None:
    """Why nothing may be started that takes so long; None where the claim lasts."""
    if lease is None or lease.remaining_s(claim) >= seconds or await lease.renew(claim, seconds):
        return None
    return NOT_HELD


class Leased:
    """A runner that looks at the lease at the last moment before each attempt: a retry comes late, a process may stand
    still between any two lines."""

    def __init__(self, runner: Runner, *, lease: Lease, claim: Claim, clock: Clock) -> None:
        self._runner = runner
        self._lease = lease
        self._claim = claim
        self._clock = clock

    async def run(self, invocation: Invocation) -> Attempt:
        """One attempt, or none."""
        seconds = outlasts_s(invocation, invocation.deadline_s - self._clock.monotonic_s())
        refused = await not_held(self._lease, self._claim, seconds=seconds)
        return await self._runner.run(invocation) if refused is None else Attempt(refused)

    async def precondition(self, invocation: Invocation) -> Failed | None:
        """As the runner says."""
        return await self._runner.precondition(invocation)

    async def reconcile(self, invocation: Invocation) -> Outcome | None:
        """As the runner says."""
        return await self._runner.reconcile(invocation)

    async def resolve(self, operation: Operation) -> Resource | None:
        """As the runner says."""
        return await self._runner.resolve(operation)
