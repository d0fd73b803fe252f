"""How fast a codec reads a stream of small events: a megabyte of words, in pieces of 16 KB; one case a dialect."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import cycle

from benchmarks.harness import Measured, in_turn
from interlock.models import anthropic, bedrock, gemini, openai_chat, openai_responses
from interlock.models.codec import Codec
from interlock.models.turn import Ended

BYTES = 1_000_000
PIECE_BYTES = 16_384
WORDS = 'The quick brown fox reads "a file" of the lazy dog, and saves a note of 12,5 words on it. '.split(" ")
CALL = {"name": "save", "arguments": ""}
CHUNK = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "system_fingerprint": "f"}
USED = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}

Event = Mapping[str, object]


@dataclass(frozen=True)
class Stream:
    """One dialect: what comes before the words of a text, before those of a call's one argument, and at the end."""

    codec: Codec
    said: Callable[[str], Event]
    spelled: Callable[[str], Event]
    begins: tuple[Event, ...] = ()
    calls: tuple[Event, ...] = ()
    ends: tuple[Event, ...] = ()
    frame: str = "data: {}\n\n"


def _anthropic(kind: str, index: int = 0, **fields: object) -> Event:
    return {"type": kind, "index": index, **fields}


def _chat(stop: str | None = None, **delta: object) -> Event:
    return CHUNK | {"choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": stop}]}


def _responses(kind: str, index: int, **fields: object) -> Event:
    return {"type": f"response.{kind}", "sequence_number": 7, "item_id": "i", "output_index": index, **fields}


def _gemini(part: Event, **fields: object) -> Event:
    candidate = {"content": {"parts": [part], "role": "model"}, "index": 0, **fields}
    return {"candidates": [candidate], "usageMetadata": USED, "modelVersion": "m", "responseId": "r"}


def _gemini_piece(word: str) -> Event:
    piece = {"jsonPath": "$.text", "stringValue": word, "willContinue": True}
    return _gemini({"functionCall": {"partialArgs": [piece], "willContinue": True}})


def _bedrock(index: int, **delta: object) -> Event:
    return {"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}}


STREAMS: Mapping[str, Stream] = {
    "openai-responses": Stream(
        openai_responses,
        said=lambda word: _responses("output_text.delta", 0, content_index=0, delta=word, logprobs=[]),
        spelled=lambda word: _responses("function_call_arguments.delta", 1, delta=word),
        begins=(_responses("output_item.added", 0, item={"type": "message", "content": []}),),
        calls=(_responses("output_item.added", 1, item=CALL | {"type": "function_call", "call_id": "c"}),),
        ends=({"type": "response.completed", "response": {"status": "completed", "output": []}},),
    ),
    "openai-chat": Stream(
        openai_chat,
        said=lambda word: _chat(content=word),
        spelled=lambda word: _chat(tool_calls=[{"index": 0, "function": {"arguments": word}}]),
        calls=(_chat(tool_calls=[{"index": 0, "id": "c", "type": "function", "function": CALL}]),),
        ends=(_chat("tool_calls"),),
    ),
    "anthropic": Stream(
        anthropic,
        said=lambda word: _anthropic("content_block_delta", delta={"type": "text_delta", "text": word}),
        spelled=lambda word: _anthropic("content_block_delta", 1, delta=_input(word)),
        begins=(_anthropic("content_block_start", content_block={"type": "text", "text": ""}),),
        calls=(_anthropic("content_block_start", 1, content_block={"type": "tool_use", "id": "t", "name": "save"}),),
        ends=(
            _anthropic("content_block_stop", 1),
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
            {"type": "message_stop"},
        ),
        frame="event: content_block_delta\ndata: {}\n\n",
    ),
    "gemini": Stream(
        gemini,
        said=lambda word: _gemini({"text": word}),
        spelled=_gemini_piece,
        calls=(_gemini({"functionCall": {"name": "save", "willContinue": True}}),),
        ends=(
            _gemini({"functionCall": {"partialArgs": [{"jsonPath": "$.text", "stringValue": ""}]}}),
            _gemini({"text": ""}, finishReason="STOP"),
        ),
    ),
    "bedrock": Stream(
        bedrock,
        said=lambda word: _bedrock(0, text=word),
        spelled=lambda word: _bedrock(1, toolUse={"input": word}),
        calls=({"contentBlockStart": {"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "t", "name": "s"}}}},),
        ends=({"contentBlockStop": {"contentBlockIndex": 1}}, {"messageStop": {"stopReason": "tool_use"}}),
        frame="{}\n",
    ),
}


def _input(word: str) -> Event:
    return {"type": "input_json_delta", "partial_json": word}


def events(stream: Stream) -> list[str]:
    """The events of a stream as JSON texts. Half of its bytes are a text, half a call."""
    half = BYTES // 2 - 64
    said, spelled = _filled(stream, stream.said, half), _filled(stream, stream.spelled, half)
    return [*map(_json, stream.begins), *said, *map(_json, stream.calls), *spelled, *map(_json, stream.ends)]


async def read(name: str) -> Measured:
    """Megabytes that the codec reads in a second. `json.loads` of each event, and nothing else, is told beside it."""
    stream = STREAMS[name]
    texts = events(stream)
    body = "".join(map(stream.frame.format, texts)).encode()
    pieces = [body[at : at + PIECE_BYTES] for at in range(0, len(body), PIECE_BYTES)]

    async def case() -> None:
        if stream.codec.read_stream(pieces).ended is not Ended.CALLS_ALLOWED:
            raise RuntimeError("the benchmark's stream was not read")

    async def floor() -> None:
        for text in texts:
            json.loads(text)

    taken, parsed = await in_turn(case, floor, times=2)
    megabytes = len(body) / 1e6
    title = f"{name} stream (json.loads {megabytes / parsed:.0f})"
    return Measured(title, megabytes / taken, "MB/s", None, 50, 100, at_least=True)


CASES: Mapping[str, Callable[[], Coroutine[None, None, Measured]]] = {
    f"codec-stream-{name}": partial(read, name) for name in STREAMS
}


def _filled(stream: Stream, delta: Callable[[str], Event], size: int) -> list[str]:
    texts: list[str] = []
    for word in cycle(WORDS):
        if size <= 0:
            break
        texts.append(_json(delta(f"{word} ")))
        size -= len(stream.frame) + len(texts[-1])
    return texts


def _json(event: Event) -> str:
    return json.dumps(event, separators=(",", ":"))
