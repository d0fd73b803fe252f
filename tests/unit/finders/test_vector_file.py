"""Vectors are kept for other processes; a file that cannot be used is left alone, and nothing fails for it."""

from pathlib import Path

import pytest

from interlock.finders.vector_file import ASKED_AT_ONCE, VectorFile

pytestmark = pytest.mark.requirement("REG-10")


def of(path: Path, *, size_bytes: int = 8) -> VectorFile:
    return VectorFile(path, size_bytes=size_bytes)


def test_what_one_keeps_another_finds(tmp_path: Path) -> None:
    vectors = {f"{at:064x}": at.to_bytes(8, "big") for at in range(ASKED_AT_ONCE + 10)}
    of(tmp_path / "a" / "v.db").keep(vectors)
    assert of(tmp_path / "a" / "v.db").found([*vectors, "f" * 64]) == vectors
    assert of(tmp_path / "a" / "v.db").found([]) == {}


def test_a_vector_of_another_size_is_none(tmp_path: Path) -> None:
    of(tmp_path / "v.db").keep({"a" * 64: b"12345678", "b" * 64: b"1"})
    assert of(tmp_path / "v.db").found(["a" * 64, "b" * 64]) == {"a" * 64: b"12345678"}


def test_a_file_that_is_none_of_ours_is_said_once_and_left_as_it_is(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "v.db"
    path.write_bytes(b"something else entirely" * 100)
    file = of(path)
    assert file.found(["a" * 64]) == {}
    file.keep({"a" * 64: b"12345678"})
    assert path.read_bytes() == b"something else entirely" * 100
    assert len([each for each in caplog.records if "cannot be used" in each.message]) == 1


def test_a_place_where_nothing_can_be_written_is_no_fault(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    file = of(tmp_path / "file" / "v.db")
    file.keep({"a" * 64: b"12345678"})
    assert file.found(["a" * 64]) == {}
    assert "cannot be used" in caplog.text
