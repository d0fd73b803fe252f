"""Cuts what Gemini streams without `alt=sse`, one JSON array of chunks, into its chunks, whatever pieces it arrives in.

Objects that follow one another without an array around them are cut in the same way: an error body is one such object.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from interlock.models.possessive import possessive

_OUTSIDE: Final = re.compile(rb'["\[\]{}]')
_TEXT: Final = re.compile(possessive(r'[^"\\]*+(?:\\.[^"\\]*+)*+').encode(), re.DOTALL)
_BETWEEN: Final = frozenset({b"", b","})


class ElementCutter:
    """Holds the bytes of an unfinished element. The caller bounds how many bytes it feeds.

    Every byte is looked at once. Only brackets and texts are told apart here; each element is then parsed as JSON.
    """

    def __init__(self) -> None:
        self._pending = bytearray()
        self._at = 0
        self._start = 0
        self._depth = 0
        self._around = 0
        self._begun = False
        self._in_text = False
        self.closed = False

    @property
    def whole(self) -> bool:
        """What came is not cut: its array is closed, or there is none and no object is open."""
        return self.closed or (self._begun and self._around == 0 and self._depth == 0)

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The elements that this chunk completes. Raises ValueError for anything between them but one comma."""
        self._pending += chunk
        while not self.closed and (found := self._next()) is not None:
            element = self._take(self._pending[found], found)
            if element is not None:
                yield element
        done, self._start = self._start, 0
        self._at -= done
        del self._pending[:done]

    def _next(self) -> int | None:
        """Where the next bracket or quote is. An escape that is not whole yet waits."""
        if self._in_text:
            ahead = _TEXT.match(self._pending, self._at)
            self._at = ahead.end() if ahead else self._at
            found = self._at if self._pending[self._at : self._at + 1] == b'"' else None
        else:
            bracket = _OUTSIDE.search(self._pending, self._at)
            found = bracket.start() if bracket else None
            self._at = len(self._pending) if found is None else found
        if found is not None:
            self._at = found + 1
        return found

    def _take(self, byte: int, place: int) -> bytes | None:
        if byte == ord('"'):
            self._in_text = not self._in_text
        elif byte in b"[{":
            self._open(byte, place)
        else:
            return self._close(place)
        return None

    def _open(self, byte: int, place: int) -> None:
        if not self._begun:
            self._begun = True
            self._around = 1 if byte == ord("[") else 0
            self._start = place + self._around
        if self._depth == self._around:
            if bytes(self._pending[self._start : place]).strip() not in _BETWEEN:
                raise ValueError("The stream holds more than JSON objects.")
            self._start = place
        self._depth += 1

    def _close(self, place: int) -> bytes | None:
        self._depth -= 1
        if self._depth < self._around:
            self.closed = True
            return None
        if self._depth > self._around:
            return None
        element = bytes(self._pending[self._start : place + 1])
        self._start = place + 1
        return element
