"""Takes recorded requests apart: what the model had said, and how its calls were answered in a form that was accepted.

The response that a request follows is seldom in a corpus, but its content stands in the request: put back into a
response it is read, echoed and answered, and must come out as it was accepted.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

Entry = Mapping[str, Any]


@dataclass(frozen=True)
class Told:
    """One result without its spelling. The correlation is the label, or the name where the wire has no labels."""

    correlation: str
    text: str
    failed: bool = False
    images: tuple[str, ...] = ()


@dataclass(frozen=True)
class FollowUp:
    """A turn as a body to read, and the entries of the history that it became and that answered it."""

    body: bytes
    echoed: Sequence[Entry]
    answered: Sequence[Entry]


@dataclass(frozen=True)
class Spelling:
    """How a provider's requests are taken apart."""

    history: str
    is_turn: Callable[[Entry], bool]
    is_answer: Callable[[Entry], bool]
    body: Callable[[Sequence[Entry]], object]
    told: Callable[[Entry], Iterator[Told]]


def follow_ups(provider: str, request: Entry) -> Iterator[FollowUp]:
    """Every turn of the request's history with calls in it that were answered."""
    spelling = SPELLINGS[provider]
    history: Any = request[spelling.history]
    entries: Sequence[Entry] = history if isinstance(history, list) else []
    at = 0
    while at < len(entries):
        turn = _run(entries, at, spelling.is_turn)
        answers = _run(entries, at + len(turn), spelling.is_answer)
        if turn and answers:
            yield FollowUp(json.dumps(spelling.body(turn)).encode(), turn, answers)
        at += max(1, len(turn) + len(answers))


def told(provider: str, answered: Sequence[Entry]) -> list[Told]:
    """All results, without their spelling."""
    results: list[Told] = []
    for entry in answered:
        results += SPELLINGS[provider].told(entry)
    return results


def plain(value: Any) -> Any:
    """Without what says nothing: nulls, and marks for caches."""
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    if isinstance(value, dict):
        return {name: plain(entry) for name, entry in value.items() if entry is not None and name != "cache_control"}
    return value


def _run(entries: Sequence[Entry], start: int, belongs: Callable[[Entry], bool]) -> Sequence[Entry]:
    end = start
    while end < len(entries) and belongs(entries[end]):
        end += 1
    return entries[start:end]


def _chat_told(entry: Entry) -> Iterator[Told]:
    yield Told(entry["tool_call_id"], entry["content"])


def _is_responses_item(entry: Entry) -> bool:
    return "type" in entry and entry.get("role") != "user" and not str(entry["type"]).endswith("_output")


def _responses_told(entry: Entry) -> Iterator[Told]:
    output = entry["output"]
    parts: Sequence[Entry] = [{"type": "input_text", "text": output}] if isinstance(output, str) else output
    words = [part["text"] for part in parts if part["type"] == "input_text"]
    yield Told(
        entry["call_id"], "".join(words), images=tuple(part["image_url"] for part in parts if "image_url" in part)
    )


def _anthropic_told(entry: Entry) -> Iterator[Told]:
    for block in entry["content"]:
        content = block.get("content", "")
        parts: Sequence[Entry] = [{"type": "text", "text": content}] if isinstance(content, str) else content
        words = [part["text"] for part in parts if part["type"] == "text"]
        sources = [part["source"] for part in parts if part["type"] == "image"]
        images = tuple(_link(source.get("url"), source.get("media_type"), source.get("data")) for source in sources)
        yield Told(block["tool_use_id"], "".join(words), block.get("is_error", False), images)


def _bedrock_told(entry: Entry) -> Iterator[Told]:
    for block in entry["content"]:
        result = block["toolResult"]
        words = [part["text"] if "text" in part else json.dumps(part["json"]) for part in result["content"]]
        yield Told(result["toolUseId"], "".join(words), result.get("status") == "error")


def _gemini_told(entry: Entry) -> Iterator[Told]:
    for part in entry["parts"]:
        result = part["functionResponse"]
        (words,) = result["response"].values()
        yield Told(result.get("id") or result["name"], words, "error" in result["response"])


def _link(url: str | None, media_type: str | None, data: str | None) -> str:
    return url or f"data:{media_type};base64,{data}"


def _holds(entry: Entry, *, role: str, within: str, name: str) -> bool:
    """A message of that role with a part of that name, or of that type."""
    parts = entry.get(within)
    found = [part for part in parts if name in part or part.get("type") == name] if isinstance(parts, list) else []
    return entry.get("role") == role and bool(found)


def _all_hold(entry: Entry, *, within: str, name: str) -> bool:
    parts = entry.get(within)
    return _holds(entry, role="user", within=within, name=name) and all(
        name in part or part.get("type") == name for part in parts or []
    )


SPELLINGS: Final[Mapping[str, Spelling]] = {
    "openai-chat": Spelling(
        history="messages",
        is_turn=lambda entry: entry["role"] == "assistant" and "tool_calls" in entry,
        is_answer=lambda entry: entry["role"] == "tool",
        body=lambda turn: {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": turn[0]}]},
        told=_chat_told,
    ),
    "openai-responses": Spelling(
        history="input",
        is_turn=_is_responses_item,
        is_answer=lambda entry: str(entry.get("type")).endswith("_output"),
        body=lambda turn: {"status": "completed", "output": turn},
        told=_responses_told,
    ),
    "anthropic": Spelling(
        history="messages",
        is_turn=lambda entry: _holds(entry, role="assistant", within="content", name="tool_use"),
        is_answer=lambda entry: _all_hold(entry, within="content", name="tool_result"),
        body=lambda turn: {"type": "message", "role": "assistant", "stop_reason": "tool_use", **turn[0]},
        told=_anthropic_told,
    ),
    "bedrock": Spelling(
        history="messages",
        is_turn=lambda entry: _holds(entry, role="assistant", within="content", name="toolUse"),
        is_answer=lambda entry: _all_hold(entry, within="content", name="toolResult"),
        body=lambda turn: {"output": {"message": turn[0]}, "stopReason": "tool_use"},
        told=_bedrock_told,
    ),
    "gemini": Spelling(
        history="contents",
        is_turn=lambda entry: _holds(entry, role="model", within="parts", name="functionCall"),
        is_answer=lambda entry: _all_hold(entry, within="parts", name="functionResponse"),
        body=lambda turn: {"candidates": [{"content": turn[0], "finishReason": "STOP"}]},
        told=_gemini_told,
    ),
}
