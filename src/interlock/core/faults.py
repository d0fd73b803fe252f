"""What may honestly be said of a call that did not succeed: failed, or not known, by effect class and fault.

After dispatch a read that fails has failed. Anything else may have happened: unless the tool's contract, or the place
of the failure, says otherwise, it is unknown, and never reported as failed.
"""

from __future__ import annotations

from interlock.core.effect import Effect
from interlock.core.outcome import Failed, Outcome, Unknown
from interlock.core.refusals import Code

SAYS_NOTHING: frozenset[Code] = frozenset(
    {
        Code.TOOL_TIMEOUT,
        Code.TOOL_EXCEPTION,
        Code.TOOL_UNAVAILABLE,
        Code.OUTCOME_UNKNOWN,
    }
)
"""Codes under which an effect may or may not have happened, as under TOOL_ERROR without a declared code."""

TIMED_OUT = Failed(Code.TOOL_TIMEOUT, "The tool did not answer in time.", retryable=True)


def honest(outcome: Outcome, *, effect: Effect) -> Outcome:
    """The outcome of a dispatched call as it may be told, after its last attempt."""
    if not isinstance(outcome, Failed) or outcome.nothing_happened or not effect.is_effect:
        return outcome
    if outcome.code in SAYS_NOTHING or (outcome.code is Code.TOOL_ERROR and not outcome.tool_code):
        return Unknown(outcome.message, outcome.spent if any(outcome.spent) else None, outcome.attempts)
    return outcome
