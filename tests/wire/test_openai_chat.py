"""Every recorded Chat Completions response reads as the corpus says it must, whole and in pieces."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from interlock.models.openai_chat import Ended, Proposed, Turn, assistant_echo, read_response, read_stream, tool_message

pytestmark = pytest.mark.wire

ENDED = {
    "tool_calls": Ended.CALLS_ALLOWED,
    "message": Ended.ANSWER,
    "refused_or_blocked": Ended.REFUSED,
    "truncated": Ended.TRUNCATED,
    "dropped": Ended.DROPPED,
    "error": Ended.ERROR,
    "http_error": Ended.HTTP_ERROR,
    "model_error": Ended.MODEL_ERROR,
}


@pytest.mark.requirement("LOOP-3")
def test_every_recorded_response_reads_as_the_corpus_says(wire_corpus: Path) -> None:
    cases = list(chat_cases(wire_corpus))
    assert len(cases) >= 35
    wrong = {}
    for case in cases:
        body = (wire_corpus / case["file"]).read_bytes()
        difference = differences(read(case, body), case["expected"])
        if difference:
            wrong[case["id"]] = difference
    assert wrong == {}


@pytest.mark.parametrize("size", [1, 7])
def test_the_size_of_the_pieces_of_a_stream_changes_nothing(wire_corpus: Path, size: int) -> None:
    for case in chat_cases(wire_corpus):
        body = (wire_corpus / case["file"]).read_bytes()
        if case["streaming"]:
            pieces = (body[at : at + size] for at in range(0, len(body), size))
            assert read_stream(pieces) == read(case, body), case["id"]


@pytest.mark.requirement("LOOP-3")
def test_a_stream_cut_at_any_byte_before_its_end_never_changes_what_runs(wire_corpus: Path) -> None:
    for case in chat_cases(wire_corpus):
        body = (wire_corpus / case["file"]).read_bytes()
        if not case["streaming"]:
            continue
        whole = [(call.name, call.arguments_raw) for call in read_stream([body]).runnable]
        for end in range(0, len(body), max(1, len(body) // 150)):
            cut = [(call.name, call.arguments_raw) for call in read_stream([body[:end]]).runnable]
            assert cut in ([], whole), (case["id"], end)


def test_every_turn_with_calls_goes_back_as_a_history_that_servers_take(wire_corpus: Path) -> None:
    for case in chat_cases(wire_corpus):
        turn = read(case, (wire_corpus / case["file"]).read_bytes())
        message = assistant_echo(turn)
        calls: Any = message.get("tool_calls", [])
        answered = [tool_message(call, "done") for call in turn.calls]
        replies = [answer["tool_call_id"] for answer in answered if answer["role"] == "tool"]
        assert [call["id"] for call in calls] == replies, case["id"]
        assert len(set(replies)) == len(replies), case["id"]
        for call in calls:
            assert isinstance(json.loads(call["function"]["arguments"]), dict), case["id"]


def test_reasoning_goes_back_with_the_calls_that_it_led_to(wire_corpus: Path) -> None:
    body = (wire_corpus / "openai-chat/deepseek-thinking-parallel.json").read_bytes()
    sent = json.loads(body)["choices"][0]["message"]
    echo = assistant_echo(read_response(body))
    assert echo["reasoning_content"] == sent["reasoning_content"]
    assert echo["content"] == sent["content"]


def chat_cases(corpus: Path) -> Iterator[Mapping[str, Any]]:
    index = json.loads((corpus / "index.json").read_text(encoding="utf-8"))
    return (case for case in index["cases"] if case["provider"] == "openai-chat")


def read(case: Mapping[str, Any], body: bytes) -> Turn:
    if case["streaming"]:
        return read_stream([body], status=case["http_status"])
    return read_response(body, status=case["http_status"])


def differences(turn: Turn, expected: Mapping[str, Any]) -> list[tuple[str, object, object]]:
    """(what, read, expected) for each thing that was read otherwise than the corpus says."""
    text_hash = hashlib.sha256(turn.text.encode()).hexdigest()[:16] if turn.text else None
    words = expected.get("refusal") or expected.get("error", {}).get("message", "")
    calls = expected["calls"]
    pairs: list[tuple[str, object, object]] = [
        ("ended", turn.ended, ENDED[expected["outcome"]]),
        ("stop", turn.stop, expected["stop"]),
        ("text", text_hash, expected["text_sha256_16"]),
        ("reason", words in turn.reason, True),
        ("runnable", len(turn.runnable), len(calls) if expected["outcome"] == "tool_calls" else 0),
        ("ids", [call.wire_id for call in turn.calls], [call["id"] for call in calls]),
        ("names", [call.name for call in turn.calls], [call["name"] for call in calls]),
        ("kinds", [call.kind.value for call in turn.calls], [call["kind"] for call in calls]),
        ("positions", [call.position for call in turn.calls], list(range(len(calls)))),
        ("arguments", [arguments_of(call) for call in turn.calls], [expected_arguments(call) for call in calls]),
    ]
    return [pair for pair in pairs if pair[1] != pair[2]]


def arguments_of(call: Proposed) -> object:
    """The value that the raw text stands for; the raw text itself where it is not whole JSON of an object."""
    if not call.arguments_raw:
        return {}
    try:
        value = json.loads(call.arguments_raw, parse_constant=not_json)
    except ValueError:
        return call.arguments_raw
    return value if isinstance(value, dict) else call.arguments_raw


def expected_arguments(call: Mapping[str, Any]) -> object:
    return call["args"] if call["args_status"] in {"ok", "empty"} else call["args_raw"]


def not_json(constant: str) -> object:
    raise ValueError(constant)
