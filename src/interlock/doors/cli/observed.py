"""Shows an observation at the command line: how the call stands, what it gave, what to do next, an exit code."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.core.observation import Observation, Problem, Status
from interlock.core.refusals import Code
from interlock.doors.cli.answer import DONE, REFUSED, Answer
from interlock.doors.cli.shown import fields, moment, pretty, visible
from interlock.doors.cli.steps import either, step_after_json, step_after_silence, step_for, step_to_nearest

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
_DONE_BEFORE = "replayed: it had been done before"
_REPLAYED: Mapping[Status, str] = {
    Status.UNKNOWN: "replayed: nothing ran again",
    Status.FAILED: "replayed: it had been tried before",
}
_SAID = frozenset({"validation_errors", "nearest", "changed", "state"})


def answer_of(seen: Observation, *, step: str | None = None) -> Answer:
    """The observation as a verb's answer, with the next step where it is another than that of its code."""
    step = next_step(seen) if step is None else step
    document = seen.to_json()
    error = document["error"]
    if isinstance(error, dict):
        document["error"] = {**error, "next": step}
    return Answer(document, text_of(seen, step), EXIT_CODES[seen.status])


def next_step(seen: Observation) -> str:
    """What a person at the command line may do now; empty where nothing is left to do."""
    error = seen.error
    if error is None:
        return ""
    if error.code is Code.INVALID_JSON:
        return step_after_json(error.message)
    if error.code is Code.TOOL_UNAVAILABLE:
        return step_after_silence(error.message)
    if error.code is Code.APPROVAL_REQUIRED and error.details.get("state") == "granted":
        return f"`interlock approvals resume {seen.approval_id}`."
    near = _near(error)
    if error.code is Code.TOOL_NOT_FOUND and near:
        return step_to_nearest(near[0])
    return step_for(error.code, tool=seen.tool, approval=seen.approval_id)


def text_of(seen: Observation, step: str) -> str:
    """The observation for people."""
    error = seen.error
    head = seen.status.value.upper() + (f" ({_REPLAYED.get(seen.status, _DONE_BEFORE)})" if seen.replayed else "")
    parts = [
        fields(
            [
                (seen.tool, head),
                ("Code", None if error is None else error.code.value),
                ("Why", None if error is None else error.message),
                ("Also", None if error is None else _more(error)),
                ("Resource", seen.resource),
                ("Operation", seen.operation_id),
                ("Approval", seen.approval_id),
                ("Expires", moment(seen.expires_at_us)),
                ("Executed", moment(seen.executed_at_us)),
                ("Shortened", None if seen.truncated is None else f"the whole result has {seen.truncated} bytes"),
                ("Open", seen.open_items),
                ("Note", seen.hint if error is None else None),
            ]
        ),
        "" if error is None else _details(error),
        "" if seen.data_json is None else pretty(seen.data),
        f"Next: {visible(step)}" if step else "",
    ]
    return "\n".join(part for part in parts if part)


def _more(error: Problem) -> list[str]:
    """What else is wrong with the arguments, and names that a misspelled one may have meant."""
    wrong, near = error.details.get("validation_errors"), _near(error)
    found = [str(each.get("hint", "")) for each in wrong if isinstance(each, dict)] if isinstance(wrong, list) else []
    found += [either(near)] if near else []
    return [each for each in found if each not in error.message]


def _near(error: Problem) -> list[str]:
    found = error.details.get("nearest")
    return [str(each) for each in found] if isinstance(found, list) else []


def _details(error: Problem) -> str:
    """Details that no sentence above says."""
    left = {name: value for name, value in error.details.items() if name not in _SAID}
    return pretty(left) if left else ""
