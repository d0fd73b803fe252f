"""The Gemini dialect, generateContent and streamGenerateContent: declarations and requests out, turns in, results back.

Source: the Gemini API and Vertex AI references, and recorded traffic of both. Read on recordings; not tried live. The
model stands in the address of a request, not in its body: see `endpoint`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from interlock.models.codec import Answer, Choice, Image, Options
from interlock.models.conversation import Repaired, as_sent
from interlock.models.gemini_pairing import paired
from interlock.models.gemini_read import StreamReader, read_response, read_stream
from interlock.models.names import WireNames
from interlock.models.turn import Proposed, Turn

__all__ = [
    "StreamReader",
    "declarations",
    "echo",
    "endpoint",
    "read_response",
    "read_stream",
    "reader",
    "request",
    "results",
]

TOOLS_MAX: Final = 128
_MODES: Final = {Choice.AUTO: "AUTO", Choice.NONE: "NONE", Choice.REQUIRED: "ANY"}


def declarations(
    specs: Iterable[tuple[str, str, Mapping[str, object]]], *, names: WireNames
) -> list[dict[str, object]]:
    """The function declarations for (name, description, input schema) triples. The schema is sent as it is.

    Raises ValueError for more tools than the dialect takes, and KeyError for a name that `names` does not spell.
    """
    tools: list[dict[str, object]] = [
        {"name": names.to_wire[name], "description": description, "parametersJsonSchema": dict(schema)}
        for name, description, schema in specs
    ]
    if len(tools) > TOOLS_MAX:
        raise ValueError(f"Gemini takes at most {TOOLS_MAX} tools; {len(tools)} were given.")
    return tools


def endpoint(options: Options) -> str:
    """The path and query of a request below the API's version, such as `v1beta/`."""
    if options.stream:
        return f"models/{options.model}:streamGenerateContent?alt=sse"
    return f"models/{options.model}:generateContent"


def request(
    messages: Sequence[Mapping[str, object]],
    *,
    options: Options,
    tools: Sequence[Mapping[str, object]] = (),
    choice: Choice = Choice.AUTO,
    only: Sequence[str] = (),
) -> dict[str, object]:
    """The request body. Messages of role `system` become the system instruction, and `content` that is text becomes a
    part. There is no switch for parallel calls.

    A choice among some tools is sent as such where a call is required; elsewhere the others are not declared, since
    older models know no choice among some of them. A call in the history that was left without a response is answered
    as failed: the API refuses the history otherwise. What `options.extra` holds is added below the same names.
    """
    contents, _, system = as_sent(messages, repair=_repaired)
    body: dict[str, object] = {"contents": contents}
    if system:
        body["systemInstruction"] = {"parts": system}
    settings: dict[str, object] = {options.tokens_field or "maxOutputTokens": options.tokens_max}
    if options.temperature is not None:
        settings["temperature"] = options.temperature
    body["generationConfig"] = settings
    offered = [dict(tool) for tool in tools if choice is not Choice.AUTO or not only or tool.get("name") in only]
    if offered:
        body["tools"] = [{"functionDeclarations": offered}]
        body["toolConfig"] = {"functionCallingConfig": _config(choice, only=only)}
    return {**body, **{name: _joined(body.get(name), value) for name, value in options.extra.items()}}


def _repaired(messages: Sequence[Mapping[str, object]]) -> Repaired:
    entries, is_whole = paired([_entry(message) for message in messages if message.get("role") != "system"])
    system = [part for message in messages if message.get("role") == "system" for part in _parts(message)]
    return Repaired(entries, is_whole, system)


def reader() -> StreamReader:
    """A reader for one stream of status 200."""
    return StreamReader()


def echo(turn: Turn) -> list[dict[str, object]]:
    """The turn as an entry of the history: each part as it came, with its own signature. Every call must be answered.

    A call that came in pieces goes back as the one part that it is. A turn without parts leaves no entry: an empty one
    is refused.
    """
    parts = json.loads(turn.echo).get("parts")
    return [{"role": "model", "parts": parts}] if parts else []


def results(answers: Sequence[Answer]) -> list[dict[str, object]]:
    """One entry that answers all calls of one turn, in their order, which tells them apart where they have no ids."""
    in_order = sorted(answers, key=lambda answer: answer.call.position)
    parts = [{"functionResponse": _response(answer)} for answer in in_order]
    return [{"role": "user", "parts": parts}] if parts else []


def _response(answer: Answer) -> dict[str, object]:
    said: dict[str, object] = {"error" if answer.failed else "output": answer.text}
    response = _identity(answer.call) | {"response": said}
    return response | ({"parts": [_picture(image) for image in answer.images]} if answer.images else {})


def _identity(call: Proposed) -> dict[str, object]:
    """The name and, where the call came with one, the id. An id of ours would match nothing in the echo."""
    return {"id": call.wire_id, "name": call.name} if call.wire_id else {"name": call.name}


def _picture(image: Image) -> dict[str, object]:
    if image.url:
        return {"fileData": {"mimeType": image.media_type, "fileUri": image.url}}
    return {"inlineData": {"mimeType": image.media_type, "data": image.base64}}


def _config(choice: Choice, *, only: Sequence[str]) -> dict[str, object]:
    allowed = {"allowedFunctionNames": list(only)} if only and choice is Choice.REQUIRED else {}
    return {"mode": _MODES[choice], **allowed}


def _entry(message: Mapping[str, object]) -> dict[str, object]:
    return dict(message) if "parts" in message else {"role": message.get("role"), "parts": _parts(message)}


def _parts(message: Mapping[str, object]) -> list[object]:
    parts = message.get("parts")
    return list(parts) if isinstance(parts, list | tuple) else [{"text": message.get("content", "")}]


def _joined(mine: object, extra: object) -> object:
    if isinstance(mine, dict) and isinstance(extra, Mapping):
        return mine | {name: _joined(mine.get(name), value) for name, value in extra.items()}
    if isinstance(mine, list) and isinstance(extra, list | tuple):
        return [*mine, *extra]
    return extra
