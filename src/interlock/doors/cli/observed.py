"""Shows an observation at the command line: how the call stands, what it gave, what to do next, an exit code."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping

from interlock.core.observation import Observation, Status
from interlock.core.refusals import Code
from interlock.doors.cli.answer import DONE, REFUSED, Answer
from interlock.doors.cli.shown import fields, moment, pretty, visible

WAITING, FAILED, UNKNOWN = 4, 5, 6

EXIT_CODES: Mapping[Status, int] = {
    Status.OK: DONE,
    Status.PARTIAL: FAILED,
    Status.ACCEPTED: WAITING,
    Status.REFUSED: REFUSED,
    Status.WAITING: WAITING,
    Status.FAILED: FAILED,
    Status.UNKNOWN: UNKNOWN,
    Status.COMPENSATING: WAITING,
    Status.COMPENSATED: FAILED,
    Status.COMPENSATION_FAILED: FAILED,
}

_NEXT: Mapping[Code, Callable[[Observation], str]] = {
    Code.TOOL_NOT_FOUND: lambda _: "`interlock tools list` shows what there is.",
    Code.TOOL_ARGUMENT_INVALID: lambda seen: f"`interlock tools show {_word(seen.tool)}` shows its arguments.",
    Code.INVALID_JSON: lambda _: 'Give the arguments as one JSON object in single quotes, such as \'{"id": "a1"}\'.',
    Code.PERMISSION_DENIED: lambda seen: f"`interlock policy explain {_word(seen.tool)} ARGUMENTS` shows why.",
    Code.TOOL_FROZEN: lambda seen: f"`interlock tools release {_word(seen.tool)}` opens it again.",
    Code.IDEMPOTENCY_REQUIRED: lambda _: "Say what it is for, with --task NAME or --key KEY: then it happens once.",
    Code.IDEMPOTENCY_CONFLICT: lambda _: "Give another --task or --key if this is meant to be a new operation.",
    Code.APPROVAL_REQUIRED: lambda seen: f"`interlock approvals approve {seen.approval_id} --as ID --run`.",
    Code.BUDGET_EXHAUSTED: lambda _: "`interlock usage` shows what was spent; [[limits]] says how much may be.",
    Code.OUTCOME_UNKNOWN: lambda _: (
        "Do not repeat it: `interlock recover` looks it up, `interlock calls close` settles it."
    ),
}


def answer_of(seen: Observation) -> Answer:
    """The observation as a verb's answer."""
    step = next_step(seen)
    document = seen.to_json()
    error = document["error"]
    if isinstance(error, dict):
        document["error"] = {**error, "next": step}
    return Answer(document, text_of(seen, step), EXIT_CODES[seen.status])


def next_step(seen: Observation) -> str:
    """What a person at the command line may do now; empty where nothing is left to do."""
    if seen.error is None:
        return ""
    said = _NEXT.get(seen.error.code)
    return seen.hint if said is None else said(seen)


def text_of(seen: Observation, step: str) -> str:
    """The observation for people."""
    error = seen.error
    head = seen.status.value.upper() + (" (replayed: it had been done before)" if seen.replayed else "")
    parts = [
        fields(
            [
                (seen.tool, head),
                ("Code", None if error is None else error.code.value),
                ("Why", None if error is None else error.message),
                ("Resource", seen.resource),
                ("Operation", seen.operation_id),
                ("Approval", seen.approval_id),
                ("Expires", moment(seen.expires_at_us)),
                ("Executed", moment(seen.executed_at_us)),
                ("Shortened", None if seen.truncated is None else f"the whole result has {seen.truncated} bytes"),
                ("Open", seen.open_items),
            ]
        ),
        pretty(dict(error.details)) if error is not None and error.details else "",
        "" if seen.data_json is None else pretty(seen.data),
        f"Next: {visible(step)}" if step else "",
    ]
    return "\n".join(part for part in parts if part)


def _word(text: str) -> str:
    return shlex.quote(text)
