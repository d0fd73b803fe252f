"""What is asked, told and read in every dialect, as lines of a table: one set of situations for all of them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

from interlock.core.canonical import Json
from interlock.models import anthropic, bedrock, gemini, openai_chat, openai_responses
from interlock.models.codec import Answer, Choice, Image, Options
from interlock.models.dialects import Dialect, declare
from interlock.models.turn import Turn

Said = Mapping[str, Any]


@dataclass(frozen=True)
class Spoken:
    """One dialect: how a user speaks, how a model's response with two calls and work of the provider's looks."""

    model: ModuleType
    dialects: tuple[Dialect, ...]
    user: Said
    response: Said
    stops: Sequence[str]
    stopped: str


SCHEMA: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "lines": {"type": "integer", "minimum": 1}},
    "required": ["path"],
}
SPECS: Final[list[tuple[str, str, dict[str, Json]]]] = [
    ("read_file", "Reads a file.", SCHEMA),
    ("mail.send", "Sends a mail.", {"type": "object", "properties": {}}),
]
PICTURE: Final = Image("image/png", base64="aGk=")
CHAT_STOPS = ("stop", "length", "tool_calls", "function_call", "content_filter", "", "eos")

DIALECTS: Final[Mapping[str, Spoken]] = {
    "openai-responses": Spoken(
        openai_responses,
        (Dialect.OPENAI_RESPONSES, Dialect.OPENAI_RESPONSES_STRICT),
        {"role": "user", "content": "Go."},
        {
            "id": "resp_1",
            "status": "completed",
            "usage": {"input_tokens": 9, "output_tokens": 4},
            "output": [
                {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VhbA=="},
                {"type": "web_search_call", "id": "ws_1", "status": "completed"},
                {
                    "type": "function_call",
                    "id": "fc_1",
                    "call_id": "c1",
                    "name": "read_file",
                    "arguments": '{"path":"a"}',
                },
                {"type": "function_call", "id": "fc_2", "call_id": "c2", "name": "mail.send", "arguments": ""},
                {"type": "mcp_approval_request", "id": "m1", "server_label": "zip1", "name": "pay", "arguments": "{}"},
            ],
        },
        ("completed", "incomplete", "failed", "in_progress", "queued", "cancelled", "other"),
        "status",
    ),
    "openai-chat": Spoken(
        openai_chat,
        (Dialect.OPENAI_CHAT, Dialect.OPENAI_CHAT_STRICT),
        {"role": "user", "content": "Go."},
        {
            "id": "chatcmpl-1",
            "usage": {"prompt_tokens": 9, "completion_tokens": 4},
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "tool_calls",
                    "message": {
                        "role": "assistant",
                        "content": None,
                        "reasoning_content": "Hm.",
                        "tool_calls": [
                            {
                                "id": "c1",
                                "type": "function",
                                "function": {"name": "read_file", "arguments": '{"path":"a"}'},
                            },
                            {"id": "c2", "type": "function", "function": {"name": "mail.send", "arguments": ""}},
                        ],
                    },
                }
            ],
        },
        CHAT_STOPS,
        "choices/0/finish_reason",
    ),
    "anthropic": Spoken(
        anthropic,
        (Dialect.ANTHROPIC, Dialect.ANTHROPIC_STRICT),
        {"role": "user", "content": "Go."},
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 4, "cache_read_input_tokens": 5, "output_tokens": 4},
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "c2VhbA=="},
                {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "a"}},
                {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
                {"type": "tool_use", "id": "c1", "name": "read_file", "input": {"path": "a"}},
                {"type": "tool_use", "id": "c2", "name": "mail.send", "input": {}},
            ],
        },
        (
            "end_turn max_tokens stop_sequence tool_use pause_turn refusal model_context_window_exceeded "
            "compaction other"
        ).split(),
        "stop_reason",
    ),
    "gemini": Spoken(
        gemini,
        (Dialect.GEMINI, Dialect.GEMINI_OPENAPI),
        {"role": "user", "parts": [{"text": "Go."}]},
        {
            "responseId": "r1",
            "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 3, "thoughtsTokenCount": 1},
            "candidates": [
                {
                    "finishReason": "STOP",
                    "content": {
                        "role": "model",
                        "parts": [
                            {"text": "Hm.", "thought": True},
                            {"executableCode": {"language": "PYTHON", "code": "1"}},
                            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
                            {
                                "functionCall": {"id": "c1", "name": "read_file", "args": {"path": "a"}},
                                "thoughtSignature": "c2VhbA==",
                            },
                            {"functionCall": {"name": "mail.send"}},
                        ],
                    },
                }
            ],
        },
        (
            "STOP MAX_TOKENS SAFETY RECITATION LANGUAGE OTHER BLOCKLIST PROHIBITED_CONTENT SPII MODEL_ARMOR "
            "MALFORMED_FUNCTION_CALL UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS MISSING_THOUGHT_SIGNATURE "
            "MALFORMED_RESPONSE CONTINUATION FINISH_REASON_UNSPECIFIED"
        ).split(),
        "candidates/0/finishReason",
    ),
    "bedrock": Spoken(
        bedrock,
        (Dialect.BEDROCK,),
        {"role": "user", "content": [{"text": "Go."}]},
        {
            "stopReason": "tool_use",
            "usage": {"inputTokens": 9, "outputTokens": 4},
            "output": {
                "message": {
                    "role": "assistant",
                    "content": [
                        {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2VhbA=="}}},
                        {"toolUse": {"toolUseId": "s1", "name": "code", "input": {}, "type": "server_tool_use"}},
                        {"toolResult": {"toolUseId": "s1", "content": [{"text": "1"}]}},
                        {"toolUse": {"toolUseId": "c1", "name": "read_file", "input": {"path": "a"}}},
                        {"toolUse": {"toolUseId": "c2", "name": "mail.send", "input": {}}},
                    ],
                }
            },
        },
        (
            "end_turn tool_use max_tokens stop_sequence guardrail_intervened content_filtered malformed_model_output "
            "malformed_tool_use model_context_window_exceeded other"
        ).split(),
        "stopReason",
    ),
}


def table(name: str) -> Iterator[str]:
    """The golden table of one dialect."""
    spoken = DIALECTS[name]
    for dialect in spoken.dialects:
        yield f"tools, {dialect}"
        yield from _indented(*declare(SPECS, dialect=dialect).tools)
    yield from _choices(spoken)
    yield from _histories(spoken)
    yield "a turn is read as"
    yield from _indented(*_told(_read(spoken)))
    yield "words for the end"
    for stop in spoken.stops:
        turn = _read(spoken, stop=stop)
        yield f"  {stop or '(empty)':34}{turn.ended:16}{len(turn.runnable)} may run"


def _choices(spoken: Spoken) -> Iterator[str]:
    declared = declare(SPECS, dialect=spoken.dialects[0])
    first, second = declared.names.to_wire.values()
    asked = {
        "auto": (Choice.AUTO, ()),
        "none": (Choice.NONE, ()),
        "required": (Choice.REQUIRED, ()),
        "one": (Choice.REQUIRED, (first,)),
        "one of some": (Choice.REQUIRED, (first, second)),
        "auto, of one": (Choice.AUTO, (second,)),
    }
    for what, (choice, only) in asked.items():
        for parallel in (False, True) if what == "auto" else (False,):
            options = Options("m", 99, temperature=0.5, stream=parallel, parallel_calls=parallel)
            body = spoken.model.request([spoken.user], options=options, tools=declared.tools, choice=choice, only=only)
            yield f"choice: {what}{', calls in parallel, streamed' if parallel else ''}"
            yield from _indented(_with_names(body))


def _histories(spoken: Spoken) -> Iterator[str]:
    turn = _read(spoken)
    options = Options("m", 99)
    answers = [Answer(call, "done") for call in turn.calls]
    failed = [Answer(call, "It broke.", failed=True) for call in turn.calls]
    seen = [Answer(call, "seen", images=(PICTURE,)) for call in turn.calls]
    yield "echo"
    yield from _indented(*spoken.model.echo(turn))
    for what, given in {"results": answers, "failed": failed, "with a picture": seen}.items():
        yield what
        yield from _indented(*spoken.model.results(given))
    history = [spoken.user, *spoken.model.echo(turn)]
    yield "a history that was left without results"
    body = spoken.model.request(history, options=options)
    yield from _indented(*next(value for value in body.values() if isinstance(value, list)))


def _read(spoken: Spoken, *, stop: str | None = None) -> Turn:
    body = json.loads(json.dumps(spoken.response))
    if stop is not None:
        *steps, last = spoken.stopped.split("/")
        holder = body
        for step in steps:
            holder = holder[int(step) if step.isdigit() else step]
        holder[last] = stop
    turn: Turn = spoken.model.read_response(json.dumps(body).encode())
    return turn


def _told(turn: Turn) -> Iterator[Said]:
    yield {"ended": turn.ended, "stop": turn.stop, "in": turn.usage.input_tokens, "out": turn.usage.output_tokens}
    for call in turn.calls:
        told = {"call": call.name, "label": call.reply_id, "arguments": call.arguments_raw, "kind": call.kind}
        yield told | ({"server": call.server} if call.server else {})
    for work in turn.provider_calls:
        yield {"provider": work.name, "kind": work.kind, "arguments": work.arguments_raw}


def _with_names(body: Said) -> Said:
    """The body, with each declaration as its name alone: they stand in the table once."""
    return {name: _names(value) if name in {"tools", "toolConfig"} else value for name, value in body.items()}


def _names(value: Any) -> Any:
    if isinstance(value, list):
        return [_names(one) for one in value]
    if not isinstance(value, dict):
        return value
    holder = value.get("function") or value.get("toolSpec") or value
    if "name" in holder and ("description" in holder):
        return holder["name"]
    return {name: _names(one) if name in {"tools", "functionDeclarations"} else one for name, one in value.items()}


def _indented(*values: Any) -> Iterator[str]:
    return (f"  {json.dumps(value, ensure_ascii=False)}" for value in values)
