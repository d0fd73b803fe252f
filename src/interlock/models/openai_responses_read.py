"""Reads what a Responses server sent, a whole body or a stream, into one `Turn`.

Nothing raises on what a server sends: a body that cannot be read is a turn that ended in `ERROR` and runs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from interlock.models.openai_responses_draft import ResponseDraft
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
        return _error(TOO_LARGE, raw=b"", status=status)
    try:
        parsed = mapping(strict_json(body.decode("utf-8-sig")))
    except (ValueError, RecursionError):
        return _error(unreadable(status), raw=body, status=status)
    if status >= 400:
        return _error(f"HTTP {status}: {error_sentence(parsed)}", raw=body, status=status, error=error_of(parsed))
    draft = ResponseDraft()
    draft.take_body(parsed)
    return draft.finish(raw=body)


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
        self._draft = ResponseDraft()
        self._raw = bytearray()
        self._broken = False

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes. After the response's own end the rest is kept, not read."""
        if len(self._raw) + len(chunk) > BODY_BYTES_MAX:
            self._break(TOO_LARGE)
            return
        self._raw += chunk
        if self.over:
            return
        try:
            for event in self._cutter.feed(chunk):
                self._take(event)
        except (ValueError, RecursionError):
            self._break("The stream holds an event that is no JSON.")

    def end(self) -> Turn:
        """The turn. An event that is cut off in the middle makes it a dropped one, not a broken one."""
        try:
            for event in () if self.over else self._cutter.end():
                self._take(event)
        except (ValueError, RecursionError):
            self._draft.cut = True
        return self._draft.finish(raw=bytes(self._raw))

    @property
    def over(self) -> bool:
        """Nothing that is fed from here on changes the turn."""
        return self._draft.over or self._broken

    def _break(self, reason: str) -> None:
        self._broken = True
        self._draft.error = reason

    def _take(self, event: ServerEvent) -> None:
        if not self.over and event.data.strip() != "[DONE]":
            self._draft.take_event(mapping(strict_json(event.data)), name=event.name)


def _error(reason: str, *, raw: bytes, status: int, error: str = "") -> Turn:
    ended = Ended.ERROR if status < 400 else Ended.HTTP_ERROR
    return Turn(text="", calls=(), ended=ended, reason=reason[:REASON_CHARACTERS_MAX], raw=raw, error=error)
