"""Reads what Bedrock's Converse and ConverseStream sent, a whole body or a stream, into one `Turn`.

What the service is known to do, and what follows:

- the usage may come before or after the end of the message: a stream is read to its own end, so that neither is lost;
- an exception ends a stream of status 200, wherever it comes;
- a tool of the provider's is a `toolUse` of another type, with its result in the same message: both are only recorded;
- a cut input is closed like a whole one: only the word for the end tells, and the last call counts as unfinished.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from interlock.models.blocks import INPUT, Block, BlockDraft, Dialect, Does, place, sums
from interlock.models.blocks_read import BlockReader, read_all, read_body
from interlock.models.eventstream import EventStreamCutter
from interlock.models.joining import Joint, Joints
from interlock.models.sse import ServerEvent
from interlock.models.strict import count, error_of, error_sentence, mapping, mappings, strict_json, text
from interlock.models.turn import Ended, Turn

DIALECT: Final = Dialect(
    id_field="toolUseId",
    calling="tool_use",
    stops=MappingProxyType(
        {
            "tool_use": Ended.CALLS_ALLOWED,
            "end_turn": Ended.CALLS_ALLOWED,
            "stop_sequence": Ended.CALLS_ALLOWED,
            "max_tokens": Ended.TRUNCATED,
            "model_context_window_exceeded": Ended.TRUNCATED,
            "guardrail_intervened": Ended.REFUSED,
            "content_filtered": Ended.REFUSED,
            "malformed_model_output": Ended.MODEL_ERROR,
            "malformed_tool_use": Ended.MODEL_ERROR,
        }
    ),
)
TEXT: Final = "text"
TOOL_USE: Final = "toolUse"
REASONING: Final = "reasoningContent"
REDACTED: Final = "redactedContent"
CITED: Final = "citationsContent"
_DELTA: Final = ("contentBlockDelta", "delta")
JOINTS: Final = Joints(
    (Joint((*_DELTA, TEXT)), Joint((*_DELTA, TOOL_USE, INPUT)), Joint((*_DELTA, REASONING, TEXT))),
    unread=(("contentBlockDelta", "p"),),
)
_CACHE_FIELDS: Final = ("cacheReadInputTokens", "cacheWriteInputTokens")
CLIENT_TYPES: Final = (None, "", "tool_use")


def read_response(body: bytes, *, status: int = 200) -> Turn:
    """Read a response that came in one piece. `status` is the HTTP status it came with."""
    message = MessageDraft()
    return read_body(body, status=status, draft=message.draft, take=message.take_body)


def read_stream(chunks: Iterable[bytes], *, status: int = 200) -> Turn:
    """Read a whole stream at once, in whatever pieces it comes. `status` is the HTTP status it came with."""
    if status >= 400:
        return read_response(b"".join(chunks), status=status)
    return read_all(reader(), chunks)


def reader() -> BlockReader:
    """A reader for one stream of status 200, in binary frames or in lines of JSON."""
    message = MessageDraft()
    return BlockReader(message.draft, cutter=EventStreamCutter(JOINTS), take=message.take_event)


class MessageDraft:
    """One message, as its events or its body fill the draft."""

    def __init__(self) -> None:
        self.draft = BlockDraft(DIALECT)

    def take_body(self, body: Mapping[str, object]) -> None:
        """Read a whole response body."""
        message = mapping(mapping(body.get("output")).get("message"))
        if "message" in body or "Message" in body or not (message or "stopReason" in body):
            self._take_error(body)
            return
        for entry in mappings(message.get("content")):
            block = _block(entry)
            block.closed = True
            self.draft.blocks.append(block)
        self.draft.take_stop(body.get("stopReason"))
        self._take_usage(body)

    def take_event(self, event: ServerEvent) -> None:
        """Read one event of a stream. Events and deltas of unknown kinds say nothing that we could use."""
        for kind, value in mapping(strict_json(event.data)).items():
            said = mapping(value)
            if kind != "contentBlockDelta":
                self._take(kind, said)
            elif not self.draft.stop:
                self._take_delta(mapping(said.get("delta")), index=place(said.get("contentBlockIndex")))

    def _take(self, kind: str, said: Mapping[str, object]) -> None:
        if self.draft.stop and kind.startswith("contentBlock"):
            return
        match kind:
            case "messageStart":
                self.draft.restart()
            case "contentBlockStart":
                self._take_start(mapping(said.get("start")), index=place(said.get("contentBlockIndex")))
            case "contentBlockStop":
                self.draft.close(place(said.get("contentBlockIndex")))
            case "messageStop":
                self.draft.take_stop(said.get("stopReason"))
            case "metadata":
                self._take_usage(said)
            case "error" | "exception":
                self._take_error(said)
            case _:
                self._take_unknown(kind, said)

    def _take_error(self, said: Mapping[str, object]) -> None:
        words = error_sentence(dict(said) | {"message": said.get("message") or said.get("Message")})
        self.draft.take_error(words, error=error_of(said))

    def _take_unknown(self, kind: str, said: Mapping[str, object]) -> None:
        """Exceptions go by many names, and by new ones tomorrow."""
        if kind.endswith(("Exception", "Error")):
            self.draft.take_error(error_sentence(said), error=json.dumps({kind: said}))

    def _take_usage(self, around: Mapping[str, object]) -> None:
        usage = mapping(around.get("usage"))
        sent, output = count(usage.get("inputTokens")), count(usage.get("outputTokens"))
        cached = sum(count(usage.get(name)) or 0 for name in _CACHE_FIELDS)
        total = None if sent is None else sent + cached
        self.draft.usage = sums(self.draft.usage, sent=total, received=output)

    def _take_start(self, start: Mapping[str, object], *, index: object) -> None:
        """A start that says nothing is one of text or reasoning: what it is, its first delta says."""
        if start:
            self.draft.begin(_block(start), index=index)

    def _take_delta(self, delta: Mapping[str, object], *, index: object) -> None:
        kind, block = _kind(delta), self.draft.open_at(index)
        if kind == TOOL_USE:
            self._take_input(block, mapping(delta[kind]).get(INPUT))
        elif kind == "citation":
            _add(block or self._begin(TEXT, index=index), "citations", [delta[kind]])
        elif kind:
            _grow(block if block and block.kind == kind else self._begin(kind, index=index), delta[kind])

    def _begin(self, kind: str, *, index: object) -> Block:
        block = _block({kind: {}})
        self.draft.begin(block, index=index)
        return block

    def _take_input(self, block: Block | None, piece: object) -> None:
        if block is not None and block.kind == TOOL_USE:
            block.grow_input(piece)
        elif piece:
            self.draft.fail("The stream goes on with a call that is not being written.")


def _grow(block: Block, value: object) -> None:
    """What a delta adds: text to text, a reasoning's own fields to its own, entries to a list."""
    if isinstance(value, str):
        block.grow(TEXT, value)
    elif isinstance(value, list):
        _add(block, "content", value)
    for name, piece in mapping(value).items():
        if name == REDACTED:
            block.body[name] = _joined_bytes(text(block.body.get(name)), text(piece))
        elif isinstance(piece, str):
            block.grow(name, piece)
        else:
            block.body[name] = piece


