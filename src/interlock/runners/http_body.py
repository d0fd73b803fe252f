"""Reads the body of an answer as it streams in: to the tool's limit, and a longer text on into the store, never whole.

What is decoded is counted, and never more of it at once than a piece. A stream that unpacks to a hundred times its
size, or to nothing for ever, is cut.
"""

from __future__ import annotations

import codecs
import zlib
from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass

from interlock.core.frozen import frozen
from interlock.core.outcome import Whole
from interlock.runners.spool import Spool

PIECE_BYTES = 65_536
KEPT_BYTES_MAX = 64 * 1024 * 1024
"""A longer text is not kept: its beginning is shown, and the rest is not read."""

EXPANSION_MAX = 100
"""How many times its size a stream may unpack to beyond the limit."""

_GZIP = 16 + zlib.MAX_WBITS


@frozen
class Taken:
    """The first bytes of a body, decoded; whether they are all, could be decoded, and where all of it was kept."""

    data: bytes
    is_whole: bool = True
    is_readable: bool = True
    whole: Whole | None = None


async def read_body(chunks: AsyncIterable[bytes], *, encoding: str, limit: int, spool: Spool | None = None) -> Taken:
    """At most `limit` bytes after decoding; all of a text, where there is a spool for it.

    Raises what reading raises, where the body breaks off.
    """
    if encoding not in ("", "identity", "gzip", "x-gzip"):
        return Taken(b"", is_readable=False)
    body = _Body(chunks, unzip=zlib.decompressobj(_GZIP) if "gzip" in encoding else None)
    kept = None if spool is None else _Kept(spool)
    taken = bytearray()
    try:
        async for piece in body.pieces():
            taken += piece[: limit - len(taken)]
            if kept is not None:
                await kept.write(piece, is_over=body.size > limit)
            if body.is_suspect(limit) or (body.size > limit and (kept is None or body.size > KEPT_BYTES_MAX)):
                return Taken(bytes(taken) if kept is None or body.size <= limit else kept.shown, is_whole=False)
    except zlib.error:
        return Taken(b"", is_readable=False)
    if kept is not None and body.size > limit:
        return await kept.end()
    return Taken(bytes(taken), is_readable=body.is_at_end)


@dataclass(slots=True)
class _Body:
    """The decoded body in pieces, counted on both sides of the decoding: `raw` came, `decoded` of it gave `size`."""

    chunks: AsyncIterable[bytes]
    unzip: zlib._Decompress | None
    raw: int = 0
    decoded: int = 0
    size: int = 0

    @property
    def is_at_end(self) -> bool:
        """Whether what was decoded ended as it should."""
        return self.unzip is None or self.raw == 0 or self.unzip.eof

    def is_suspect(self, limit: int) -> bool:
        """Whether it is made to fill memory or time."""
        is_empty = self.decoded > 2 * max(limit, self.size) + 1_024
        return is_empty or self.size > max(limit, EXPANSION_MAX * self.raw)

    async def pieces(self) -> AsyncIterator[bytes]:
        """Pieces of at most `PIECE_BYTES`; an empty one where a chunk decodes to nothing."""
        async for chunk in self.chunks:
            self.raw += len(chunk)
            rest = chunk
            while True:
                piece, rest = self._next(rest)
                self.size += len(piece)
                yield piece
                if not rest:
                    break
            self.decoded = self.raw

    def _next(self, chunk: bytes) -> tuple[bytes, bytes]:
        if self.unzip is None:
            return chunk[:PIECE_BYTES], chunk[PIECE_BYTES:]
        return self.unzip.decompress(chunk, PIECE_BYTES), self.unzip.unconsumed_tail


class _Kept:
    """A text on its way into the store. Of one that stays within the limit nothing gets there."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._decode = codecs.getincrementaldecoder("utf-8")("replace")
        self._waiting: list[bytes] | None = []

    async def write(self, piece: bytes, *, is_over: bool) -> None:
        """Some more. What came before the limit waits for what goes over it."""
        if self._waiting is not None:
            self._waiting.append(piece)
            if not is_over:
                return
            piece, self._waiting = b"".join(self._waiting), None
        await self._spool.write(self._decode.decode(piece))

    async def end(self) -> Taken:
        """All of it came. A text of many bytes may still be one of few characters: then that is the result."""
        await self._spool.write(self._decode.decode(b"", final=True))
        whole = await self._spool.end()
        return Taken(self._spool.shown.encode()) if whole is None else Taken(self.shown, is_whole=False, whole=whole)

    @property
    def shown(self) -> bytes:
        """How it begins."""
        return self._spool.shown.encode()[: self._spool.shown_max]
