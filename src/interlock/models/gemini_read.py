"""Reads what a Gemini server sent, a whole body or a stream, into one `Turn`.

A stream is server-sent events (`alt=sse`) or one JSON array of the same chunks; its first byte tells which. Nothing
raises on what a server sends: a body that cannot be read is a turn that ended in `ERROR` and runs nothing. A turn is
over when its chunks say how it ended: the dialect has no mark for the end of a stream.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Final

from interlock.models.gemini_draft import TurnDraft
from interlock.models.gemini_elements import ElementCutter
from interlock.models.gemini_metadata import error_sentence, mapping, mappings
from interlock.models.joining import Joint, Joints
from interlock.models.sse import BOM, EventCutter, ServerEvent
from interlock.models.strict import strict_json
from interlock.models.turn import REASON_CHARACTERS_MAX, Ended, Turn

BODY_BYTES_MAX: Final = 16 * 1024 * 1024
_TOO_LARGE: Final = f"The response is larger than {BODY_BYTES_MAX} bytes."
_DONE: Final = "[DONE]"
_PART: Final = ("candidates", 0, "content", "parts", 0)
JOINTS: Final = Joints(
    (
        Joint((*_PART, "text"), element=_PART),
        Joint((*_PART, "functionCall", "partialArgs", 0, "stringValue"), element=_PART),
    ),
    unread=(("usageMetadata",),),
)
_BLANK: Final = b" \t\r\n"


def read_response(body: bytes, *, status: int = 200) -> Turn:
    """Read a response that came in one piece. `status` is the HTTP status it came with."""
    if len(body) > BODY_BYTES_MAX:
        return Turn(text="", calls=(), ended=Ended.ERROR, reason=_TOO_LARGE)
    try:
        parsed = strict_json(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        parsed = None
    chunks = _chunks(parsed)
    if status >= 400:
        return _refused(chunks[0] if chunks else {}, status=status, raw=body)
    draft = TurnDraft()
    if not chunks:
        draft.error = "The response holds no JSON object."
    for chunk in chunks:
        _take(draft, chunk)
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
        self._draft = TurnDraft()
        self._raw = bytearray()
        self._lead = b""
        self._events: EventCutter | None = None
        self._elements: ElementCutter | None = None
        self._done = False

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes. After the stream's own end or an error the rest is kept, not read."""
        if len(self._raw) + len(chunk) > BODY_BYTES_MAX:
            self._draft.error = _TOO_LARGE
            return
        self._raw += chunk
        if self.over:
            return
        try:
            for event in self._cut(chunk):
                self._take(event)
        except (ValueError, RecursionError):
            self._draft.error = "The stream holds a chunk that is no JSON."

    def end(self) -> Turn:
        """The turn. A chunk that is cut off in the middle makes it a dropped one, not a broken one."""
        try:
            for event in () if self.over or self._events is None else self._events.end():
                self._take(event)
        except (ValueError, RecursionError):
            self._draft.cut = True
        if self._elements is not None and not self._elements.whole:
            self._draft.cut = True
        return self._draft.finish(raw=bytes(self._raw))

    @property
    def over(self) -> bool:
        """Nothing that is fed from here on changes the turn."""
        return self._done or bool(self._draft.error)

    def _cut(self, chunk: bytes) -> Iterator[ServerEvent]:
        if self._events is None and self._elements is None:
            chunk = self._tell_form(chunk)
        if self._events is not None:
            yield from self._events.feed(chunk)
        elif self._elements is not None:
            for element in self._elements.feed(chunk):
                yield ServerEvent("", element.decode("utf-8"))
            self._done = self._elements.closed

    def _tell_form(self, chunk: bytes) -> bytes:
        """Choose the cutter by the first byte of meaning; the bytes to feed it."""
        self._lead += chunk
        if BOM.startswith(self._lead):
            return b""
        self._lead = self._lead.removeprefix(BOM).lstrip(_BLANK)
        if self._lead[:1] in {b"[", b"{"}:
            self._elements = ElementCutter()
        elif self._lead:
            self._events = EventCutter(JOINTS)
        return self._lead

    def _take(self, event: ServerEvent) -> None:
        if self.over:
            return
        if event.data.strip() == _DONE:
            self._done = True
            return
        for chunk in _chunks(strict_json(event.data)):
            if event.name == "error":
                self._draft.take_error(chunk if chunk.get("error") else {"error": chunk})
            _take(self._draft, chunk)


def _take(draft: TurnDraft, chunk: dict[str, object]) -> None:
    """Read one chunk. Code Assist wraps each in an object of its own."""
    inner = chunk.get("response")
    draft.take(inner if isinstance(inner, dict) and "candidates" not in chunk else chunk)


def _chunks(parsed: object) -> list[dict[str, object]]:
    return [dict(chunk) for chunk in mappings([parsed] if isinstance(parsed, dict) else parsed)]


def _refused(body: dict[str, object], *, status: int, raw: bytes) -> Turn:
    words = error_sentence(body) if body else "without a readable message."
    reason = f"HTTP {status}: {words}"[:REASON_CHARACTERS_MAX]
    error = json.dumps(body["error"]) if mapping(body.get("error")) else ""
    return Turn(text="", calls=(), ended=Ended.HTTP_ERROR, reason=reason, raw=raw, error=error)
