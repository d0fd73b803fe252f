"""Reads the body of an answer as it streams in, no further than the tool's limit, compressed or not.

What is over the limit is not read. A store that keeps whole results would be given the rest here.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterable

from interlock.core.frozen import frozen

_GZIP = 16 + zlib.MAX_WBITS


@frozen
class Taken:
    """The first bytes of a body, decoded; whether they are all, and whether they could be decoded."""

    data: bytes
    is_whole: bool = True
    is_readable: bool = True


async def read_body(chunks: AsyncIterable[bytes], *, encoding: str, limit: int) -> Taken:
    """At most `limit` bytes after decoding. Raises what reading raises, where the body breaks off."""
    if encoding not in ("", "identity", "gzip", "x-gzip"):
        return Taken(b"", is_readable=False)
    unzip = _Unzip() if "gzip" in encoding else None
    taken, raw = bytearray(), 0
    async for chunk in chunks:
        raw += len(chunk)
        try:
            taken += chunk if unzip is None else unzip.some(chunk, limit + 1 - len(taken))
        except zlib.error:
            return Taken(b"", is_readable=False)
        if len(taken) > limit or raw > 2 * limit + 1_024:  # a stream of empty blocks decodes to nothing for ever
            return Taken(bytes(taken[:limit]), is_whole=False)
    return Taken(bytes(taken), is_readable=unzip is None or raw == 0 or unzip.is_at_end)


class _Unzip:
    """Gzip, never more at once than was asked for."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(_GZIP)

    @property
    def is_at_end(self) -> bool:
        """Whether the stream ended as it should."""
        return self._stream.eof

    def some(self, chunk: bytes, size_max: int) -> bytes:
        """At most so many decoded bytes; what is over is never decoded, as reading ends there."""
        return self._stream.decompress(self._stream.unconsumed_tail + chunk, max(size_max, 1))
