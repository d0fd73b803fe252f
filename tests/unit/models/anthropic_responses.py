"""Builds Anthropic Messages responses, whole and streamed, for the tests of their reading."""

import json
from collections.abc import Mapping

Entry = Mapping[str, object]


def tool_use(name: str = "search", sent: object = None, call_id: str = "toolu_1", **more: object) -> dict[str, object]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {"query": "a"} if sent is None else sent} | more


def body_of(*content: Entry, stop: str | None = "tool_use", **more: object) -> bytes:
    message: dict[str, object] = {"id": "msg_1", "type": "message", "role": "assistant", "content": list(content)}
    return json.dumps(message | {"stop_reason": stop} | more).encode()


def event(kind: str, **fields: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind} | fields)}\n\n".encode()


def start(**more: object) -> bytes:
    return event("message_start", message={"id": "msg_1", "content": [], "stop_reason": None} | more)


def began(block: Entry, index: object = 0) -> bytes:
    return event("content_block_start", index=index, content_block=block)


def delta(kind: str, index: object = 0, **fields: object) -> bytes:
    return event("content_block_delta", index=index, delta={"type": kind} | fields)


def piece(partial_json: str, index: object = 0) -> bytes:
    return delta("input_json_delta", index, partial_json=partial_json)


def stopped(index: object = 0) -> bytes:
    return event("content_block_stop", index=index)


def call(*pieces: str, index: object = 0, call_id: str = "toolu_1", name: str = "search") -> list[bytes]:
    return [began(tool_use(name, {}, call_id), index), *(piece(part, index) for part in pieces), stopped(index)]


def end(stop: str | None = "tool_use", **more: object) -> list[bytes]:
    return [event("message_delta", delta={"stop_reason": stop} | more), event("message_stop")]
