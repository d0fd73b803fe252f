"""The closed set of codes, and for each what every door and every model is told: one table, one row a code."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from interlock.core.frozen import frozen


class Code(StrEnum):
    """Why a call did not simply succeed."""

    INVALID_JSON = "INVALID_JSON"
    TOOL_NOT_FOUND = "TOOL_NOT_FOUND"
    TOOL_NOT_ALLOWED = "TOOL_NOT_ALLOWED"
    TOOL_FROZEN = "TOOL_FROZEN"
    TOOL_RETIRED = "TOOL_RETIRED"
    TOOL_QUARANTINED = "TOOL_QUARANTINED"
    TOOL_ARGUMENT_INVALID = "TOOL_ARGUMENT_INVALID"
    CONTEXT_MISSING = "CONTEXT_MISSING"
    PERMISSION_DENIED = "PERMISSION_DENIED"
    APPROVAL_REQUIRED = "APPROVAL_REQUIRED"
    APPROVAL_DENIED = "APPROVAL_DENIED"
    APPROVAL_EXPIRED = "APPROVAL_EXPIRED"
    APPROVAL_MISMATCH = "APPROVAL_MISMATCH"
    BUDGET_EXHAUSTED = "BUDGET_EXHAUSTED"
    RATE_LIMITED = "RATE_LIMITED"
    REPEATED_CALL = "REPEATED_CALL"
    IDEMPOTENCY_REQUIRED = "IDEMPOTENCY_REQUIRED"
    IDEMPOTENCY_CONFLICT = "IDEMPOTENCY_CONFLICT"
    IDEMPOTENCY_IN_PROGRESS = "IDEMPOTENCY_IN_PROGRESS"
    PRECONDITION_FAILED = "PRECONDITION_FAILED"
    DEPENDENCY_NOT_MET = "DEPENDENCY_NOT_MET"
    DEADLINE_EXCEEDED = "DEADLINE_EXCEEDED"
    RUN_ENDED = "RUN_ENDED"
    CANCELLED = "CANCELLED"
    CONTENDED = "CONTENDED"
    TOOL_UNAVAILABLE = "TOOL_UNAVAILABLE"
    TOOL_TIMEOUT = "TOOL_TIMEOUT"
    TOOL_ERROR = "TOOL_ERROR"
    TOOL_EXCEPTION = "TOOL_EXCEPTION"
    OUTPUT_INVALID = "OUTPUT_INVALID"
    OUTCOME_UNKNOWN = "OUTCOME_UNKNOWN"


@frozen
class Row:
    """What is said of one code.

    `http` is the status a door answers with, `says` the text for a model or MCP client, `next_step` what the model
    should do now, `user` what a person may be told, `retryable` whether the same proposal may work later, and
    `synonyms` the names that published descriptions of such systems use.
    """

    http: int
    says: str
    next_step: str
    user: str
    retryable: bool = False
    synonyms: tuple[str, ...] = ()


REFUSALS: Mapping[Code, Row] = {
    Code.INVALID_JSON: Row(
        400,
        "The arguments are not one complete JSON value.",
        "Send the arguments again as one complete JSON object.",
        "The request was malformed; nothing was done.",
        synonyms=("INVALID_ARGS_JSON", "MALFORMED_ARGUMENTS"),
    ),
    Code.TOOL_NOT_FOUND: Row(
        404,
        "There is no tool of this name.",
        "Use one of the tools that you were given, by its exact name.",
        "There is no such tool; nothing was done.",
        synonyms=("UNKNOWN_TOOL", "NO_SUCH_TOOL"),
    ),
    Code.TOOL_NOT_ALLOWED: Row(
        403,
        "This tool is not available in this session.",
        "Use another of the tools that you were given.",
        "This tool is not available here; nothing was done.",
        synonyms=("TOOL_NOT_EXPOSED",),
    ),
    Code.TOOL_FROZEN: Row(
        423,
        "This tool is frozen by its operator.",
        "Do not call it again; tell the user that it is stopped for now.",
        "This tool is stopped for now; nothing was done.",
    ),
    Code.TOOL_RETIRED: Row(
        410,
        "This tool is retired.",
        "Use its replacement where one is named.",
        "This tool is no longer offered; nothing was done.",
    ),
    Code.TOOL_QUARANTINED: Row(
        423,
        "This tool is held back for review.",
        "Do not call it again; tell the user that it is under review.",
        "This tool is under review; nothing was done.",
    ),
    Code.TOOL_ARGUMENT_INVALID: Row(
        422,
        "The arguments do not fit the tool's schema.",
        "Correct the named arguments and call again.",
        "The request did not fit the tool; nothing was done.",
        synonyms=("INVALID_ARGS", "SCHEMA_VIOLATION"),
    ),
    Code.CONTEXT_MISSING: Row(
        400,
        "The session lacks a value that this tool takes from it.",
        "Do not supply it yourself; tell the user which value is missing.",
        "A value that the session should carry is missing; nothing was done.",
    ),
    Code.PERMISSION_DENIED: Row(
        403,
        "Policy does not allow this operation.",
        "Do not try it in another form; tell the user that it is not allowed.",
        "This is not allowed; nothing was done.",
        synonyms=("FORBIDDEN", "UNAUTHORIZED", "POLICY_DENIED"),
    ),
    Code.APPROVAL_REQUIRED: Row(
        202,
        "A person must approve this operation before it runs. Nothing has been done yet.",
        "Go on with other work or wait; the stored operation runs once it is approved.",
        "This waits for approval; nothing has been done yet.",
        synonyms=("CONFIRMATION_REQUIRED",),
    ),
    Code.APPROVAL_DENIED: Row(
        403,
        "A person declined this operation.",
        "Do not propose it again in this run.",
        "This was declined; nothing was done.",
    ),
    Code.APPROVAL_EXPIRED: Row(
        410,
        "The approval expired before it was used.",
        "Propose the operation again if it is still wanted.",
        "The approval expired; nothing was done.",
    ),
    Code.APPROVAL_MISMATCH: Row(
        409,
        "The approval was given for something else.",
        "Propose the operation again; it needs an approval of its own.",
        "The approval does not fit this operation; nothing was done.",
    ),
    Code.BUDGET_EXHAUSTED: Row(
        429,
        "A budget is used up.",
        "Finish with what you have and say what is left undone.",
        "The budget is used up; nothing was done.",
        synonyms=("QUOTA_EXCEEDED", "LIMIT_EXCEEDED"),
    ),
    Code.RATE_LIMITED: Row(
        429,
        "Too many calls at this moment.",
        "Wait for the time given, then call again.",
        "Too many requests just now; nothing was done.",
        retryable=True,
        synonyms=("TOO_MANY_REQUESTS",),
    ),
    Code.REPEATED_CALL: Row(
        409,
        "The same call has been made too often in this run.",
        "Do something else; repeating it brings nothing new.",
        "The same step was repeated too often; nothing was done.",
        synonyms=("LOOP_DETECTED",),
    ),
    Code.IDEMPOTENCY_REQUIRED: Row(
        400,
        "An effect outside a run needs a business task or an idempotency key.",
        "The caller must supply a task or a key.",
        "The request lacks an idempotency key; nothing was done.",
        synonyms=("MISSING_IDEMPOTENCY_KEY",),
    ),
    Code.IDEMPOTENCY_CONFLICT: Row(
        409,
        "The same key was used before with other arguments.",
        "Use the earlier result, or ask the user whether this is meant to be a new operation.",
        "This differs from what was requested before under the same key; nothing was done.",
        synonyms=("KEY_REUSED",),
    ),
    Code.IDEMPOTENCY_IN_PROGRESS: Row(
        409,
        "The same operation is running now.",
        "Wait for the time given, then call again for its result.",
        "The same request is still being worked on.",
        retryable=True,
        synonyms=("DUPLICATE_IN_FLIGHT",),
    ),
    Code.PRECONDITION_FAILED: Row(
        412,
        "A business condition of the tool does not hold. Nothing was done.",
        "Look at the present state, then decide anew.",
        "The present state does not permit this; nothing was done.",
    ),
    Code.DEPENDENCY_NOT_MET: Row(
        424,
        "A call that this one depends on has not succeeded.",
        "Propose it again after the earlier call has succeeded.",
        "An earlier step is not done; nothing was done here.",
    ),
    Code.DEADLINE_EXCEEDED: Row(
        504,
        "The deadline passed before the call was started.",
        "Propose it again if there is still time.",
        "There was no time left; nothing was done.",
        retryable=True,
    ),
    Code.RUN_ENDED: Row(
        409,
        "The run has ended.",
        "Stop; nothing more can be called in this run.",
        "The run has ended; nothing was done.",
    ),
    Code.CANCELLED: Row(
        499,
        "The call was cancelled before anything ran.",
        "Propose it again only if it is still wanted.",
        "This was cancelled; nothing was done.",
    ),
    Code.CONTENDED: Row(
        503,
        "What the call depends on kept changing.",
        "Call again in a moment.",
        "The system was busy; nothing was done.",
        retryable=True,
    ),
    Code.TOOL_UNAVAILABLE: Row(
        503,
        "The tool does not work at present.",
        "Try again later, after the time given if there is one, or use another tool.",
        "The tool is not available at present.",
        retryable=True,
        synonyms=("CIRCUIT_OPEN",),
    ),
    Code.TOOL_TIMEOUT: Row(
        504,
        "The tool did not answer in time.",
        "Try again later or with a smaller request.",
        "The tool took too long.",
        retryable=True,
    ),
    Code.TOOL_ERROR: Row(
        502, "The tool reported an error.", "Read the error and decide what to do.", "The tool reported an error."
    ),
    Code.TOOL_EXCEPTION: Row(
        500,
        "The tool failed unexpectedly.",
        "Do not repeat the same call; use another way or tell the user.",
        "The tool failed.",
        synonyms=("INTERNAL_ERROR", "EXECUTION_ERROR"),
    ),
    Code.OUTPUT_INVALID: Row(
        502,
        "The tool ran, but its result does not have the promised form and is withheld.",
        "Do not call it again: it has been executed.",
        "This was executed, but its result cannot be shown.",
    ),
    Code.OUTCOME_UNKNOWN: Row(
        502,
        "It is not known whether the operation happened.",
        "Do not repeat it. Say that it is not known whether it happened.",
        "It is not yet known whether this happened.",
        synonyms=("UNKNOWN_OUTCOME", "INDETERMINATE"),
    ),
}

AFTER_DISPATCH = frozenset(
    {
        Code.TOOL_UNAVAILABLE,
        Code.TOOL_TIMEOUT,
        Code.TOOL_ERROR,
        Code.TOOL_EXCEPTION,
        Code.OUTPUT_INVALID,
        Code.OUTCOME_UNKNOWN,
    }
)
"""Codes that a tool's execution ends with, whether or not anything happened."""

BEFORE_DISPATCH = frozenset(Code) - AFTER_DISPATCH
"""Codes that prove that nothing ran."""
