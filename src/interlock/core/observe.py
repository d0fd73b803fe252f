"""From what came of a call to what goes back: limit, redact, label, phrase. Pure, and the only place that does it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from interlock.core.approval import Approval, ApprovalState
from interlock.core.artifact import JSON
from interlock.core.budget import NOTHING, Amounts
from interlock.core.canonical import Json, canonical, decode
from interlock.core.catalogue import Tool
from interlock.core.decision import Deny, Replay
from interlock.core.evidence import Evidence
from interlock.core.freeze import arguments_of
from interlock.core.frozen import frozen
from interlock.core.http_answer import is_text
from interlock.core.items import Item, Items
from interlock.core.labels import Labels
from interlock.core.observation import Observation, Problem, Status, from_bytes
from interlock.core.operation import Operation
from interlock.core.outcome import NOTHING_MORE, Failed, Outcome, Partial, Produced, Succeeded, Unknown, Whole
from interlock.core.policy import Verdict
from interlock.core.redaction import MASK, Redactor
from interlock.core.redaction_names import mask_named
from interlock.core.refusals import BEFORE_DISPATCH, REFUSALS, Code
from interlock.core.text import clean, clean_json
from interlock.core.tool import OutputCheck

# What every call is compared with, or says: looking a member up in its class costs as much as a call.
_OK, _UNCHECKED = Status.OK, OutputCheck.OFF

WORDS_CHARS_MAX = 4_096
"""As much as is shown of a message, or of the name of a source or of an open item."""

DONE = "This is done."
PARTLY = "This is done in part; some items are still open."
WITHHELD = "This was done; the result may not be shown to you."
ABOVE_CEILING = "It was executed; the result is labelled above what the tool may return, and is withheld."
UNFIT = "It was executed; the result does not have the promised form, and is withheld."
GRANTED = "People have approved this operation already, and it has not run yet: nobody is asked again."
GRANTED_HINT = "Do not propose it again: what was approved runs once the approval {approval} is resumed."
GRANTED_USER = "This is approved and has not run yet; it runs once it is resumed."
LONG = (
    "This is only the beginning of the result; read what you need of the rest by its handle, and do not write it back."
)
WARNING = "The result does not have the promised form; check it before you use it."

_CONTROL = re.compile(rb"\\[bfru]|\x7f")


@frozen
class Frame:
    """What an observation needs beside the outcome. `redactor` knows the secrets that the handler was given.

    `clean` are bytes in which it was seen to find nothing.
    """

    operation_id: str
    at_us: int
    redactor: Redactor
    redact: frozenset[str] = frozenset()
    spent: Amounts = NOTHING
    clean: bytes | None = None

    @property
    def usage(self) -> Mapping[str, int]:
        """What it cost, as the observation says it."""
        _, _, tokens, cost_micros, working_ms, _ = self.spent
        return {"tokens": tokens, "cost_micros": cost_micros, "working_ms": working_ms}

    def words(self, text: str) -> str:
        """A tool's text beside its result: safe to show, and bounded."""
        return self.redactor.text(clean(text).text)[:WORDS_CHARS_MAX]

    def items(self, items: Items) -> Items:
        """How items stand, in words that are safe to show."""
        return tuple(Item(self.words(each.name), each.state, self.words(each.says)) for each in items)

    def origins(self, labels: Labels) -> Labels:
        """The labels with their origins as words: they go where a result's labels go, to runs and to sinks."""
        return replace(labels, origins=frozenset([self.words(each) for each in labels.origins]))


def observe(operation: Operation, outcome: Outcome, frame: Frame) -> Observation:
    """The observation of an execution."""
    match outcome:
        case Succeeded() | Partial():
            return _of_result(operation, outcome, frame)
        case Failed():
            return _of_failure(operation, outcome, frame)
        case Unknown():
            code = Code.OUTCOME_UNKNOWN
            problem = Problem(code, frame.words(outcome.reason))
            seen = _plain(operation, Status.UNKNOWN, problem, frame=frame)
            return seen.changed({"items": frame.items(outcome.items)}) if outcome.items else seen
        case _:
            assert_never(outcome)


def whole(outcome: Succeeded | Partial, frame: Frame) -> Whole:
    """The result that an observation shows the beginning of, as it would have been shown."""
    found = outcome.produced.whole
    if found is not None:
        return found if found.data is None else _whole_bytes(found, found.data, frame)
    data = frame.redactor.json_bytes(_cleaned(outcome.data)[0], named=frame.redact)
    return Whole(JSON, len(data), data)


def _whole_bytes(found: Whole, data: bytes, frame: Frame) -> Whole:
    """What is kept of bytes: a text as any text, all else without the secrets that are known."""
    try:
        text = data.decode() if is_text(found.media_type) else None
    except UnicodeDecodeError:
        text = None
    safe = frame.redactor.raw(data) if text is None else as_shown(text, frame.redactor, frame.redact).encode()
    return Whole(found.media_type, len(safe), safe)


