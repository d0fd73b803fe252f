"""A body is read to its limit and no further, whatever it decodes to."""

import gzip
from collections.abc import AsyncIterator, Iterable

import pytest

from interlock.runners.http_body import Taken, read_body

LIMIT = 1_000


class Chunks:
    """A body in pieces, which knows how many were taken."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = pieces
        self.taken = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            self.taken += 1
            yield piece


async def read(*pieces: bytes, encoding: str = "") -> Taken:
    return await read_body(Chunks(pieces), encoding=encoding, limit=LIMIT)


@pytest.mark.requirement("OBS-4")
async def test_what_fits_is_whole_and_what_does_not_is_cut_without_reading_on() -> None:
    assert await read(b"a" * 600, b"b" * 400) == Taken(b"a" * 600 + b"b" * 400)
    endless = Chunks([b"x" * 400] * 1_000)
    assert await read_body(endless, encoding="identity", limit=LIMIT) == Taken(b"x" * LIMIT, is_whole=False)
    assert endless.taken == 3


@pytest.mark.requirement("OBS-4")
async def test_the_limit_holds_for_what_is_decoded() -> None:
    packed = gzip.compress(b"y" * LIMIT)
    assert await read(packed[:9], packed[9:], encoding="gzip") == Taken(b"y" * LIMIT)
    bomb = gzip.compress(b"z" * 10_000_000)
    assert await read(bomb, encoding="gzip") == Taken(b"z" * LIMIT, is_whole=False)


@pytest.mark.requirement("OBS-4")
async def test_a_stream_that_decodes_to_nothing_for_ever_is_cut() -> None:
    head = gzip.compress(b"")[:10]
    chunks = Chunks([head, *[b"\0\0\0\xff\xff" * 100] * 1_000])
    assert not (await read_body(chunks, encoding="gzip", limit=LIMIT)).is_whole
    assert chunks.taken < 20


@pytest.mark.parametrize("encoding", ["gzip", "br", "gzip, gzip", "deflate"])
async def test_what_cannot_be_decoded_is_said_so(encoding: str) -> None:
    assert not (await read(b"no gzip at all", encoding=encoding)).is_readable
    assert not (await read(gzip.compress(b"a" * 99)[:-9], encoding=encoding)).is_readable


async def test_no_body_is_no_fault_of_its_encoding() -> None:
    assert await read(encoding="gzip") == Taken(b"")
