"""Reads what a Chat Completions server sent, a whole body or a stream, into one `Turn`.

Nothing raises on what a server sends: a body that cannot be read is a turn that ended in `ERROR` and runs nothing.
Raw events are read strictly (no partial JSON, no duplicate keys, no NaN); the arguments inside stay raw text.
"""

from __future__ import annotations

from collections.abc import Iterable

from interlock.models.openai_chat_draft import TurnDraft
from interlock.models.sse import EventCutter, ServerEvent
from interlock.models.strict import (
    BODY_BYTES_MAX,
    TOO_LARGE,
    error_of,
    error_sentence,
    mapping,
    strict_json,
    unreadable,
)
from interlock.models.turn import REASON_CHARACTERS_MAX, Ended, Turn


def read_response(body: bytes, *, status: int = 200) -> Turn:
    """Read a response that came in one piece. `status` is the HTTP status it came with."""
    if len(body) > BODY_BYTES_MAX:
        return _error(TOO_LARGE, raw=b"")
    try:
        parsed = strict_json(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return _error(unreadable(status), raw=body, status=status)
    if status >= 400:
        told = mapping(parsed)
        return _error(f"HTTP {status}: {error_sentence(told)}", raw=body, status=status, error=error_of(told))
    draft = TurnDraft()
    draft.take_body(mapping(parsed))
    return draft.finish(closed=True, raw=body)


def read_stream(chunks: Iterable[bytes], *, status: int = 200) -> Turn:
    """Read a whole stream at once, in whatever pieces it comes. `status` is the HTTP status it came with."""
    if status >= 400:
        return read_response(b"".join(chunks), status=status)
    reader = StreamReader()
    for chunk in chunks:
        reader.feed(chunk)
    return reader.end()


class StreamReader:
    """Takes the bytes of one stream as they arrive; `end()` judges the turn, whether the stream was whole or not."""

    def __init__(self) -> None:
        self._cutter = EventCutter()
        self._draft = TurnDraft()
        self._raw = bytearray()
        self._done = False

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes. After the stream's own end or an error the rest is kept, not read."""
        if len(self._raw) + len(chunk) > BODY_BYTES_MAX:
            self._draft.error = TOO_LARGE
            return
        self._raw += chunk
        if self.over:
            return
        try:
            for event in self._cutter.feed(chunk):
                self._take(event)
        except (ValueError, RecursionError):
            self._draft.error = "The stream holds an event that is no JSON."

    def end(self) -> Turn:
        """The turn. An event that is cut off in the middle makes it a dropped one, not a broken one."""
        try:
            for event in () if self.over else self._cutter.end():
                self._take(event)
        except (ValueError, RecursionError):
            self._draft.cut = True
        return self._draft.finish(closed=self._done, raw=bytes(self._raw))

    @property
    def over(self) -> bool:
        """Nothing that is fed from here on changes the turn."""
        return self._done or bool(self._draft.error)

    def _take(self, event: ServerEvent) -> None:
        if self.over:
            return
        if event.data.strip() == "[DONE]":
            self._done = True
            return
        chunk = mapping(strict_json(event.data))
        if event.name == "error":
            self._draft.take_error(chunk)
        self._draft.take_chunk(chunk)


def _error(reason: str, *, raw: bytes, status: int = 200, error: str = "") -> Turn:
    ended = Ended.ERROR if status < 400 else Ended.HTTP_ERROR
    return Turn(text="", calls=(), ended=ended, reason=reason[:REASON_CHARACTERS_MAX], raw=raw, error=error)
