"""Histories that providers refused for good, and tools and calls that were misread, elsewhere."""

import json
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import pytest

from interlock.models import anthropic, bedrock, gemini, openai_chat, openai_responses
from interlock.models.codec import Answer, Options

TroubleCase = Callable[[str], Mapping[str, Any]]

pytestmark = pytest.mark.trouble


def interrupted(model: ModuleType, body: Mapping[str, object]) -> list[dict[str, object]]:
    """A history in which the second of two calls has no result, as its model's own codec writes it."""
    turn = model.read_response(json.dumps(body).encode())
    history = [*model.echo(turn), *model.results([Answer(turn.calls[0], "done")])]
    assert [call.name for call in turn.runnable] == ["A", "B"]
    request = model.request(history, options=Options(model="m", tokens_max=1))
    (sent,) = (request[name] for name in ("messages", "contents", "input") if name in request)
    entries: list[dict[str, object]] = sent
    return entries


@pytest.mark.requirement("LOOP-2")
def test_every_call_of_an_interrupted_turn_is_answered_in_the_next_anthropic_message(
    trouble_case: TroubleCase,
) -> None:
    said, results = trouble_case("ADP-01")["input"]["history"]
    assert (said.count("tool_use"), results.count("tool_result")) == (2, 1)
    calls = [{"type": "tool_use", "id": name, "name": name, "input": {}} for name in "AB"]
    text = {"type": "text", "text": "Hm."}
    asked, answered = interrupted(anthropic, {"content": [text, *calls], "stop_reason": "tool_use"})
    assert asked["content"] == [text, *calls]
    told: Any = answered["content"]
    assert [(result["tool_use_id"], result["is_error"]) for result in told] == [("A", False), ("B", True)]


@pytest.mark.requirement("LOOP-2")
def test_every_call_of_an_interrupted_turn_is_answered_in_the_next_converse_message(
    trouble_case: TroubleCase,
) -> None:
    said, results = trouble_case("ADP-01")["input"]["history"]
    assert (said.count("tool_use"), results.count("tool_result")) == (2, 1)
    calls = [{"toolUse": {"toolUseId": name, "name": name, "input": {}}} for name in "AB"]
    message = {"role": "assistant", "content": [{"text": "Hm."}, *calls]}
    asked, answered = interrupted(bedrock, {"output": {"message": message}, "stopReason": "tool_use"})
    assert asked == message
    told: Any = answered["content"]
    results = [block["toolResult"] for block in told]
    assert [(result["toolUseId"], result.get("status")) for result in results] == [("A", None), ("B", "error")]


@pytest.mark.requirement("LOOP-2")
def test_every_call_of_an_interrupted_turn_is_answered_in_the_next_gemini_entry(trouble_case: TroubleCase) -> None:
    assert trouble_case("ADP-01")["input"]["history"]
    parts = [{"text": "Hm."}, *({"functionCall": {"name": name, "args": {}}} for name in "AB")]
    turn = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
    asked, answered = interrupted(gemini, {"candidates": [turn]})
    assert asked["parts"] == parts
    told: Any = answered["parts"]
    results = [part["functionResponse"] for part in told]
    assert [(result["name"], list(result["response"])) for result in results] == [("A", ["output"]), ("B", ["error"])]


@pytest.mark.requirement("LOOP-2")
def test_every_call_of_an_interrupted_turn_is_answered_behind_a_chat_message(trouble_case: TroubleCase) -> None:
    assert trouble_case("ADP-01")["input"]["history"]
    calls = [{"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}} for name in "AB"]
    message = {"role": "assistant", "content": "Hm.", "tool_calls": calls}
    asked, *answered = interrupted(openai_chat, {"choices": [{"message": message, "finish_reason": "tool_calls"}]})
    assert asked == message
    assert [(each["role"], each["tool_call_id"]) for each in answered] == [("tool", "A"), ("tool", "B")]
    assert "not known" in str(answered[1]["content"])


@pytest.mark.requirement("LOOP-2")
def test_every_call_of_an_interrupted_turn_is_answered_behind_its_items(trouble_case: TroubleCase) -> None:
    assert trouble_case("ADP-01")["input"]["history"]
    calls = [{"type": "function_call", "call_id": name, "name": name, "arguments": "{}"} for name in "AB"]
    sent = interrupted(openai_responses, {"status": "completed", "output": calls})
    assert sent[:2] == calls
    assert [(each["type"], each["call_id"]) for each in sent[2:]] == [
        ("function_call_output", "A"),
        ("function_call_output", "B"),
    ]
    assert "not known" in str(sent[3]["output"])


@pytest.mark.requirement("LOOP-3")
@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
        ("deltas", [("call_a", "read", '{"p":"a"}'), ("call_b", "read", '{"p":"b"}')]),
        ("variant", [("c1", "f", '{"x":1}')]),
    ],
)
def test_pieces_of_calls_are_put_together_by_what_they_are_called_and_not_by_their_index_alone(
    trouble_case: TroubleCase, deltas: str, calls: list[tuple[str, str, str]]
) -> None:
    pieces = [
        {"index": piece.get("index"), "id": piece.get("id")}
        | {"function": {"name": piece.get("name"), "arguments": piece.get("args")}}
        for piece in trouble_case("ADP-02")["input"][deltas]
    ]
    chunks: list[dict[str, Any]] = [{"choices": [{"delta": {"tool_calls": [piece]}}]} for piece in pieces]
    chunks.append({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})
    turn = openai_chat.read_stream(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks)
    assert [(call.wire_id, call.name, call.arguments_raw) for call in turn.runnable] == calls
