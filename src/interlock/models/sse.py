"""Cuts a server-sent event stream into events, whatever pieces it arrives in.

Source: WHATWG HTML, "Server-sent events". One difference: an event that the stream ends inside of is handed out by
`end()` instead of being dropped, because some servers leave out the blank line after their last event.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from interlock.core.frozen import frozen
from interlock.models.joining import Joining, Joints

BOM = b"\xef\xbb\xbf"
NO_JOINTS: Final = Joints()


@frozen
class ServerEvent:
    """One event. `name` is empty where the stream gives none."""

    name: str
    data: str


class EventCutter:
    """Holds the bytes of an unfinished line and the fields of an unfinished event.

    The caller bounds how many bytes it feeds; nothing here grows beyond them. All lines that are whole are decoded at
    once, and no byte is looked at twice for the end of its line, however small the pieces are. Neighbouring events that
    differ in a piece of text alone come as one, where `joints` says that this is the same.
    """

    def __init__(self, joints: Joints = NO_JOINTS) -> None:
        self._pending = bytearray()
        self._started = False
        self._name = ""
        self._data: list[str] = []
        self._joining = Joining(joints)

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        """The events that this chunk completes. Raises UnicodeDecodeError: bytes that are no UTF-8 are no guesswork."""
        scanned = max(0, len(self._pending) - 1) if self._started else 0
        self._pending += chunk
        if not self._started and not self._skip_bom():
            return
        end = self._lines_end(scanned)
        if end:
            block = bytes(self._pending[:end])
            del self._pending[:end]
            yield from self._cut(block)

    def end(self) -> Iterator[ServerEvent]:
        """The event that the stream ended inside of, if there is one."""
        line = bytes(self._pending).removesuffix(b"\r").decode("utf-8")
        self._pending.clear()
        if line:
            self._take(line)
        event = self._take("")
        if event is not None:
            yield event

    def _skip_bom(self) -> bool:
        if len(self._pending) < len(BOM) and BOM.startswith(self._pending):
            return False
        if self._pending.startswith(BOM):
            del self._pending[: len(BOM)]
        self._started = True
        return True

    def _lines_end(self, start: int) -> int:
        """Where the last whole line ends. A last \\r waits, since \\n may follow it."""
        stop = len(self._pending) - self._pending.endswith(b"\r")
        return max(self._pending.rfind(b"\n", start, stop), self._pending.rfind(b"\r", start, stop)) + 1

    def _cut(self, block: bytes) -> Iterator[ServerEvent]:
        """The events of a block that ends where a line does. Those before bytes that are no UTF-8 still come."""
        try:
            lines = block.decode("utf-8")
        except UnicodeDecodeError:
            yield from self._cut_bytes(block)
            return
        if "\r" in lines:
            lines = lines.replace("\r\n", "\n").replace("\r", "\n")
        at = 0
        while at < len(lines):
            begins = self._joining.patterns and not self._data and not self._name
            event, at = (begins and self._joining.joined(lines, at)) or self._next(lines, at)
            for line in event.split("\n"):
                if (taken := self._take(line)) is not None:
                    yield taken

    def _cut_bytes(self, block: bytes) -> Iterator[ServerEvent]:
        for line in block.replace(b"\r\n", b"\n").replace(b"\r", b"\n").removesuffix(b"\n").split(b"\n"):
            if (taken := self._take(line.decode("utf-8"))) is not None:
                yield taken

    def _next(self, lines: str, at: int) -> tuple[str, int]:
        """The lines up to the next blank one, that one included, and where the next event begins."""
        if lines.startswith("\n", at):
            return "", at + 1
        end = lines.find("\n\n", at) + 2
        if end < 2:
            return lines[at:-1], len(lines)
        if not self._data and not self._name:
            self._joining.saw(lines, at=at, end=end)
        return lines[at : end - 1], end

    def _take(self, line: str) -> ServerEvent | None:
        """Read one line. A blank one hands out the event before it."""
        if line.startswith("data:"):
            self._data.append(line[6:] if line.startswith("data: ") else line[5:])
            return None
        if line:
            self._take_field(*line.split(":", 1))
            return None
        event = ServerEvent(self._name, "\n".join(self._data)) if self._data else None
        self._name = ""
        self._data.clear()
        return event

    def _take_field(self, field: str, value: str = "") -> None:
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value.removeprefix(" ")
