"""A body is read to its limit and no further, whatever it decodes to."""

import gzip
from collections.abc import AsyncIterator, Iterable

import pytest

from interlock.core.redaction import Redactor
from interlock.runners import http_body as module
from interlock.runners.http_body import Taken, read_body
from interlock.runners.spool import Spool
from interlock.store.memory_artifacts import MemoryArtifacts

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


class Kept(MemoryArtifacts):
    """Kept parts, in order."""

    @property
    def text(self) -> str:
        return b"".join(data for _, (_, data) in sorted(self._parts.items())).decode()


def spool_on(kept: Kept) -> Spool:
    return Spool(kept, "acme", "h", 0, Redactor(("planted-secret-0123456789",)), LIMIT)


@pytest.mark.requirement("OBS-4")
@pytest.mark.parametrize("encoding", ["", "gzip"])
async def test_a_text_over_the_limit_goes_on_into_the_store_redacted(encoding: str) -> None:
    text = "".join(f"line {number} of 漢字\n" for number in range(9_000)) + "planted-secret-0123456789"
    sent = text.encode() if not encoding else gzip.compress(text.encode(), 1)
    kept, pieces = Kept(), [sent[at : at + 777] for at in range(0, len(sent), 777)]
    taken = await read_body(Chunks(pieces), encoding=encoding, limit=LIMIT, spool=spool_on(kept))
    assert (taken.data, taken.is_whole) == (text.encode()[:LIMIT], False)
    assert taken.whole is not None
    assert kept.text.startswith(text[:-30])
    assert "planted" not in kept.text
    assert taken.whole.size_bytes == len(kept.text.encode())


@pytest.mark.requirement("OBS-4")
async def test_nothing_is_kept_of_what_fits_and_many_bytes_of_few_characters_are_whole() -> None:
    for text in ("x" * LIMIT, "漢" * LIMIT):
        kept = Kept()
        taken = await read_body(Chunks([text.encode()]), encoding="", limit=LIMIT, spool=spool_on(kept))
        assert (taken, kept.text) == (Taken(text.encode()), "")


@pytest.mark.requirement("OBS-4")
async def test_neither_a_bomb_nor_what_is_longer_than_anybody_reads_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT_BYTES_MAX", 1_000_000)
    bomb = Chunks([gzip.compress(b"z" * 20_000_000)])
    taken = await read_body(bomb, encoding="gzip", limit=LIMIT, spool=spool_on(Kept()))
    assert (taken.data, taken.is_whole, taken.whole) == (b"z" * LIMIT, False, None)
    long = Chunks([b"y" * 50_000] * 200)
    taken = await read_body(long, encoding="", limit=LIMIT, spool=spool_on(Kept()))
    assert (taken.is_whole, taken.whole) == (False, None)
    assert long.taken == 21
