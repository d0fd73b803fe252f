"""Cuts a stream of Bedrock's events out of its binary frames, or out of lines of JSON, whatever pieces it arrives in.

Source: Amazon's event stream encoding (application/vnd.amazon.eventstream). A frame is a prelude of its length, the
length of its headers and a CRC-32 of both, then the headers, the payload, and a CRC-32 of all before. Tools that took
the frames off keep one event a line, as `{"contentBlockDelta": {...}}`; both are handed out in that form.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from interlock.models.sse import BOM, ServerEvent

PRELUDE: Final = struct.Struct(">III")
CRC: Final = struct.Struct(">I")
FRAME_BYTES_MAX: Final = 24 * 1024 * 1024
_FRAME_BYTES_MIN: Final = PRELUDE.size + CRC.size
_SHORT: Final = struct.Struct(">H")
# The bytes of a header's value by its type: true, false, byte, short, int, long, time, UUID. Two others say their size.
_FIXED: Final = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
_SIZED: Final = frozenset({6, 7})
_TEXT: Final = 7


class EventStreamCutter:
    """Holds the bytes of an unfinished frame or line. The first byte tells which: no frame is so large that its length
    begins with anything but a zero byte or a one, no line of JSON begins with either.
    """

    def __init__(self) -> None:
        self._pending = bytearray()
        self._binary: bool | None = None
        self._scanned = 0

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        """The events that this chunk completes. Raises ValueError on a frame or text that is broken."""
        self._pending += chunk
        if self._binary is None and self._pending:
            self._binary = self._pending[0] <= 1
        yield from self._frames() if self._binary else self._lines()

    def end(self) -> Iterator[ServerEvent]:
        """The event of a last line without an end. Raises ValueError inside of a frame."""
        rest = bytes(self._pending)
        self._pending.clear()
        if rest and self._binary:
            raise ValueError("The stream ends inside of a frame.")
        yield from _event_of_line(rest)

    def _lines(self) -> Iterator[ServerEvent]:
        start = 0
        while (stop := self._pending.find(b"\n", max(start, self._scanned))) >= 0:
            line = bytes(self._pending[start:stop])
            start = stop + 1
            yield from _event_of_line(line)
        del self._pending[:start]
        self._scanned = len(self._pending)

    def _frames(self) -> Iterator[ServerEvent]:
        start = 0
        while (size := _frame_size(self._pending, start)) and start + size <= len(self._pending):
            frame = bytes(self._pending[start : start + size])
            start += size
            yield _event_of_frame(frame)
        del self._pending[:start]


def _event_of_line(line: bytes) -> Iterator[ServerEvent]:
    words = line.removeprefix(BOM).strip()
    if words:
        yield ServerEvent("", words.decode("utf-8"))


def _frame_size(pending: bytearray, start: int) -> int:
    """The size of the frame that begins at `start`; 0 while its prelude is not whole."""
    if len(pending) - start < PRELUDE.size:
        return 0
    size, headers_size, checksum = PRELUDE.unpack_from(pending, start)
    if zlib.crc32(pending[start : start + 2 * CRC.size]) != checksum:
        raise ValueError("A frame's prelude does not match its checksum.")
    if not headers_size + _FRAME_BYTES_MIN <= size <= FRAME_BYTES_MAX:
        raise ValueError("A frame has a size that no frame can have.")
    return int(size)


def _event_of_frame(frame: bytes) -> ServerEvent:
    if CRC.unpack_from(frame, len(frame) - CRC.size)[0] != zlib.crc32(frame[: -CRC.size]):
        raise ValueError("A frame does not match its checksum.")
    headers_end = PRELUDE.size + PRELUDE.unpack_from(frame)[1]
    name, complete = _described(frame[PRELUDE.size : headers_end])
    payload = complete or frame[headers_end : -CRC.size].decode("utf-8").strip()
    return ServerEvent("", f"{{{name}: {payload or '{}'}}}")


@lru_cache(maxsize=32)
def _described(packed: bytes) -> tuple[str, str]:
    """What headers make of a frame: its event's name as JSON text, and the payload where they say all there is."""
    headers = dict(_headers(packed))
    kind = headers.get(":message-type")
    if kind == "event":
        return json.dumps(headers.get(":event-type", "")), ""
    if kind == "exception":
        return json.dumps(headers.get(":exception-type", "exception")), ""
    words = {"message": headers.get(":error-message", ""), "code": headers.get(":error-code", "")}
    return '"exception"', json.dumps(words)


def _headers(packed: bytes) -> Iterator[tuple[str, str]]:
    """The headers that are text. Raises ValueError where one does not end inside of the headers."""
    at = 0
    while at < len(packed):
        name, kind_at = _sized(packed, at + 1, size=packed[at])
        kind, at = packed[kind_at : kind_at + 1], kind_at + 1
        if not kind or (kind[0] not in _FIXED and kind[0] not in _SIZED):
            raise ValueError("A frame has a header of an unknown type.")
        size = _FIXED.get(kind[0])
        if size is None:
            length, at = _sized(packed, at, size=_SHORT.size)
            size = int(_SHORT.unpack(length)[0])
        value, at = _sized(packed, at, size=size)
        if kind[0] == _TEXT:
            yield name.decode("utf-8"), value.decode("utf-8")


def _sized(packed: bytes, at: int, *, size: int) -> tuple[bytes, int]:
    if at + size > len(packed):
        raise ValueError("A frame's header does not end inside of its headers.")
    return packed[at : at + size], at + size
