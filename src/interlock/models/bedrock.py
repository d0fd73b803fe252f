"""The Bedrock Converse dialect: declarations and requests out, turns in, results back. No I/O.

Source: the service model of bedrock-runtime, operations Converse and ConverseStream. Read on recordings of both, not
tried live (November 2026). Bodies are those of the wire: bytes are base64 text, and the model is named in the `path`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final
from urllib.parse import quote

from interlock.models.bedrock_read import (
    CITED,
    CLIENT_TYPES,
    REASONING,
    TEXT,
    TOOL_USE,
    read_response,
    read_stream,
    reader,
)
from interlock.models.blocks import sendable_name
from interlock.models.codec import Answer, Choice, Image, Options
from interlock.models.conversation import Repaired, as_sent
from interlock.models.names import WireNames
from interlock.models.pairing import Pairs, merged, paired
from interlock.models.strict import mapping, mappings, text
from interlock.models.turn import Turn

__all__ = [
    "declarations",
    "echo",
    "path",
    "read_response",
    "read_stream",
    "reader",
    "request",
    "results",
]

_NAME_CHARACTERS_MAX: Final = 64
_IMAGES: Final = MappingProxyType(
    {"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "image/webp": "webp"},
)
_DOCUMENTS: Final = MappingProxyType(
    {"application/pdf": "pdf", "text/csv": "csv", "text/html": "html", "text/plain": "txt", "text/markdown": "md"},
)
_PAIRS: Final = Pairs(
    call_id=lambda block: _call_id(mapping(block.get(TOOL_USE))),
    result_id=lambda block: text(mapping(block.get("toolResult")).get("toolUseId")),
    result=lambda call_id, words: {
        "toolResult": {"toolUseId": call_id, "content": [{TEXT: words}], "status": "error"},
    },
    words=lambda words: {TEXT: words},
)


def declarations(
    specs: Iterable[tuple[str, str, Mapping[str, object]]], *, names: WireNames
) -> list[dict[str, object]]:
    """The `toolConfig.tools` entries for (name, description, input schema) triples.

    An empty description is left out, since the service refuses one. Raises KeyError for a name that `names` does not
    spell.
    """
    return [
        {
            "toolSpec": {"name": names.to_wire[name]}
            | ({"description": description} if description else {})
            | {"inputSchema": {"json": {"type": "object"} | dict(schema)}}
        }
        for name, description, schema in specs
    ]


def path(options: Options) -> str:
    """Where a request goes, below the service's address."""
    operation = "converse-stream" if options.stream else "converse"
    return f"/model/{quote(options.model, safe='')}/{operation}"


def request(
    messages: Sequence[Mapping[str, object]],
    *,
    options: Options,
    tools: Sequence[Mapping[str, object]] = (),
    choice: Choice = Choice.AUTO,
    only: Sequence[str] = (),
) -> dict[str, object]:
    """The request body. Messages of the role `system` become its `system`, neighbours of one role one message,
    and each call in the history that was left without a result is answered as failed: the service wants it so.

    `only` sends fewer tools, since the dialect has no other way, and it has no switch for parallel calls. It knows no
    `none`: the tools are left out then, but for a history that holds calls, which the service takes only with tools.
    """
    history, _, said = as_sent(messages, repair=_repaired, join=_merged)
    limits: dict[str, object] = {options.tokens_field or "maxTokens": options.tokens_max}
    if options.temperature is not None:
        limits["temperature"] = options.temperature
    body: dict[str, object] = {"messages": history, "inferenceConfig": limits}
    if said:
        body["system"] = [block for content in said for block in _blocks(content)]
    offered = [dict(tool) for tool in tools if not only or _name(tool) in only]
    if offered and (choice is not Choice.NONE or _holds_calls(history)):
        body["toolConfig"] = {"tools": offered, "toolChoice": _choice(choice, only=only)}
    return body | dict(options.extra)


def _repaired(messages: Sequence[Mapping[str, object]]) -> Repaired:
    found = paired(messages, pairs=_PAIRS)
    return found._replace(entries=_merged(found.entries))


def _merged(entries: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    return merged(entries, pairs=_PAIRS)


def echo(turn: Turn) -> list[dict[str, object]]:
    """The turn as a message of the history, block by block as it came. Every call must then be answered.

    A turn that left nothing to send back gives no message: the service refuses an empty one.
    """
    blocks = [
        _sendable(text(entry.get("kind")), mapping(entry.get("body")))
        for entry in mappings(json.loads(turn.echo).get("content"))
    ]
    return [{"role": "assistant", "content": blocks}] if blocks else []


def results(answers: Sequence[Answer]) -> list[dict[str, object]]:
    """One user message with the results of all calls of a turn. It has to follow directly after the turn.

    The flag of a failed call is known to Claude and Nova models; that a call went well is not said, so that others take
    the result too.
    """
    return [{"role": "user", "content": [_result(answer) for answer in answers]}] if answers else []


def _call_id(call: Mapping[str, object]) -> str:
    return text(call.get("toolUseId")) if call.get("type") in CLIENT_TYPES else ""


def _blocks(content: object) -> list[Mapping[str, object]]:
    return mappings([{TEXT: content}] if isinstance(content, str) else content)


def _name(tool: Mapping[str, object]) -> object:
    return mapping(tool.get("toolSpec")).get("name")


def _holds_calls(history: Sequence[Mapping[str, object]]) -> bool:
    return any(TOOL_USE in block for message in history for block in mappings(message.get("content")))


def _choice(choice: Choice, *, only: Sequence[str]) -> dict[str, object]:
    if choice is not Choice.REQUIRED:
        return {"auto": {}}
    return {"tool": {"name": only[0]}} if len(only) == 1 else {"any": {}}


def _sendable(kind: str, body: Mapping[str, object]) -> dict[str, object]:
    """The member of a block as the service spells it whole; streams spell reasoning and citations in another way."""
    held = dict(body)
    if kind == TOOL_USE:
        held["name"] = sendable_name(text(body.get("name")), characters_max=_NAME_CHARACTERS_MAX)
    elif kind == TEXT and "citations" in body:
        return {CITED: {"content": [{TEXT: body[TEXT]}], "citations": body["citations"]}}
    elif kind == TEXT:
        return {TEXT: body.get(TEXT)}
    elif kind == CITED:
        del held[TEXT]
    elif kind == REASONING and TEXT in body:
        held = {"reasoningText": held}
    return {kind: held}


def _result(answer: Answer) -> dict[str, object]:
    content: list[dict[str, object]] = [{TEXT: answer.text}] if answer.text else []
    content += [_media(image, position) for position, image in enumerate(answer.images)]
    result: dict[str, object] = {
        "toolUseId": answer.call.reply_id,
        "content": content or [{TEXT: "The call gave no output."}],
    }
    return {"toolResult": result | ({"status": "error"} if answer.failed else {})}


def _media(image: Image, position: int) -> dict[str, object]:
    """The service takes bytes of a few kinds and fetches nothing: of anything else the model is told where it is."""
    source = {"source": {"bytes": image.base64}}
    if image.base64 and image.media_type in _IMAGES:
        return {"image": {"format": _IMAGES[image.media_type]} | source}
    if image.base64 and image.media_type in _DOCUMENTS:
        return {"document": {"format": _DOCUMENTS[image.media_type], "name": f"result {position}"} | source}
    return {TEXT: f"[{image.media_type}: {image.url or 'left out, this provider does not take it'}]"}
