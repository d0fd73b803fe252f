"""Compares a turn with what a corpus expects of it, field by field, in few words."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from interlock.core.arguments import Unparsed, parse_arguments
from interlock.models.turn import CallKind, Ended, Proposed, ProviderCall, Turn

Difference = tuple[str, object, object]

OUTCOMES: Final[Mapping[str, Ended]] = {
    "tool_calls": Ended.CALLS_ALLOWED,
    "message": Ended.ANSWER,
    "refused_or_blocked": Ended.REFUSED,
    "truncated": Ended.TRUNCATED,
    "paused": Ended.PAUSED,
    "in_progress": Ended.IN_PROGRESS,
    "dropped": Ended.DROPPED,
    "model_error": Ended.MODEL_ERROR,
    "http_error": Ended.HTTP_ERROR,
    "error": Ended.ERROR,
}
JUDGED: Final = frozenset(
    {"outcome", "stop", "calls", "provider_calls", "items", "refusal", "error", "incomplete", "finish_message"}
    | {"prompt_feedback", "open_call", "text_sha256_16", "text_head", "note"}
)
JUDGED_OF_CALLS: Final = frozenset(
    {"id", "name", "args", "args_raw", "args_status", "kind", "complete", "namespace", "caller", "item_id", "note"}
    | {"server_label", "signature"}
)
UNREADABLE: Final = frozenset({"invalid", "ambiguous", "not-object"})


def differences(turn: Turn, expected: Mapping[str, Any]) -> list[Difference]:
    """(what, read, expected) for each thing that was read otherwise than the corpus says."""
    pairs = [*_of_turn(turn, expected), *_of_calls(turn, expected), *_of_provider_calls(turn, expected)]
    return [pair for pair in pairs if pair[1] != pair[2]]


def unjudged(expected: Mapping[str, Any]) -> set[str]:
    """The fields of an expectation that nothing here compares."""
    of_calls = {f"calls.{name}" for call in expected["calls"] for name in call if name not in JUDGED_OF_CALLS}
    return of_calls | {name for name in expected if name not in JUDGED}


def status_of(call: Proposed) -> str:
    """What the gate will make of the arguments, in the corpus's words."""
    if call.kind is CallKind.CUSTOM:
        return "text"
    read = parse_arguments(call.arguments_raw)
    if not isinstance(read, Unparsed):
        return "ok" if read else "empty"
    if read.not_an_object:
        return "not-object"
    return "ambiguous" if "same key twice" in read.reason else "invalid"


def _of_turn(turn: Turn, expected: Mapping[str, Any]) -> Iterator[Difference]:
    yield "outcome", turn.ended, OUTCOMES[expected["outcome"]]
    yield "stop", turn.stop, None if expected["stop"] is None else str(expected["stop"])
    yield "text", hashlib.sha256(turn.text.encode()).hexdigest()[:16] if turn.text else None, expected["text_sha256_16"]
    yield "text_head", turn.text[: len(expected["text_head"])], expected["text_head"]
    if "items" in expected:
        yield "items", list(turn.items), expected["items"]
    if "error" in expected:
        yield "error", json.loads(turn.error or "null"), expected["error"]
    if "open_call" in expected:
        yield "open_call", any(not call.closed for call in turn.calls), expected["open_call"]
    for words in _words(expected):
        yield "reason", words if words in turn.reason else turn.reason, words


def _words(expected: Mapping[str, Any]) -> Iterator[str]:
    """What a person must be told who asks why nothing ran."""
    ran = expected["outcome"] in {"tool_calls", "message"}
    for name in ("refusal", "error", "incomplete", "prompt_feedback", *(() if ran else ("finish_message",))):
        yield from _texts(expected.get(name))


def _texts(told: object) -> list[str]:
    if isinstance(told, str):
        return [told[:100]]
    values = told if isinstance(told, dict) else {}
    told_inside = [value for value in values.values() if isinstance(value, dict) and "message" in value]
    found = [values.get(name) for name in ("message", "reason", "blockReasonMessage")]
    found += [] if any(found) else [values.get("blockReason")]
    return [text[:100] for text in found if isinstance(text, str)] + [
        text for inner in told_inside for text in _texts(inner)
    ]


def _of_calls(turn: Turn, expected: Mapping[str, Any]) -> Iterator[Difference]:
    asked: Sequence[Mapping[str, Any]] = expected["calls"]
    may_run = [call for call in turn.calls if call.closed] if expected["outcome"] == "tool_calls" else []
    yield "calls", [call.name for call in turn.calls], [call["name"] for call in asked]
    yield "runnable", list(turn.runnable), may_run
    yield "positions", [call.position for call in turn.calls], list(range(len(asked)))
    yield "labels", len({call.reply_id for call in turn.calls}), len(turn.calls)
    for call, wanted in zip(turn.calls, asked, strict=False):
        told = _told(call)
        yield from ((f"call {call.position} {name}", told[name], wanted[name]) for name in told if name in wanted)


def _told(call: Proposed) -> Mapping[str, object]:
    status = status_of(call)
    parsed = parse_arguments(call.arguments_raw)
    return {
        "id": call.wire_id,
        "name": call.name,
        "kind": call.kind.value,
        "args": _value(call.arguments_raw)
        if status == "not-object"
        else None
        if isinstance(parsed, Unparsed)
        else parsed,
        "args_raw": call.arguments_raw,
        "args_status": status,
        "complete": call.closed and status not in UNREADABLE,
        "namespace": call.namespace,
        "caller": json.loads(call.caller or "null"),
        "item_id": call.item_id,
        "server_label": call.server,
        "signature": call.signed,
    }


def _of_provider_calls(turn: Turn, expected: Mapping[str, Any]) -> Iterator[Difference]:
    wanted: Sequence[Mapping[str, Any]] = expected["provider_calls"]
    yield "provider calls", [call.name for call in turn.provider_calls], [call["name"] for call in wanted]
    for call, work in zip(turn.provider_calls, wanted, strict=False):
        told = _done(call)
        yield from ((f"provider call {call.name} {name}", told.get(name), work[name]) for name in work)


def _done(call: ProviderCall) -> Mapping[str, object]:
    args = _parsed(call.arguments_raw)
    facts: dict[str, object] = json.loads(call.facts)
    status = "ok" if args else "empty"
    return facts | {
        "id": call.wire_id,
        "name": call.name,
        "type": call.kind,
        "kind": call.kind,
        "args": args,
        "args_status": status,
    }


def _parsed(raw: str) -> object:
    read = parse_arguments(raw)
    return None if isinstance(read, Unparsed) else read


def _value(raw: str) -> object:
    value: object = json.loads(raw)
    return value
