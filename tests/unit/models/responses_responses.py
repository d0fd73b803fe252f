"""Builds Responses bodies and streams for the tests of their reading."""

import json
from collections.abc import Mapping

from interlock.models.openai_responses import Turn

Fields = dict[str, object]


def body_of(*output: Mapping[str, object], status: str = "completed", **fields: object) -> bytes:
    return json.dumps({"id": "resp_1", "status": status, "output": list(output)} | fields).encode()


def call_of(
    name: str = "search", arguments: object = '{"query": "a"}', call_id: str = "c1", **fields: object
) -> Fields:
    spelled = {"id": f"fc_{call_id}", "type": "function_call", "status": "completed", "call_id": call_id, "name": name}
    return spelled | {"arguments": arguments} | fields


def message_of(text: str = "Hello.", *, kind: str = "output_text", name: str = "text") -> Fields:
    return {"id": "msg_1", "type": "message", "role": "assistant", "content": [{"type": kind, name: text}]}


def event_of(kind: str, **fields: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind} | fields)}\n\n".encode()


def added(item: Mapping[str, object], **fields: object) -> bytes:
    return event_of("response.output_item.added", item=dict(item) | {"arguments": ""}, **fields)


def piece(delta: str, **fields: object) -> bytes:
    return event_of("response.function_call_arguments.delta", delta=delta, **fields)


def done(item: Mapping[str, object], **fields: object) -> bytes:
    return event_of("response.output_item.done", item=item, **fields)


def last(*output: Mapping[str, object], status: str = "completed", **fields: object) -> bytes:
    response = {"id": "resp_1", "status": status, "output": list(output)} | fields
    return event_of(f"response.{status}", response=response)


def spelled(turn: Turn) -> list[tuple[str | None, str]]:
    return [(call.wire_id, call.arguments_raw) for call in turn.calls]
