"""Words of a user and of the system go into any provider's request as they are, wherever the loop puts them."""

import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest

from interlock.models import anthropic, bedrock, gemini, openai_chat, openai_responses
from interlock.models.codec import Answer, Codec, Options
from interlock.models.turn import Turn

OPTIONS = Options(model="m", tokens_max=10)
CODECS: tuple[Codec, ...] = (openai_chat, openai_responses, anthropic, bedrock, gemini)
MESSAGES_FIELD = {openai_responses: "input", gemini: "contents"}
CALL: Mapping[Any, dict[str, object]] = {
    openai_chat: {
        "choices": [
            {
                "message": {
                    "tool_calls": [
                        {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}},
                    ],
                },
                "finish_reason": "tool_calls",
            },
        ],
    },
    openai_responses: {
        "status": "completed",
        "output": [{"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"}],
    },
    anthropic: {"content": [{"type": "tool_use", "id": "c1", "name": "read", "input": {}}], "stop_reason": "tool_use"},
    bedrock: {
        "output": {
            "message": {
                "role": "assistant",
                "content": [{"toolUse": {"toolUseId": "c1", "name": "read", "input": {}}}],
            },
        },
        "stopReason": "tool_use",
    },
    gemini: {
        "candidates": [
            {
                "content": {"role": "model", "parts": [{"functionCall": {"name": "read", "args": {}}}]},
                "finishReason": "STOP",
            }
        ]
    },
}


def user(words: str) -> dict[str, object]:
    return {"role": "user", "content": words}


def system(words: str) -> dict[str, object]:
    return {"role": "system", "content": words}


def called(codec: Codec) -> Turn:
    turn = codec.read_response(json.dumps(CALL[codec]).encode())
    assert len(turn.runnable) == 1, turn.reason
    return turn


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.__name__.rpartition(".")[2])
def test_words_stand_where_the_loop_puts_them_in_a_form_that_the_provider_takes(codec: Codec) -> None:
    turn = called(codec)
    history = [
        *(system("S1"), user("U1"), user("U2")),
        *codec.echo(turn),
        *codec.results([Answer(turn.calls[0], "R1")]),
        *(user("U3"), user("U4")),
        *codec.echo(turn),
        *codec.results([Answer(turn.calls[0], "R2")]),
        *(system("S2"), user("U5")),
    ]
    body = codec.request(history, options=OPTIONS)
    sent = json.dumps(body)
    assert in_order(sent, "U1", "U2", "R1", "U3", "U4", "R2", "U5")
    assert [sent.count(f'"{words}"') for words in ("S1", "S2", "U1", "U5", "R1", "R2")] == [1] * 6
    assert "interrupted" not in sent, "each call is answered at once"
    assert_taken(codec, body)


def assert_taken(codec: Codec, body: Mapping[str, Any]) -> None:
    """What the provider's own API refuses."""
    messages = body[MESSAGES_FIELD.get(codec, "messages")]
    roles = [message.get("role") for message in messages]
    if codec in {anthropic, bedrock, gemini}:
        assert set(roles) <= {"user", "assistant", "model"}
    if codec is bedrock:
        assert all(before != after for before, after in pairwise(roles)), "roles take turns"
        assert all(isinstance(message["content"], list) for message in messages)
    if codec is gemini:
        assert all(message.keys() == {"role", "parts"} for message in messages)
        assert all("text" in part or len(part) == 1 for message in messages for part in message["parts"])


def in_order(sent: str, *words: str) -> bool:
    places = [sent.find(f'"{word}"') for word in words]
    return -1 not in places and places == sorted(places)
