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

from interlock.models.joining import Joining, Joints
from interlock.models.sse import BOM, NO_JOINTS, ServerEvent

PRELUDE: Final = struct.Struct(">III")
CRC: Final = struct.Struct(">I")
FRAME_BYTES_MAX: Final = 24 * 1024 * 1024
_PRELUDE: Final = PRELUDE.unpack_from
_CRC: Final = CRC.unpack_from
_FRAME_BYTES_MIN: Final = PRELUDE.size + CRC.size
_SHORT: Final = struct.Struct(">H")
# The bytes of a header's value by its type: true, false, byte, short, int, long, time, UUID. Two others say their size.
_FIXED: Final = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
_SIZED: Final = frozenset({6, 7})
_TEXT: Final = 7


class EventStreamCutter:
    """Holds the bytes of an unfinished frame or line. The first byte tells which: no frame is so large that its length
    begins with anything but a zero byte or a one, no line of JSON begins with either.

    Neighbouring events that differ in a piece of text alone come as one, where `joints` says that this is the same.
    """

    def __init__(self, joints: Joints = NO_JOINTS) -> None:
        self._pending = bytearray()
        self._binary: bool | None = None
        self._scanned = 0
        self._joining = Joining(joints)

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
        end = self._pending.rfind(b"\n", self._scanned) + 1
        block = bytes(self._pending[:end])
        del self._pending[:end]
        self._scanned = len(self._pending)
        try:
            yield from self._cut(block.decode("utf-8"))
        except UnicodeDecodeError:
            for line in block.splitlines():
                yield from _event_of_line(line)

    def _cut(self, lines: str) -> Iterator[ServerEvent]:
        """The events of whole lines."""
        at = 0
        while at < len(lines):
            run = self._joining.joined(lines, at)
            if run is None:
                end = lines.index("\n", at) + 1
                self._joining.saw(lines, at=at, end=end)
                run = lines[at:end], end
            words, at = run
            words = words.removeprefix("\ufeff").strip()
            if words:
                yield ServerEvent("", words)

    def _frames(self) -> Iterator[ServerEvent]:
        """Frames as lines, which may then be joined. What came before a broken frame is handed out before it raises."""
        lines: list[str] = []
        try:
            for line in self._lines_of_frames():
                if "\n" in line:
                    yield from self._cut("".join(lines))
                    lines.clear()
                    yield ServerEvent("", line)
                else:
                    lines += (line, "\n")
        except ValueError:
            yield from self._cut("".join(lines))
            raise
        yield from self._cut("".join(lines))

    def _lines_of_frames(self) -> Iterator[str]:
        start = 0
        size = _frame_size(self._pending, start)
        if not size or size > len(self._pending):
            return
        pending = bytes(self._pending)
        try:
            while size and start + size <= len(pending):
                yield _line_of_frame(pending, start, start + size)
                start += size
                size = _frame_size(pending, start)
        finally:
            del self._pending[:start]


def _event_of_line(line: bytes) -> Iterator[ServerEvent]:
    words = line.removeprefix(BOM).strip()
    if words:
        yield ServerEvent("", words.decode("utf-8"))


def _frame_size(pending: bytes | bytearray, start: int) -> int:
    """The size of the frame that begins at `start`; 0 while its prelude is not whole."""
    if len(pending) - start < PRELUDE.size:
        return 0
    size, headers_size, checksum = _PRELUDE(pending, start)
    if zlib.crc32(pending[start : start + 2 * CRC.size]) != checksum:
        raise ValueError("A frame's prelude does not match its checksum.")
    if not headers_size + _FRAME_BYTES_MIN <= size <= FRAME_BYTES_MAX:
        raise ValueError("A frame has a size that no frame can have.")
    return size  # type: ignore[no-any-return]


def _line_of_frame(pending: bytes, start: int, end: int) -> str:
    """A frame as JSON text."""
    body_end = end - CRC.size
    if _CRC(pending, body_end)[0] != zlib.crc32(pending[start:body_end]):
        raise ValueError("A frame does not match its checksum.")
    headers_start = start + PRELUDE.size
    headers_end = headers_start + _PRELUDE(pending, start)[1]
    name, complete = _described(pending[headers_start:headers_end])
    payload = complete or pending[headers_end:body_end].decode("utf-8").strip()
    return f"{{{name}: {payload or '{}'}}}"


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