def as_shown(text: str, redactor: Redactor, redact: frozenset[str]) -> str:
    """A text, cleaned and redacted."""
    shown = mask_named(redactor.text(clean(text).text), redact) if redact else redactor.text(clean(text).text)
    return shown if isinstance(shown, str) else MASK


def readable(seen: Observation, handle: str) -> Observation:
    """The observation of a result that is too long, with the handle by which the rest is read."""
    return seen.changed({"handle": handle, "hint": " ".join([seen.hint, LONG]).strip()})


def resource_shown(operation: Operation, redactor: Redactor, redact: frozenset[str]) -> str | None:
    """The name of the resource as it may be shown: without secrets, and hidden where a field that names it is."""
    if operation.resource is None:
        return None
    return _hidden_resource(operation, redact) or redactor.text(operation.resource.name)


def _hidden_resource(operation: Operation, redact: frozenset[str]) -> str | None:
    rule = operation.tool.spec.resource if redact else None
    return f"{rule.type}/{MASK}" if rule is not None and not redact.isdisjoint(arguments_of(rule)) else None


def refused(call_id: str, name: str, deny: Deny, *, redactor: Redactor) -> Observation:
    """The observation of a refusal; nothing ran. A model may have put a secret into a name that it made up."""
    row = REFUSALS[deny.code]
    details = redactor.json({**deny.details}) if deny.details else {}
    version = deny.tool.spec.version if deny.tool is not None and deny.code is not Code.TOOL_NOT_FOUND else ""
    return Observation(
        call_id=call_id,
        tool=redactor.text(name)[:128],
        version=version,
        status=Status.REFUSED,
        error=Problem(deny.code, redactor.text(deny.message), details if isinstance(details, dict) else {}),
        retryable=row.retryable,
        retry_after_s=deny.retry_after_s,
        hint=deny.hint or row.next_step,
        user_text=row.user,
    )


def waiting(operation: Operation, approval: Approval, *, resource: str | None) -> Observation:
    """The observation of a call that a person must approve first; nothing ran. `resource` is its name as shown.

    Where people have approved the same already, it says so: only what was approved runs, when that is resumed.
    """
    row = REFUSALS[Code.APPROVAL_REQUIRED]
    seen = Observation(
        call_id=operation.call.id,
        tool=operation.spec.name,
        version=operation.spec.version,
        status=Status.WAITING,
        error=Problem(Code.APPROVAL_REQUIRED, row.says),
        operation_id=approval.operation_id,
        resource=resource,
        approval_id=approval.id,
        expires_at_us=approval.expires_at_us,
        hint=row.next_step,
        user_text=operation.spec.promises.get("waiting", row.user),
    )
    if approval.state is not ApprovalState.GRANTED:
        return seen
    hint = GRANTED_HINT.format(approval=approval.id)
    error = Problem(Code.APPROVAL_REQUIRED, GRANTED, {"state": approval.state.value})
    return seen.changed({"error": error, "hint": hint, "user_text": GRANTED_USER})


def replayed(operation: Operation, replay: Replay, redactor: Redactor) -> Observation:
    """The recorded observation, marked, and redacted as today's policy has it; no data for who may not see it today."""
    seen = from_bytes(replay.prior.observation or b"")
    changes: dict[str, object] = {"call_id": operation.call.id, "replayed": True, "usage": {}}
    changes |= _redacted_again(seen, operation, replay.verdict.redact, redactor=redactor)
    return seen.changed(changes if replay.visible else changes | _withheld(seen))


def given_again(operation: Operation, observation: bytes, *, age_s: float) -> Observation:
    """What was read for an equal call of the same principal, with its age; it cost nothing this time."""
    return from_bytes(observation).changed({"call_id": operation.call.id, "cached_s": age_s, "usage": {}})


def for_another(seen: Observation, told: tuple[Operation, Verdict] | None, *, redactor: Redactor) -> Observation:
    """The observation as somebody may see it who did not ask: as policy says of the same call by them; None: not."""
    if told is None:
        return seen.changed({"resource": None} | _withheld(seen))
    operation, verdict = told
    return seen.changed(_redacted_again(seen, operation, verdict.redact, redactor=redactor))


def _redacted_again(
    seen: Observation, operation: Operation, redact: frozenset[str], *, redactor: Redactor
) -> dict[str, object]:
    """What a verdict of today, or of another, hides of an observation made under an earlier one."""
    resource = None if seen.resource is None else _hidden_resource(operation, redact) or seen.resource
    data = None if seen.data_json is None else redactor.json_bytes(seen.data_json, named=redact)
    return {"resource": resource, "data_json": data}


def _withheld(seen: Observation) -> dict[str, object]:
    """What a caller who may not see a recorded result is told: how it stands, in words of ours."""
    kept: dict[str, object] = {
        "data_json": None,
        "evidence": None,
        "resource_version": None,
        "open_items": (),
        "items": (),
    }
    kept |= {"handle": None, "truncated": None}
    if seen.error is None:
        return kept | {"hint": "", "user_text": WITHHELD}
    row = REFUSALS[seen.error.code]
    return kept | {"error": Problem(seen.error.code, row.says), "hint": row.next_step, "user_text": row.user}


