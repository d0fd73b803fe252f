"""Cuts a server-sent event stream into events, whatever pieces it arrives in.

Source: WHATWG HTML, "Server-sent events". One difference: an event that the stream ends inside of is handed out by
`end()` instead of being dropped, because some servers leave out the blank line after their last event.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event. `name` is empty where the stream gives none."""

    name: str
    data: str


class EventCutter:
    """Holds the bytes of an unfinished line and the fields of an unfinished event.

    The caller bounds how many bytes it feeds; nothing here grows beyond them.
    """

    def __init__(self) -> None:
        self._pending = bytearray()
        self._started = False
        self._name = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        """The events that this chunk completes. Raises UnicodeDecodeError: bytes that are no UTF-8 are no guesswork."""
        scanned = max(0, len(self._pending) - 1) if self._started else 0
        self._pending += chunk
        if not self._started and not self._skip_bom():
            return
        start = 0
        while (end := self._line_end(max(start, scanned))) is not None:
            line = bytes(self._pending[start : end[0]])
            start = end[1]
            yield from self._take(line)
        del self._pending[:start]

    def end(self) -> Iterator[ServerEvent]:
        """The event that the stream ended inside of, if there is one."""
        line = bytes(self._pending).removesuffix(b"\r")
        self._pending.clear()
        yield from self._take(line) if line else ()
        yield from self._take(b"")

    def _skip_bom(self) -> bool:
        if len(self._pending) < len(BOM) and BOM.startswith(self._pending):
            return False
        if self._pending.startswith(BOM):
            del self._pending[: len(BOM)]
        self._started = True
        return True

    def _line_end(self, start: int) -> tuple[int, int] | None:
        """Where the next line ends and the one after it begins. A last \\r waits, since \\n may follow it."""
        newline = self._pending.find(b"\n", start)
        stop = newline if newline >= 0 else len(self._pending)
        bare = self._pending.find(b"\r", start, stop)
        if bare < 0:
            return (newline, newline + 1) if newline >= 0 else None
        if bare + 1 == len(self._pending):
            return None
        return bare, bare + 2 if bare + 1 == newline else bare + 1

    def _take(self, line: bytes) -> Iterator[ServerEvent]:
        if not line:
            if self._data:
                yield ServerEvent(self._name, "\n".join(self._data))
            self._name, self._data = "", []
            return
        field, _, value = line.decode("utf-8").partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value
