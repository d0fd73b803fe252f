"""By which way through the table of calls a call came to the end that its observation tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from interlock.core.observation import Observation, Status
from interlock.core.refusals import AFTER_DISPATCH, Code
from interlock.loop.machine import CALL, CallCause, CallStage

CallPath = tuple[CallCause, ...]

_FITS: Final[CallPath] = (CallCause.FITS,)
_ALLOWED: Final[CallPath] = (*_FITS, CallCause.ALLOWED)
_RUN: Final[CallPath] = (*_ALLOWED, CallCause.CLAIMED)
_ASKED: Final[CallPath] = (*_FITS, CallCause.ASKED)
_ANSWERED: Final[CallPath] = (*_ASKED, CallCause.DECIDED)

_BEFORE: Final[CallPath] = (CallCause.REFUSED,)
_JUDGED: Final[CallPath] = (*_FITS, CallCause.REFUSED)
_ENDED: Final[CallPath] = (*_RUN, CallCause.ENDED)
_FAILED: Final[CallPath] = (*_RUN, CallCause.FAILED)

BY_CODE: Final[Mapping[Code, CallPath]] = {
    Code.INVALID_JSON: _BEFORE,
    Code.TOOL_NOT_FOUND: _BEFORE,
    Code.TOOL_NOT_ALLOWED: _BEFORE,
    Code.TOOL_FROZEN: _BEFORE,
    Code.TOOL_RETIRED: _BEFORE,
    Code.TOOL_QUARANTINED: _BEFORE,
    Code.TOOL_ARGUMENT_INVALID: _BEFORE,
    Code.CONTEXT_MISSING: _BEFORE,
    Code.DEPENDENCY_NOT_MET: _BEFORE,
    Code.CANCELLED: _BEFORE,
    Code.PERMISSION_DENIED: _JUDGED,
    Code.BUDGET_EXHAUSTED: _JUDGED,
    Code.RATE_LIMITED: _JUDGED,
    Code.REPEATED_CALL: _JUDGED,
    Code.IDEMPOTENCY_REQUIRED: _JUDGED,
    Code.IDEMPOTENCY_CONFLICT: _JUDGED,
    Code.IDEMPOTENCY_IN_PROGRESS: _JUDGED,
    Code.DEADLINE_EXCEEDED: _JUDGED,
    Code.RUN_ENDED: _JUDGED,
    Code.APPROVAL_REQUIRED: _ASKED,
    Code.APPROVAL_DENIED: (*_ANSWERED, CallCause.REFUSED),
    Code.APPROVAL_EXPIRED: (*_ANSWERED, CallCause.REFUSED),
    Code.APPROVAL_MISMATCH: (*_ANSWERED, CallCause.REFUSED),
    Code.CONTENDED: (*_ALLOWED, CallCause.REFUSED),
    Code.PRECONDITION_FAILED: _FAILED,
} | dict.fromkeys(AFTER_DISPATCH, _FAILED)
"""The way to each code. One that can be told at several stages stands at the earliest at which it can be."""


def path_of(seen: Observation) -> CallPath:
    """What moved a call that ended, or stands, so: from VALIDATE on, in order."""
    if seen.replayed:
        return (*_FITS, CallCause.REPLAYED)
    if seen.status is Status.WAITING:
        return _ASKED
    if seen.error is not None and seen.status in (Status.REFUSED, Status.FAILED, Status.UNKNOWN):
        return BY_CODE[seen.error.code]
    return _ENDED


def stage_of(seen: Observation) -> CallStage:
    """Where a call stands by its observation."""
    stage = CallStage.VALIDATE
    for cause in path_of(seen):
        stage = CALL[stage][cause]
    return stage