def _add(block: Block, name: str, entries: list[object]) -> None:
    held = block.body.setdefault(name, [])
    if isinstance(held, list):
        held += entries


def _joined_bytes(before: str, more: str) -> str:
    """Bytes come as base64 text, piece by piece, each with its own padding."""
    if not before:
        return more
    return base64.b64encode(base64.b64decode(before) + base64.b64decode(more)).decode("ascii")


def _block(entry: Mapping[str, object]) -> Block:
    kind = _kind(entry)
    value = entry.get(kind)
    body: dict[str, object] = {TEXT: value} if isinstance(value, str) else dict(mapping(value))
    if kind == CITED:
        body[TEXT] = "".join(text(part.get(TEXT)) for part in mappings(body.get("content")))
    return Block(kind=kind, does=_does(kind, body), body=body)


def _kind(entry: Mapping[str, object]) -> str:
    """A block has one member. Where a server sends more, a call among them is the one that must be answered."""
    return TOOL_USE if TOOL_USE in entry else next(iter(entry), "")


def _does(kind: str, body: Mapping[str, object]) -> Does:
    if kind in {TEXT, CITED}:
        return Does.TEXT
    if kind != TOOL_USE:
        return Does.OTHER
    return Does.CALL if body.get("type") in CLIENT_TYPES else Does.PROVIDER_CALL
