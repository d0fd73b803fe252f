"""What a store needs to keep operations, results and questions unreadable to whoever has only its file."""

from __future__ import annotations

from typing import Protocol


class Seal(Protocol):
    """Encrypts what is kept whole. `context` names the row: what was sealed for one does not open for another."""

    def seal(self, data: bytes, *, context: bytes) -> bytes:
        """The sealed bytes."""

    def open(self, sealed: bytes, *, context: bytes) -> bytes:
        """The bytes that were sealed. Raises `StoreError` where they were changed, moved, or the key is another."""


class NoSeal:
    """Keeps everything as it is: the file's permissions are all that protects it."""

    def seal(self, data: bytes, *, context: bytes) -> bytes:
        """The same bytes."""
        return data

    def open(self, sealed: bytes, *, context: bytes) -> bytes:
        """The same bytes."""
        return sealed
