"""Feeds the bytes of a response, whole or in pieces, to a draft of blocks.

Nothing raises on what a server sends: what cannot be read is a turn that ended in `ERROR` and runs nothing. Events are
read strictly (no partial JSON, no duplicate keys, no NaN).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, Protocol

from interlock.models.blocks import BlockDraft
from interlock.models.sse import ServerEvent
from interlock.models.strict import (
    BODY_BYTES_MAX,
    TOO_LARGE,
    error_of,
    error_sentence,
    mapping,
    strict_json,
    unreadable,
)
from interlock.models.turn import Ended, Turn

_UNREADABLE: Final = "The stream holds an event that cannot be read."


class Cutter(Protocol):
    """Cuts a stream into events. Both raise ValueError on bytes that are none."""

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        """The events that this chunk completes."""

    def end(self) -> Iterator[ServerEvent]:
        """The event that the stream ended inside of, where it is whole nevertheless."""


Take = Callable[[ServerEvent], None]


class BlockReader:
    """Takes the bytes of one stream as they arrive; `end()` judges the turn, whether the stream was whole or not."""

    def __init__(self, draft: BlockDraft, *, cutter: Cutter, take: Take) -> None:
        self._draft = draft
        self._cutter = cutter
        self._take = take
        self._raw = bytearray()

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes. After the stream's own end or an error the rest is kept, not read."""
        if len(self._raw) + len(chunk) > BODY_BYTES_MAX:
            self._draft.fail(TOO_LARGE)
            return
        self._raw += chunk
        draft = self._draft
        if draft.over:
            return
        try:
            for event in self._cutter.feed(chunk):
                self._take(event)
                if draft.closed or draft.fault:
                    return
        except (ValueError, RecursionError):
            self._draft.fail(_UNREADABLE)

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
        return self._draft.over


def read_body(body: bytes, *, status: int, draft: BlockDraft, take: Callable[[Mapping[str, object]], None]) -> Turn:
    """Read a response that came in one piece."""
    if len(body) > BODY_BYTES_MAX:
        return _broken(TOO_LARGE, raw=b"", ended=Ended.ERROR)
    try:
        parsed = strict_json(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return _broken(unreadable(status), raw=body, ended=Ended.ERROR if status < 400 else Ended.HTTP_ERROR)
    if status >= 400:
        said = mapping(parsed)
        return _broken(f"HTTP {status}: {error_sentence(said)}", raw=body, ended=Ended.HTTP_ERROR, error=error_of(said))
    take(mapping(parsed))
    draft.closed = True
    return draft.finish(raw=body)


def read_all(reader: BlockReader, chunks: Iterable[bytes]) -> Turn:
    """Read a whole stream at once, in whatever pieces it comes."""
    for chunk in chunks:
        reader.feed(chunk)
    return reader.end()


def _broken(reason: str, *, raw: bytes, ended: Ended, error: str = "") -> Turn:
    return Turn(text="", calls=(), ended=ended, reason=reason, raw=raw, error=error)
