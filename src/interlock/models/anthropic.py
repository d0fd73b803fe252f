"""The Anthropic Messages dialect: declarations and requests out, turns in, results back. No I/O.

Source: the Anthropic API reference, /v1/messages. Read on recordings of Anthropic's servers; tried live with the one of
llama.cpp, which speaks it too: a call, its result and the next turn (November 2026).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from interlock.models.anthropic_read import read_response, read_stream, reader
from interlock.models.blocks import sendable_name
from interlock.models.codec import Answer, Choice, Image, Options
from interlock.models.conversation import as_sent
from interlock.models.names import WireNames
from interlock.models.pairing import Pairs, paired
from interlock.models.strict import mapping, mappings, text
from interlock.models.turn import Proposed, Turn

__all__ = [
    "container",
    "declarations",
    "echo",
    "read_response",
    "read_stream",
    "reader",
    "request",
    "results",
]

_NAME_CHARACTERS_MAX: Final = 128
_DIRECT: Final = ("direct", None)
_DOCUMENTS: Final = frozenset({"application/pdf"})
_CHOICES: Final = {Choice.AUTO: "auto", Choice.NONE: "none", Choice.REQUIRED: "any"}
_PAIRS: Final = Pairs(
    call_id=lambda block: text(block.get("id")) if block.get("type") == "tool_use" else "",
    result_id=lambda block: text(block.get("tool_use_id")) if block.get("type") == "tool_result" else "",
    result=lambda call_id, words: {
        "type": "tool_result",
        "tool_use_id": call_id,
        "content": words,
        "is_error": True,
    },
    words=lambda words: {"type": "text", "text": words},
)


def declarations(
    specs: Iterable[tuple[str, str, Mapping[str, object]]], *, names: WireNames
) -> list[dict[str, object]]:
    """The `tools` entries for (name, description, input schema) triples. A schema without a type gets `object`.

    Raises KeyError for a name that `names` does not spell.
    """
    return [
        {"name": names.to_wire[name], "description": description, "input_schema": {"type": "object"} | dict(schema)}
        for name, description, schema in specs
    ]


def request(
    messages: Sequence[Mapping[str, object]],
    *,
    options: Options,
    tools: Sequence[Mapping[str, object]] = (),
    choice: Choice = Choice.AUTO,
    only: Sequence[str] = (),
) -> dict[str, object]:
    """The request body. Messages of the role `system` become its `system`; each call in the history that was
    left without a result is answered as failed, since the provider refuses a history that is not paired.

    `only` sends fewer tools, since the dialect has no other way. Raises ValueError where a call is required of a model
    that was told to think at length: the provider takes only `auto` and `none` then.
    """
    sent = as_sent(messages, repair=partial(paired, pairs=_PAIRS))
    body: dict[str, object] = {
        "model": options.model,
        options.tokens_field or "max_tokens": options.tokens_max,
        "messages": sent.entries,
    }
    if sent.system:
        body["system"] = _system(sent.system)
    if options.temperature is not None:
        body["temperature"] = options.temperature
    if options.stream:
        body["stream"] = True
    offered = [dict(tool) for tool in tools if not only or tool.get("name") in only]
    if offered:
        body |= {"tools": offered, "tool_choice": _choice(offered, choice=choice, options=options, only=only)}
    return body | dict(options.extra)


def echo(turn: Turn) -> list[dict[str, object]]:
    """The turn as a message of the history, block by block as it came. Every call must then be answered.

    A turn that left nothing to send back gives no message: the provider refuses an empty one.
    """
    blocks = [_sendable(mapping(entry.get("body"))) for entry in mappings(json.loads(turn.echo).get("content"))]
    return [{"role": "assistant", "content": blocks}] if blocks else []


def results(answers: Sequence[Answer]) -> list[dict[str, object]]:
    """One user message with the results of all calls of a turn. It has to follow directly after the turn."""
    return [{"role": "user", "content": [_result(answer) for answer in answers]}] if answers else []


def container(turn: Turn) -> str | None:
    """The sandbox that the provider ran code in. The next request names it as `container`, in `Options.extra`."""
    held = json.loads(turn.echo).get("container")
    return text(mapping(held).get("id")) or text(held) or None


def _system(said: Sequence[object]) -> str | list[Mapping[str, object]]:
    if len(said) == 1 and isinstance(said[0], str):
        return said[0]
    return [block for content in said for block in _blocks(content)]


def _blocks(content: object) -> list[Mapping[str, object]]:
    return mappings([{"type": "text", "text": content}] if isinstance(content, str) else content)


def _choice(
    offered: Sequence[Mapping[str, object]], *, choice: Choice, options: Options, only: Sequence[str]
) -> dict[str, object]:
    thinking = mapping(options.extra.get("thinking")).get("type", "disabled") != "disabled"
    if choice is Choice.REQUIRED and thinking:
        raise ValueError("Anthropic takes no required tool choice together with extended thinking.")
    if choice is Choice.REQUIRED and len(only) == 1:
        spelled: dict[str, object] = {"type": "tool", "name": only[0]}
    else:
        spelled = {"type": _CHOICES[choice]}
    programmatic = any(set(_callers(tool)) - {"direct"} for tool in offered)
    if choice is not Choice.NONE and not options.parallel_calls and not programmatic:
        spelled["disable_parallel_tool_use"] = True
    return spelled


def _callers(tool: Mapping[str, object]) -> list[str]:
    callers = tool.get("allowed_callers")
    return [text(caller) for caller in callers] if isinstance(callers, list) else []


def _sendable(block: Mapping[str, object]) -> dict[str, object]:
    """The provider refuses a whole history for a name with foreign characters, even one that its model wrote."""
    name = sendable_name(text(block.get("name")), characters_max=_NAME_CHARACTERS_MAX)
    return dict(block) | ({"name": name} if block.get("type") == "tool_use" else {})


def _result(answer: Answer) -> dict[str, object]:
    entry: dict[str, object] = {"type": "tool_result", "tool_use_id": answer.call.reply_id}
    content = _content(answer)
    if content:
        entry["content"] = content
    entry["is_error"] = answer.failed
    if answer.call.namespace:
        entry["toolset_name"] = answer.call.namespace
    return entry


def _content(answer: Answer) -> str | list[dict[str, object]]:
    if not answer.images:
        return answer.text
    words: list[dict[str, object]] = [{"type": "text", "text": answer.text}] if answer.text else []
    if _asked_by_a_program(answer.call):
        return words + [{"type": "text", "text": f"[{image.media_type} left out]"} for image in answer.images]
    return words + [_media(image) for image in answer.images]


def _asked_by_a_program(call: Proposed) -> bool:
    """Whoever asked may be code of the model's that runs at the provider: it takes text alone."""
    return bool(call.caller) and mapping(json.loads(call.caller)).get("type") not in _DIRECT


def _media(image: Image) -> dict[str, object]:
    source: dict[str, object] = {"type": "url", "url": image.url}
    if not image.url:
        source = {"type": "base64", "media_type": image.media_type, "data": image.base64}
    if image.media_type in _DOCUMENTS:
        return {"type": "document", "source": source}
    if image.media_type.startswith("image/"):
        return {"type": "image", "source": source}
    return {"type": "text", "text": f"[{image.media_type} left out]"}
