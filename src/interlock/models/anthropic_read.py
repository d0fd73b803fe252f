"""Reads what an Anthropic Messages server sent, a whole body or a stream, into one `Turn`.

What servers are known to do, and what follows:

- a follow-up of a programmatic call holds its whole `tool_use` in `message_start`: such blocks are whole;
- a second `message_start` begins the message anew;
- a block that was cut by the token limit is closed all the same: then the last call of the turn counts as unfinished;
- a piece for a block that never began or was closed spoils the turn, unless it is text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from interlock.models.blocks import (
    Block,
    BlockDraft,
    Dialect,
    Does,
    place,
    sums,
)
from interlock.models.blocks_read import BlockReader, read_all, read_body
from interlock.models.joining import Joint, Joints
from interlock.models.sse import EventCutter, ServerEvent
from interlock.models.strict import count, error_of, error_sentence, mapping, mappings, strict_json, text
from interlock.models.turn import Ended, Turn, Usage

DIALECT: Final = Dialect(
    id_field="id",
    calling="tool_use",
    facts=("caller", "server_name", "toolset_name"),
    stops=MappingProxyType(
        {
            "tool_use": Ended.CALLS_ALLOWED,
            "end_turn": Ended.CALLS_ALLOWED,
            "stop_sequence": Ended.CALLS_ALLOWED,
            "max_tokens": Ended.TRUNCATED,
            "model_context_window_exceeded": Ended.TRUNCATED,
            "refusal": Ended.REFUSED,
            "pause_turn": Ended.PAUSED,
            "compaction": Ended.PAUSED,
        }
    ),
)
JOINTS: Final = Joints(
    (Joint(("delta", "text")), Joint(("delta", "partial_json")), Joint(("delta", "thinking"))),
)
_WITH_INPUT: Final = frozenset({Does.CALL, Does.PROVIDER_CALL})
_CACHE_FIELDS: Final = ("cache_creation_input_tokens", "cache_read_input_tokens")


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
    """A reader for one stream of status 200."""
    message = MessageDraft()
    return BlockReader(message.draft, cutter=EventCutter(JOINTS), take=message.take_event)


class MessageDraft:
    """One message, as its events or its body fill the draft."""

    def __init__(self) -> None:
        self.draft = BlockDraft(DIALECT)

    def take_body(self, body: Mapping[str, object]) -> None:
        """Read a whole response body."""
        if body.get("error") or body.get("type") == "error":
            self._take_error(body)
            return
        if "content" not in body and "stop_reason" not in body:
            self.draft.fail("The response holds no message.")
        self._open(body)

    def take_event(self, event: ServerEvent) -> None:
        """Read one event of a stream. Events and deltas of unknown kinds say nothing that we could use."""
        if event.data[:1] == "[" and event.data.strip() == "[DONE]":
            return
        chunk = mapping(strict_json(event.data))
        kind = chunk.get("type") or event.name
        if kind == "content_block_delta":
            self._take_delta(chunk)
        else:
            self._take_rare(kind, chunk, name=event.name)

    def _take_rare(self, kind: object, chunk: Mapping[str, object], *, name: str) -> None:
        match kind:
            case "content_block_start":
                self.draft.begin(_block(mapping(chunk.get("content_block"))), index=place(chunk.get("index")))
            case "content_block_stop":
                self.draft.close(place(chunk.get("index")))
            case "message_start":
                self._restart(mapping(chunk.get("message")))
            case "message_delta":
                self._take_end(chunk, delta=mapping(chunk.get("delta")))
            case "message_stop":
                self.draft.closed = True
            case "error":
                self._take_error(chunk)
            case _ if name == "error":
                self._take_error(chunk)

    def _take_error(self, said: Mapping[str, object]) -> None:
        self.draft.take_error(error_sentence(said), error=error_of(said))

    def _restart(self, message: Mapping[str, object]) -> None:
        self.draft.restart()
        self._open(message)

    def _open(self, message: Mapping[str, object]) -> None:
        content = message.get("content")
        for entry in mappings([{"type": "text", "text": content}] if isinstance(content, str) else content):
            block = _block(entry)
            block.closed = True
            self.draft.blocks.append(block)
        self.draft.response_id = text(message.get("id"))
        self._take_end(message, delta=message)

    def _take_end(self, around: Mapping[str, object], *, delta: Mapping[str, object]) -> None:
        """What stands around the blocks: stop, container, usage."""
        draft = self.draft
        draft.take_stop(delta.get("stop_reason"))
        draft.words = text(mapping(delta.get("stop_details")).get("explanation")) or draft.words
        if delta.get("container"):
            draft.beside["container"] = delta["container"]
        draft.usage = _read_usage(mapping(around.get("usage")), before=draft.usage)

    def _take_delta(self, chunk: Mapping[str, object]) -> None:
        delta, index = mapping(chunk.get("delta")), place(chunk.get("index"))
        kind, block = delta.get("type"), self.draft.open_at(index)
        if kind == "text_delta":
            self._take_text(block, index, delta.get("text"))
        elif kind == "input_json_delta":
            self._take_input(block, delta.get("partial_json"))
        elif block is not None and block.does not in _WITH_INPUT:
            _take_other(block, delta)

    def _take_text(self, block: Block | None, index: object, piece: object) -> None:
        if block is None:
            block = _block({"type": "text", "text": ""})
            self.draft.begin(block, index=index)
        if block.does not in _WITH_INPUT:
            block.grow("text", piece)

    def _take_input(self, block: Block | None, piece: object) -> None:
        if block is not None and block.does is not Does.TEXT:
            block.grow_input(piece)
        elif piece:
            self.draft.fail("The stream goes on with a call that is not being written.")


def _take_other(block: Block, delta: Mapping[str, object]) -> None:
    """Fields of a delta add to the fields of the same name, whatever its kind; a signature always comes whole."""
    for name, value in delta.items():
        if name == "citation":
            _append(block.body, "citations", value)
        elif name == "signature":
            block.body[name] = value
        elif name != "type":
            block.grow(name, value)


def _append(body: dict[str, object], name: str, value: object) -> None:
    entries = body.get(name)
    if isinstance(entries, list):
        entries.append(value)
    else:
        body[name] = [value]


def _block(entry: Mapping[str, object]) -> Block:
    kind = text(entry.get("type"))
    return Block(kind=kind, does=_does(kind), body=dict(entry))


def _does(kind: str) -> Does:
    if kind == "text":
        return Does.TEXT
    if kind == "tool_use":
        return Does.CALL
    return Does.PROVIDER_CALL if kind.endswith("_tool_use") else Does.OTHER


def _read_usage(usage: Mapping[str, object], *, before: Usage) -> Usage:
    """Input that was cached is input too; the wire counts it apart."""
    sent, output = count(usage.get("input_tokens")), count(usage.get("output_tokens"))
    cached = sum(count(usage.get(name)) or 0 for name in _CACHE_FIELDS)
    return sums(before, sent=None if sent is None else sent + cached, received=output)
