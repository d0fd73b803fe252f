"""A file is put in its place whole or not at all, and nothing is overwritten."""

import errno
import fcntl
import os
import resource
from hashlib import sha256
from pathlib import Path

import pytest

from interlock.core.errors import NotWritten
from interlock.store.backup_file import beside, draft_of, placed


def put(target: Path, data: bytes) -> None:
    with draft_of(target) as draft:
        with draft.open("r+b") as file:
            file.write(data)
        placed(draft, target)


def test_it_is_there_when_it_is_whole_with_its_length_and_digest(tmp_path: Path) -> None:
    target = tmp_path / "a"
    with draft_of(target) as draft:
        draft.write_bytes(b"whole")
        assert not target.exists()
        made = placed(draft, target)
    assert (made.path, made.size_bytes, made.sha256) == (target, 5, sha256(b"whole").hexdigest())
    assert [each.name for each in tmp_path.iterdir()] == ["a"]
    assert target.stat().st_mode & 0o777 == 0o600


def test_nothing_is_left_of_a_draft_that_was_given_up(tmp_path: Path) -> None:
    def give_up() -> None:
        with draft_of(tmp_path / "a") as draft:
            draft.write_bytes(b"half")
            draft.with_name(draft.name + "-journal").touch()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        give_up()
    assert not list(tmp_path.iterdir())


def test_what_is_there_is_not_overwritten_whenever_it_comes(tmp_path: Path) -> None:
    target = tmp_path / "a"

    def be_late() -> None:
        with draft_of(target) as draft:
            draft.write_bytes(b"mine")
            target.write_bytes(b"theirs")
            placed(draft, target)

    with pytest.raises(NotWritten, match="exists already"):
        be_late()
    with pytest.raises(NotWritten, match="exists already"):
        put(target, b"mine")
    assert target.read_bytes() == b"theirs"
    dangling = tmp_path / "link"
    dangling.symlink_to(tmp_path / "nowhere")
    with pytest.raises(NotWritten, match="exists already"):
        put(dangling, b"mine")


def test_what_a_killed_process_left_is_written_over_and_what_a_living_one_writes_is_not(tmp_path: Path) -> None:
    left = tmp_path / "a.part"
    left.write_bytes(b"what was left is longer")
    with left.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(NotWritten, match="another process is writing"):
            put(tmp_path / "a", b"mine")
    put(tmp_path / "a", b"mine")
    assert (tmp_path / "a").read_bytes() == b"mine"


def test_a_file_system_without_links_is_served_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    put(tmp_path / "a", b"mine")
    assert (tmp_path / "a").read_bytes() == b"mine"


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotWritten, match="no folder"):
        put(tmp_path / "none" / "a", b"")


def test_a_disk_that_is_full_is_said_and_nothing_is_left(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.raises(NotWritten, match="no room"):
            put(tmp_path / "a", b"x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(tmp_path.iterdir())


def test_what_lies_beside_a_database_is_found(tmp_path: Path) -> None:
    (tmp_path / "a-wal").touch()
    (tmp_path / "b-wal").touch()
    assert beside(tmp_path / "a") == (tmp_path / "a-wal",)
