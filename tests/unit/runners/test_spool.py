"""A long text is kept while it comes: whole, bounded in memory, and with nothing shown that straddles two pieces."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.core.artifact import PART_BYTES, TEXT
from interlock.core.redaction import MASK, Redactor
from interlock.runners import spool as module
from interlock.runners.spool import Spool, TooLong
from interlock.store.memory_artifacts import MemoryArtifacts

SECRET = "planted-secret-0123456789"


class Watched(MemoryArtifacts):
    """Kept parts, in order."""

    @property
    def text(self) -> str:
        return b"".join(data for _, (_, data) in sorted(self._parts.items())).decode()

    @property
    def sizes(self) -> list[int]:
        return [len(data) for _, (_, data) in sorted(self._parts.items())]


def spool_on(kept: Watched, *, shown_max: int = 10) -> Spool:
    return Spool(kept, "acme", "h", 0, Redactor((SECRET,)), shown_max)


@pytest.mark.requirement("OBS-4")
async def test_what_came_is_kept_in_whole_parts_and_its_beginning_shown() -> None:
    kept = Watched()
    spool = spool_on(kept)
    for number in range(40_000):
        await spool.write(f"line {number} of 漢字\n")
    whole = await spool.end()
    assert whole is not None
    assert (spool.shown, whole.media_type, whole.handle) == ("line 0 of ", TEXT, "h")
    assert kept.text == "".join(f"line {number} of 漢字\n" for number in range(40_000))
    assert whole.size_bytes == sum(kept.sizes)
    assert set(kept.sizes[:-1]) == {PART_BYTES}


@pytest.mark.requirement("OBS-4")
async def test_no_more_than_some_parts_is_in_memory() -> None:
    kept = Watched()
    spool = spool_on(kept)
    for _ in range(50):
        await spool.write("x" * 100_000)
        assert len(spool._held) + len(spool._part) < 3 * PART_BYTES
    await spool.write("y" * 3_000_000)
    assert len(spool._held) + len(spool._part) < 3 * PART_BYTES


@pytest.mark.requirement("OBS-4")
async def test_what_is_short_enough_to_be_shown_is_kept_nowhere() -> None:
    kept = Watched()
    spool = spool_on(kept)
    await spool.write("0123456789")
    assert (await spool.end(), spool.shown, kept.sizes) == (None, "0123456789", [])


@pytest.mark.requirement("OBS-5")
@given(st.lists(st.integers(1, 60), min_size=1, max_size=40), st.integers(0, 300))
@settings(max_examples=60)
async def test_a_secret_is_hidden_wherever_the_pieces_are_cut(pieces: list[int], before: int) -> None:
    kept, text = Watched(), "a" * before + SECRET + "b" * 200 + SECRET
    spool = Spool(kept, "acme", "h", 0, Redactor((SECRET,)), shown_max=0, at_once=64, held_back=40)
    at = 0
    for size in pieces * 20:
        await spool.write(text[at : at + size])
        at += size
    await spool.end()
    assert kept.text == (text[:at]).replace(SECRET, MASK)


TOKEN = "eyJhbGciOiJIUzI1NiJ9." + "e" * 700 + "." + "s" * 43


@pytest.mark.requirement("OBS-5")
@pytest.mark.parametrize("hidden", [SECRET, SECRET + "\n", TOKEN + "\n", "password=" + SECRET])
async def test_what_is_hidden_is_not_cut_where_there_is_nothing_else(hidden: str) -> None:
    kept = Watched()
    spool = spool_on(kept)
    for _ in range(40):
        await spool.write(hidden * (20_000 // len(hidden)))
    assert await spool.end() is not None
    left = kept.text.replace(MASK, "")
    assert not [part for part in ("plan", "secret", "6789", "eyJ", "eee", "sss") if part in left]


@pytest.mark.requirement("OBS-5")
async def test_a_secret_that_is_spread_by_what_nobody_sees_is_hidden() -> None:
    kept = Watched()
    spool = spool_on(kept)
    for character in "\u200b".join(SECRET) + "\r\n" + SECRET[:9] + "\x00" + SECRET[9:]:
        await spool.write(character)
    assert await spool.end() is not None
    assert kept.text == f"{MASK}\n{MASK}"


@pytest.mark.requirement("OBS-5")
@pytest.mark.parametrize("before", range(0, 12, 3))
async def test_the_beginning_that_is_shown_ends_in_no_half_of_a_secret(before: int) -> None:
    spool = spool_on(Watched())
    await spool.write("a" * before + SECRET)
    await spool.write("b" * 10)
    assert spool.shown == ("a" * before + MASK + "b" * 10)[:10]


@pytest.mark.requirement("OBS-4")
async def test_what_goes_on_and_on_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STREAM_CHARS_MAX", 1_000)
    spool = spool_on(Watched())
    await spool.write("x" * 1_000)
    with pytest.raises(TooLong):
        await spool.write("x")
