"""Builds Chat Completions responses, whole and streamed, for the tests of their reading."""

import json
from collections.abc import Mapping

from interlock.models.openai_chat import Turn


def body_of(message: Mapping[str, object], *, stop: str | None = "tool_calls") -> bytes:
    return json.dumps({"choices": [{"index": 0, "finish_reason": stop, "message": message}]}).encode()


def call_of(name: str = "search", arguments: object = '{"query": "a"}', call_id: str = "c1") -> dict[str, object]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def piece(index: int | None = 0, **fields: object) -> dict[str, object]:
    call_id = fields.pop("id", None)
    entry: dict[str, object] = {"function": fields} | ({} if index is None else {"index": index})
    return entry | ({} if call_id is None else {"id": call_id})


def stream_of(*pieces: Mapping[str, object], stop: str | None = "tool_calls", done: bool = True) -> list[bytes]:
    deltas: list[Mapping[str, object]] = [{"delta": {"tool_calls": [entry]}} for entry in pieces]
    deltas.append({"delta": {}, "finish_reason": stop})
    lines = [f"data: {json.dumps({'choices': [delta]})}\n\n".encode() for delta in deltas]
    return lines + ([b"data: [DONE]\n\n"] if done else [])


def spelled(turn: Turn) -> list[tuple[str, str]]:
    return [(call.name, call.arguments_raw) for call in turn.calls]
