"""The circuit breaker as a table of states: after failures in a row a tool rests, then one call probes it.

    CLOSED     --`failures_max` failures in a row-->  OPEN
    OPEN       --its rest is over, a call asks----->  HALF_OPEN (that call is the probe)
    HALF_OPEN  --the probe succeeds---------------->  CLOSED
    HALF_OPEN  --the probe fails------------------->  OPEN, with a rest twice as long

A probe that never reports counts as lost after one rest, and the next call probes. Only faults of reach count
(timeouts, resets, overload), not a tool's own errors: else one caller's bad arguments would close it for everybody.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from interlock.core.frozen import frozen
from interlock.core.outcome import Failed, Outcome, Unknown
from interlock.core.refusals import Code


class BreakerState(StrEnum):
    """Whether calls pass."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


@frozen
class BreakerRule:
    """Five failures in a row open it; the first rest is 10 s, the longest five minutes."""

    failures_max: int = 5
    rest_s: float = 10.0
    rest_max_s: float = 300.0


@frozen
class Breaker:
    """`until_s` ends the rest (or the wait for a probe); `rest_s` is how long the last rest was."""

    state: BreakerState = BreakerState.CLOSED
    failures: int = 0
    rest_s: float = 0.0
    until_s: float = 0.0

    def asked(self, now_s: float) -> tuple[Breaker, float | None]:
        """A call wants to pass: the state that follows, and seconds to wait where it may not pass."""
        if self.state is BreakerState.CLOSED:
            return self, None
        if now_s < self.until_s:
            return self, self.until_s - now_s
        return replace(self, state=BreakerState.HALF_OPEN, until_s=now_s + self.rest_s), None

    def succeeded(self) -> Breaker:
        """A call reached the tool and came back."""
        return CLOSED

    def failed(self, now_s: float, rule: BreakerRule) -> Breaker:
        """A call did not reach the tool, or never came back."""
        failures = self.failures + 1
        if self.state is BreakerState.CLOSED and failures < rule.failures_max:
            return replace(self, failures=failures)
        if self.state is BreakerState.OPEN:
            return self
        rest_s = min(max(self.rest_s * 2, rule.rest_s), rule.rest_max_s)
        return Breaker(BreakerState.OPEN, failures, rest_s, now_s + rest_s)


CLOSED = Breaker()


def counts_as_failure(outcome: Outcome) -> bool:
    """Whether an attempt says that the tool cannot be reached."""
    if isinstance(outcome, Unknown):
        return True
    return isinstance(outcome, Failed) and (outcome.code is Code.TOOL_TIMEOUT or outcome.retryable)
