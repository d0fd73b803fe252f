"""Feeds what a server of OpenAI's kind sent, a whole body or a stream, to the draft of a turn.

Nothing raises on what a server sends: what cannot be read is a turn that ended in `ERROR` and runs nothing. Events are
read strictly (no partial JSON, no duplicate keys, no NaN); the arguments inside stay raw text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from interlock.models.joining import Joints
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

_UNREADABLE: Final = "The stream holds an event that is no JSON."


class Draft(Protocol):
    """A turn that is still being read."""

    @property
    def over(self) -> bool:
        """Nothing that comes from here on changes the turn."""

    def take_body(self, body: Mapping[str, object]) -> None:
        """Read a whole response body."""

    def take_event(self, event: Mapping[str, object], *, name: str) -> None:
        """Read one event of a stream. `name` is what the stream calls it."""

    def take_done(self) -> None:
        """The stream says that this was all."""

    def fail(self, reason: str) -> None:
        """What comes cannot be read."""

    def cut_off(self) -> None:
        """The stream ended inside an event."""

    def finish(self, *, raw: bytes) -> Turn:
        """Judge the turn."""


def read_body(body: bytes, *, status: int, draft: Draft) -> Turn:
    """Read a response that came in one piece. `status` is the HTTP status it came with."""
    if len(body) > BODY_BYTES_MAX:
        return _error(TOO_LARGE, raw=b"", status=status)
    try:
        parsed = mapping(_json(body))
    except (ValueError, RecursionError):
        return _error(unreadable(status), raw=body, status=status)
    if status >= 400:
        return _error(f"HTTP {status}: {error_sentence(parsed)}", raw=body, status=status, error=error_of(parsed))
    draft.take_body(parsed)
    return draft.finish(raw=body)


class EventReader:
    """Takes the bytes of one stream as they arrive; `end()` judges the turn, whether the stream was whole or not."""

    def __init__(self, draft: Draft, *, joints: Joints) -> None:
        self._draft = draft
        self._cutter = EventCutter(joints)
        self._raw = bytearray()
        self._has_events = False

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes. After the stream's own end or an error the rest is kept, not read."""
        if len(self._raw) + len(chunk) > BODY_BYTES_MAX:
            self._draft.fail(TOO_LARGE)
            return
        self._raw += chunk
        if self.over:
            return
        try:
            for event in self._cutter.feed(chunk):
                self._take(event)
        except (ValueError, RecursionError):
            self._draft.fail(_UNREADABLE)

    def end(self) -> Turn:
        """The turn. An event that is cut off in the middle makes it a dropped one, not a broken one."""
        try:
            for event in () if self.over else self._cutter.end():
                self._take(event)
        except (ValueError, RecursionError):
            self._draft.cut_off()
        raw = bytes(self._raw)
        if not self._has_events and not self.over:
            self._take_plain(raw)
        return self._draft.finish(raw=raw)

    @property
    def over(self) -> bool:
        """Nothing that is fed from here on changes the turn."""
        return self._draft.over

    def _take(self, event: ServerEvent) -> None:
        self._has_events = True
        if self.over:
            return
        if event.data.strip() == "[DONE]":
            self._draft.take_done()
        else:
            self._draft.take_event(mapping(strict_json(event.data)), name=event.name)

    def _take_plain(self, raw: bytes) -> None:
        """A server that cannot stream, or has to say what went wrong, may answer with a plain body all the same."""
        try:
            body = mapping(_json(raw))
        except (ValueError, RecursionError):
            return
        if body:
            self._draft.take_body(body)
            self._draft.take_done()


def _json(body: bytes) -> object:
    return strict_json(body.decode("utf-8-sig"))


def _error(reason: str, *, raw: bytes, status: int, error: str = "") -> Turn:
    ended = Ended.ERROR if status < 400 else Ended.HTTP_ERROR
    return Turn(text="", calls=(), ended=ended, reason=reason[:REASON_CHARACTERS_MAX], raw=raw, error=error)
