"""The Chat Completions dialect: declarations and requests out, turns in, results back. No I/O.

Source: the OpenAI API reference, chat/completions, and traffic of the servers that are compatible with it. Tried live
with llama.cpp's server; read on recordings of OpenAI, Azure-like and other compatible servers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from interlock.models.blocks import sendable_name
from interlock.models.codec import Answer, Choice, Image, Options
from interlock.models.conversation import Entry, Repaired, as_sent
from interlock.models.names import WireNames
from interlock.models.openai_chat_read import StreamReader, read_response, read_stream
from interlock.models.pairing import INTERRUPTED
from interlock.models.strict import is_object, mappings, text
from interlock.models.turn import CallKind, Ended, Proposed, Turn, Usage

__all__ = [
    "Answer",
    "CallKind",
    "Choice",
    "Ended",
    "Image",
    "Options",
    "Proposed",
    "StreamReader",
    "Turn",
    "Usage",
    "assistant_echo",
    "declarations",
    "echo",
    "read_response",
    "read_stream",
    "reader",
    "request",
    "results",
    "tool_message",
]

TOOLS_MAX: Final = 128
NAME_CHARACTERS_MAX: Final = 64

_LEGACY, _CUSTOM = CallKind.LEGACY_FUNCTION, CallKind.CUSTOM  # looking them up in their class costs as much as a call


def declarations(
    specs: Iterable[tuple[str, str, Mapping[str, object]]], *, names: WireNames
) -> list[dict[str, object]]:
    """The `tools` entries for (name, description, input schema) triples. The schema is sent as it is.

    Raises ValueError for more than 128 tools, the dialect's limit, and KeyError for a name that `names` does not spell.
    """
    tools: list[dict[str, object]] = [
        {
            "type": "function",
            "function": {"name": names.to_wire[name], "description": description, "parameters": dict(schema)},
        }
        for name, description, schema in specs
    ]
    if len(tools) > TOOLS_MAX:
        raise ValueError(f"Chat Completions takes at most {TOOLS_MAX} tools; {len(tools)} were given.")
    return tools


def request(
    messages: Sequence[Mapping[str, object]],
    *,
    options: Options,
    tools: Sequence[Mapping[str, object]] = (),
    choice: Choice = Choice.AUTO,
    only: Sequence[str] = (),
) -> dict[str, object]:
    """The request body. Without tools nothing about tools is sent: some servers refuse a choice without any.

    `only` is honoured by OpenAI itself; for a compatible server, declare no more tools than may be called. A call in
    the history that was left without a result is answered as interrupted: servers refuse the whole history for it.
    """
    body: dict[str, object] = {
        "model": options.model,
        "messages": as_sent(messages, repair=_paired).entries,
        options.tokens_field or "max_tokens": options.tokens_max,
    }
    if options.temperature is not None:
        body["temperature"] = options.temperature
    if options.stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    if tools:
        body["tools"], body["tool_choice"] = [*tools], _choice(choice, only=only)
        body["parallel_tool_calls"] = options.parallel_calls
    return {**body, **options.extra} if options.extra else body


def reader() -> StreamReader:
    """A reader for one stream of status 200."""
    return StreamReader()


def echo(turn: Turn) -> list[dict[str, object]]:
    """The turn as entries of the history: the one message of `assistant_echo`."""
    return [assistant_echo(turn)]


def assistant_echo(turn: Turn) -> dict[str, object]:
    """The turn as a message of the history, with what the provider needs back beside it.

    Every call must then be answered by a `tool_message`. Arguments that are no JSON object are replaced by `{}`, since
    servers refuse a whole history for them (llama.cpp answers 500), and so are foreign characters in a name that the
    model made up (OpenAI answers 400); the call's own result says what was wrong.
    """
    message: dict[str, object] = {"role": "assistant", "content": turn.text or None}
    message |= _decoded(turn.echo)
    if turn.calls and _LEGACY in [call.kind for call in turn.calls]:
        message["function_call"] = _spelled(turn.calls[0])
    elif turn.calls:
        message["tool_calls"] = [_echo_of_call(call) for call in turn.calls]
    elif message["content"] is None:
        message["content"] = ""
    return message


def tool_message(call: Proposed, words: str) -> dict[str, object]:
    """The result of one call, as a message of the history. The dialect has no error flag: the text says it."""
    if call.kind is _LEGACY:
        return {"role": "function", "name": _name(call), "content": words}
    return {"role": "tool", "tool_call_id": call.reply_id, "content": words}


def results(answers: Sequence[Answer]) -> list[dict[str, object]]:
    """The results of all calls of a turn. A tool message holds text alone: pictures follow in a user's message."""
    messages = [tool_message(answer.call, answer.text) for answer in answers]
    pictures = [part for answer in answers if answer.images for part in _picture_parts(answer)]
    return [*messages, {"role": "user", "content": pictures}] if pictures else messages


def _paired(messages: Sequence[Mapping[str, object]]) -> Repaired:
    sent: list[Entry] = []
    waiting: list[str] = []
    for message in map(dict, messages):
        if message.get("role") == "tool":
            answered = message.get("tool_call_id")
            waiting = [call_id for call_id in waiting if call_id != answered] if waiting != [answered] else []
        else:
            if waiting:
                sent += map(_interrupted, waiting)
            calls = message.get("tool_calls")
            waiting = [text(call.get("id")) for call in mappings(calls)] if calls else []
        sent.append(message)
    return Repaired([*sent, *map(_interrupted, waiting)], not waiting, [])


def _interrupted(call_id: str) -> dict[str, object]:
    return {"role": "tool", "tool_call_id": call_id, "content": INTERRUPTED}


def _picture_parts(answer: Answer) -> list[dict[str, object]]:
    shown: list[dict[str, object]] = [
        {"type": "image_url", "image_url": {"url": image.link}}
        if image.media_type.startswith("image/")
        else {"type": "text", "text": f"[{image.media_type} left out]"}
        for image in answer.images
    ]
    caption: dict[str, object] = {"type": "text", "text": f"Returned by {answer.call.name} ({answer.call.reply_id}):"}
    return [caption, *shown] if shown else []


def _choice(choice: Choice, *, only: Sequence[str]) -> object:
    if choice is Choice.NONE or not only:
        return str(choice)
    tools = [{"type": "function", "function": {"name": name}} for name in only]
    if len(tools) == 1 and choice is Choice.REQUIRED:
        return tools[0]
    return {"type": "allowed_tools", "allowed_tools": {"mode": choice.value, "tools": tools}}


def _echo_of_call(call: Proposed) -> dict[str, object]:
    extra = _decoded(call.echo)
    if call.kind is _CUSTOM:
        spelled: dict[str, object] = {"name": _name(call), "input": call.arguments_raw}
        return {"id": call.reply_id, "type": "custom", "custom": spelled} | extra
    return {"id": call.reply_id, "type": "function", "function": _spelled(call)} | extra


def _decoded(echo: str) -> dict[str, object]:
    found: dict[str, object] = {} if echo == "{}" else json.loads(echo)
    return found


def _spelled(call: Proposed) -> dict[str, object]:
    arguments = call.arguments_raw if is_object(call.arguments_raw) else "{}"
    return {"name": _name(call), "arguments": arguments}


def _name(call: Proposed) -> str:
    return sendable_name(call.name, characters_max=NAME_CHARACTERS_MAX)
