"""The Responses dialect: declarations and requests out, turns in, results back. No I/O.

Source: the type definitions of OpenAI's SDK and recorded traffic of OpenAI and compatible servers. A conversation goes
on in one of two ways: the whole history is sent again, with every item of `echo` (reasoning right before what it led
to, or the server answers 400), or `previous_response_id` is set in `Options.extra` and only the results are sent. With
`store: false` the history needs `include: ["reasoning.encrypted_content"]`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from interlock.models.blocks import sendable_name
from interlock.models.codec import Answer, Choice, Image, Options
from interlock.models.conversation import Repaired, as_sent
from interlock.models.names import WireNames
from interlock.models.openai_responses_items import Item, calls_of
from interlock.models.openai_responses_read import StreamReader, read_response, read_stream
from interlock.models.pairing import INTERRUPTED
from interlock.models.strict import is_object, mapping, mappings, strict_json, text
from interlock.models.turn import CallKind, Ended, Proposed, Turn, Usage

__all__ = [
    "APPROVED",
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
    "declarations",
    "echo",
    "read_response",
    "read_stream",
    "reader",
    "request",
    "results",
]

TOOLS_MAX: Final = 128
NAME_CHARACTERS_MAX: Final = 64
_DOCUMENTS: Final = frozenset({"application/pdf"})
APPROVED: Final = "approved"
"""The text of the result that lets a hosted MCP server's call run. Any other text denies it and says why."""


def declarations(
    specs: Iterable[tuple[str, str, Mapping[str, object]]], *, names: WireNames
) -> list[dict[str, object]]:
    """The `tools` entries for (name, description, input schema) triples. The schema is sent as it is.

    `strict` is said to be off: left out, the API turns it on and changes the schema without a word. Raises ValueError
    for more than 128 tools, the dialect's limit, and KeyError for a name that `names` does not spell.
    """
    tools: list[dict[str, object]] = [
        {
            "type": "function",
            "name": names.to_wire[name],
            "description": description,
            "parameters": dict(schema),
            "strict": False,
        }
        for name, description, schema in specs
    ]
    if len(tools) > TOOLS_MAX:
        raise ValueError(f"Responses takes at most {TOOLS_MAX} tools; {len(tools)} were given.")
    return tools


def request(
    messages: Sequence[Mapping[str, object]],
    *,
    options: Options,
    tools: Sequence[Mapping[str, object]] = (),
    choice: Choice = Choice.AUTO,
    only: Sequence[str] = (),
) -> dict[str, object]:
    """The request body. `messages` are the items of `input`. `only` is honoured by OpenAI itself.

    A call in the history that was left without a result is answered as interrupted: the API refuses it otherwise.
    """
    body: dict[str, object] = {
        "model": options.model,
        "input": as_sent(messages, repair=_paired).entries,
        options.tokens_field or "max_output_tokens": options.tokens_max,
    }
    if options.temperature is not None:
        body["temperature"] = options.temperature
    if options.stream:
        body["stream"] = True
    if tools:
        body |= {"tools": [dict(tool) for tool in tools], "tool_choice": _choice(choice, only=only)}
        body |= {"parallel_tool_calls": options.parallel_calls}
    return body | dict(options.extra)


def reader() -> StreamReader:
    """A reader for one stream of status 200."""
    return StreamReader()


def echo(turn: Turn) -> list[dict[str, object]]:
    """The turn's items as they came, for the history. Every call must then be answered by `results`.

    Changed is only what servers refuse: labels that are missing or not unique, a function's arguments that are no JSON
    object, foreign characters in its name (the call's own result says what was wrong with them), and reasoning at the
    end that led to nothing.
    """
    items = [dict(item) for item in mappings(mapping(json.loads(turn.echo)).get("output"))]
    asked = {_item_of(call): call for call in turn.calls}
    for at, call in asked.items():
        _mend(items[at], call)
    kept = [item for at, item in enumerate(items) if at in asked or not turn.items[at].endswith("*")]
    while kept and kept[-1].get("type") == "reasoning":
        kept.pop()
    return kept


def results(answers: Sequence[Answer]) -> list[dict[str, object]]:
    """The results of all calls of a turn. The dialect has an error flag for patches and exits only: the text says it.

    A `tool_search` is answered by JSON text of a list of declarations. An approval request of a hosted MCP server is
    granted by the text `approved` alone, and only where the answer is not `failed`. What a provider warns of before a
    movement on a screen is acknowledged where that was done.
    """
    return [_result(answer) for answer in answers]


def _paired(items: Sequence[Mapping[str, object]]) -> Repaired:
    answered = {label for item in items for label in _answers_to(item)}
    sent: list[dict[str, object]] = []
    waiting: list[dict[str, object]] = []
    for item in map(dict, items):
        if item.get("role") == "user":
            sent, waiting = sent + waiting, []
        sent.append(item)
        waiting += [_interrupted(call) for call in calls_of([Item(item)]) if _may_lack(call, answered)]
    sent += waiting
    return Repaired(sent, len(sent) == len(items), [])


