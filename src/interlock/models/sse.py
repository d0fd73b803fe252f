"""Cuts a server-sent event stream into events, whatever pieces it arrives in.

Source: WHATWG HTML, "Server-sent events". One difference: an event that the stream ends inside of is handed out by
`end()` instead of being dropped, because some servers leave out the blank line after their last event.
"""

from __future__ import annotations

from collections.abc import Iterator

from interlock.core.frozen import frozen, maker

BOM = b"\xef\xbb\xbf"


@frozen
class ServerEvent:
    """One event. `name` is empty where the stream gives none."""

    name: str
    data: str


_event = maker(ServerEvent)


class EventCutter:
    """Holds the bytes of an unfinished line and the fields of an unfinished event.

    The caller bounds how many bytes it feeds; nothing here grows beyond them. All lines that are whole are decoded at
    once, and no byte is looked at twice for the end of its line, however small the pieces are.
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
        end = self._lines_end(scanned)
        if end:
            block = bytes(self._pending[:end])
            del self._pending[:end]
            for line in _lines(block):
                event = self._take(line)
                if event is not None:
                    yield event

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

    def _take(self, line: str) -> ServerEvent | None:
        """Read one line. A blank one hands out the event before it."""
        if line.startswith("data:"):
            self._data.append(line[6:] if line.startswith("data: ") else line[5:])
            return None
        if line:
            self._take_field(*line.split(":", 1))
            return None
        event = _event(self._name, "\n".join(self._data)) if self._data else None
        self._name = ""
        self._data.clear()
        return event

    def _take_field(self, field: str, value: str = "") -> None:
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value.removeprefix(" ")


def _lines(block: bytes) -> Iterator[str]:
    """The lines of a block that ends where a line does. Those before bytes that are no UTF-8 are still handed out."""
    try:
        decoded = block.decode("utf-8")
    except UnicodeDecodeError:
        whole = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        yield from (line.decode("utf-8") for line in whole.removesuffix(b"\n").split(b"\n"))
        return
    if "\r" in decoded:
        decoded = decoded.replace("\r\n", "\n").replace("\r", "\n")
    yield from decoded.removesuffix("\n").split("\n")