def _of_result(operation: Operation, outcome: Succeeded | Partial, frame: Frame) -> Observation:
    spec = operation.tool.spec
    data, removed = _cleaned(outcome.data)
    produced = outcome.produced
    labels = spec.labels if produced.labels is None else frame.origins(produced.labels)
    if labels is not spec.labels and not labels.within(spec.labels):
        return _plain(operation, Status.FAILED, Problem(Code.OUTPUT_INVALID, ABOVE_CEILING), frame=frame)
    fits = _fits(operation.tool, data)
    if not fits and spec.output_check is OutputCheck.STRICT:
        return _plain(operation, Status.FAILED, Problem(Code.OUTPUT_INVALID, UNFIT), frame=frame)
    data = data if data is frame.clean else frame.redactor.json_bytes(data, named=frame.redact)
    truncated = None if produced.whole is None else produced.whole.size_bytes
    if len(data) > spec.output_bytes_max:
        truncated = truncated or len(data)
        data = _shortened(data, spec.output_bytes_max)
    partly = isinstance(outcome, Partial)
    status = Status.PARTIAL if partly else _OK
    return Observation(  # by position: by name it takes three times as long
        operation.call.id,
        spec.name,
        spec.version,
        status,
        data,
        None,  # no error, and nothing to try again
        False,
        None,
        frame.operation_id,
        None if operation.resource is None else resource_shown(operation, frame.redactor, frame.redact),
        produced.resource_version and frame.words(produced.resource_version),
        operation.tool.evidence if produced is NOTHING_MORE else _evidence(operation, produced, frame),
        labels,
        truncated,
        False,
        frame.at_us,
        None,  # no approval
        None,
        frame.usage,
        None,
        operation.tool.notice if fits else WARNING,
        spec.promises.get(status, PARTLY if partly else DONE),
        removed,
        tuple([frame.words(each) for each in outcome.open_items]) if isinstance(outcome, Partial) else (),
        None,  # neither read before, nor kept by a handle yet
        None,
        frame.items(produced.items) if produced.items else (),
    )


def _of_failure(operation: Operation, failed: Failed, frame: Frame) -> Observation:
    details: dict[str, Json] = {"tool_code": failed.tool_code} if failed.tool_code else {}
    status = Status.REFUSED if failed.code in BEFORE_DISPATCH else Status.FAILED
    problem = Problem(failed.code, frame.words(failed.message), details)
    seen = _plain(operation, status, problem, frame=frame)
    if not failed.retryable and failed.retry_after_s is None:
        return seen
    return seen.changed({"retryable": failed.retryable, "retry_after_s": failed.retry_after_s})


def _plain(operation: Operation, status: Status, problem: Problem, *, frame: Frame) -> Observation:
    row = REFUSALS[problem.code]
    # What a tool promises of a failure does not hold of a result that is withheld: that call was executed.
    promises = {} if problem.code is Code.OUTPUT_INVALID else operation.spec.promises
    return Observation(
        call_id=operation.call.id,
        tool=operation.spec.name,
        version=operation.spec.version,
        status=status,
        error=problem,
        operation_id=frame.operation_id,
        resource=resource_shown(operation, frame.redactor, frame.redact),
        executed_at_us=None if status is Status.REFUSED else frame.at_us,
        usage=frame.usage,
        hint=row.next_step,
        user_text=promises.get(status.value, row.user),
    )


def _cleaned(data: bytes) -> tuple[bytes, int]:
    """Without invisible characters. Plain ASCII without escapes of control characters can hold none."""
    # `in` takes thrice as long as `find`: it tries a number first
    is_plain = data.find(b"\\") < 0 and data.find(b"\x7f") < 0
    if data.isascii() and (is_plain or _CONTROL.search(data) is None):
        return data, 0
    value, removed = clean_json(decode(data))
    return (canonical(value), removed) if removed else (data, 0)


def _fits(tool: Tool, data: bytes) -> bool:
    if tool.output is None or tool.spec.output_check is _UNCHECKED:
        return True
    return tool.output.is_valid(decode(data))


def _shortened(data: bytes, limit: int) -> bytes:
    """Valid JSON within the limit that holds the beginning of the result, as text."""
    head = data[:limit]
    shown = _head(head)
    while len(shown) > limit and head:
        head = head[: len(head) - (len(shown) - limit)]  # each byte of the head is one or more of what is shown
        shown = _head(head)
    return shown


def _head(data: bytes) -> bytes:
    return canonical({"truncated": True, "head": data.decode("utf-8", "ignore")})


def _evidence(operation: Operation, produced: Produced, frame: Frame) -> Evidence:
    rule = operation.tool.spec.evidence
    sources = produced.sources and tuple(
        [replace(each, uri=frame.words(each.uri), title=frame.words(each.title)) for each in produced.sources]
    )
    return Evidence(
        rule.kind,
        rule.quotable,
        rule.reportable,
        rule.confirm,
        rule.scope,
        sources,
        produced.data_time_us,
        produced.data_version and frame.words(produced.data_version),
    )