def _answers_to(item: Mapping[str, object]) -> Iterator[str]:
    """The labels of the calls that an item of the history answers."""
    kind = text(item.get("type"))
    if kind.endswith("_output"):
        yield text(item.get("id" if kind == "local_shell_call_output" else "call_id"))
    elif kind == "mcp_approval_response":
        yield text(item.get("approval_request_id"))


def _may_lack(call: Proposed, answered: Collection[str]) -> bool:
    """A picture of a screen cannot be made up."""
    return bool(call.wire_id) and call.wire_id not in answered and call.kind is not CallKind.COMPUTER


def _interrupted(call: Proposed) -> dict[str, object]:
    return _result(Answer(call, "[]" if call.kind is CallKind.TOOL_SEARCH else INTERRUPTED, failed=True))


def _result(answer: Answer) -> dict[str, object]:
    call = answer.call
    match call.kind:
        case CallKind.MCP_APPROVAL:
            return _approval(answer)
        case CallKind.TOOL_SEARCH:
            found: dict[str, object] = {"execution": "client", "status": "completed", "tools": _declared(answer.text)}
            return _output("tool_search_output", call) | found
        case CallKind.APPLY_PATCH:
            status = "failed" if answer.failed else "completed"
            return _output("apply_patch_call_output", call) | {"status": status, "output": answer.text}
        case CallKind.SHELL:
            return _output("shell_call_output", call) | _shell(answer)
        case CallKind.LOCAL_SHELL:
            return {"type": "local_shell_call_output", "id": call.reply_id, "output": answer.text}
        case CallKind.COMPUTER:
            return _output("computer_call_output", call) | _screen(answer)
        case CallKind.CUSTOM:
            return _output("custom_tool_call_output", call) | {"output": _content(answer)}
        case _:
            return _output("function_call_output", call) | {"output": _content(answer)}


def _output(kind: str, call: Proposed) -> dict[str, object]:
    caller: dict[str, object] = {"caller": json.loads(call.caller)} if call.caller else {}
    return {"type": kind, "call_id": call.reply_id} | caller


def _content(answer: Answer) -> object:
    if not answer.images:
        return answer.text
    words = [{"type": "input_text", "text": answer.text}] if answer.text else []
    return [*words, *map(_media, answer.images)]


def _media(image: Image) -> dict[str, object]:
    """A picture, or a document whose bytes are at hand. Of anything else the model is told: the API refuses it."""
    if image.media_type.startswith("image/"):
        return {"type": "input_image", "image_url": image.link}
    if image.media_type in _DOCUMENTS:
        where = {"file_url": image.url} if image.url else {"filename": "result.pdf", "file_data": image.link}
        return {"type": "input_file", **where}
    return {"type": "input_text", "text": f"[{image.media_type} left out]"}


def _approval(answer: Answer) -> dict[str, object]:
    approved = answer.text == APPROVED and not answer.failed
    reason: dict[str, object] = {} if approved else {"reason": answer.text}
    response = {"type": "mcp_approval_response", "approval_request_id": answer.call.reply_id, "approve": approved}
    return response | reason


def _screen(answer: Answer) -> dict[str, object]:
    """A picture of the screen. What the provider warned of counts as seen only where the call was let run."""
    shot = answer.images[0].link if answer.images else ""
    shown: dict[str, object] = {"output": {"type": "computer_screenshot", "image_url": shot}}
    checks = mapping(json.loads(answer.call.echo)).get("checks")
    return shown | ({"acknowledged_safety_checks": checks} if checks and not answer.failed else {})


def _shell(answer: Answer) -> dict[str, object]:
    outcome = {"type": "exit", "exit_code": int(answer.failed)}
    printed: dict[str, object] = {"output": [{"stdout": answer.text, "stderr": "", "outcome": outcome}]}
    length_max = mapping(_parsed(answer.call.arguments_raw)).get("max_output_length")
    return printed if length_max is None else printed | {"max_output_length": length_max}


def _declared(source: str) -> list[dict[str, object]]:
    return [dict(tool) for tool in mappings(_parsed(source))]


def _parsed(source: str) -> object:
    try:
        return strict_json(source)
    except (ValueError, RecursionError):
        return None


def _item_of(call: Proposed) -> int:
    at: int = json.loads(call.echo)["item"]
    return at


def _mend(item: dict[str, object], call: Proposed) -> None:
    item["id" if call.kind is CallKind.MCP_APPROVAL else "call_id"] = call.reply_id
    if call.kind is CallKind.FUNCTION:
        item["arguments"] = call.arguments_raw if is_object(call.arguments_raw) else "{}"
        item["name"] = sendable_name(call.name, characters_max=NAME_CHARACTERS_MAX)


def _choice(choice: Choice, *, only: Sequence[str]) -> object:
    if choice is Choice.NONE or not only:
        return choice.value
    tools = [{"type": "function", "name": name} for name in only]
    if len(tools) == 1 and choice is Choice.REQUIRED:
        return tools[0]
    return {"type": "allowed_tools", "mode": choice.value, "tools": tools}
