"""What a status of a gRPC call came to: a declared error, a fault that passes, or an honest "not known"."""

from __future__ import annotations

from interlock.core.errors import SpecInvalid
from interlock.core.faults import TIMED_OUT
from interlock.core.frozen import frozen
from interlock.core.grpc_call import STATUSES, GrpcCode, LookUpCall
from interlock.core.outcome import Failed
from interlock.core.refusals import Code
from interlock.core.retry import RETRY_AFTER_MAX_S
from interlock.core.tool import ToolSpec

TRANSIENT = frozenset({"UNAVAILABLE", "RESOURCE_EXHAUSTED"})
"""Statuses after which a repeatable call may be tried again."""


@frozen
class Ended:
    """A call that the server ended with another status than OK; `retry_after_s` is how long it asks to wait."""

    status: str
    retry_after_s: float | None = None


def outcome_of(ended: Ended, *, spec: ToolSpec, code: GrpcCode) -> Failed:
    """The outcome of one attempt. What an undeclared status means for an effect nobody knows: `honest` says so."""
    contract = code.status(ended.status)
    said = f"{spec.name} answered with status {ended.status}."
    if contract is not None:
        return Failed(
            Code.TOOL_ERROR,
            contract.description or said,
            tool_code=contract.code,
            retryable=contract.retryable,
            retry_after_s=ended.retry_after_s,
            nothing_happened=contract.nothing_happened,
        )
    if ended.status == "DEADLINE_EXCEEDED":
        return TIMED_OUT
    if ended.status in TRANSIENT:
        return Failed(Code.TOOL_UNAVAILABLE, said, retryable=True, retry_after_s=ended.retry_after_s)
    return Failed(Code.TOOL_ERROR, said)


def not_happened(ended: Ended, *, look_up: LookUpCall) -> Failed | None:
    """That it did not happen, where the tool declares that this status of its look-up proves it."""
    if ended.status not in look_up.not_happened:
        return None
    return Failed(Code.TOOL_ERROR, "It did not happen.", nothing_happened=True)


def waited_s(seconds: float) -> float:
    """What a server asks to wait, within a day."""
    return min(max(0.0, seconds), RETRY_AFTER_MAX_S)


def read_status(name: str) -> str:
    """A status that is not OK, by its name. Raises `SpecInvalid`."""
    if name not in STATUSES or name == STATUSES[0]:
        raise SpecInvalid(f"{name!r} is no status that a call fails with; they are {', '.join(STATUSES[1:])}")
    return name
