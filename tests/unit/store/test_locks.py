"""Processes meet at file locks; here each is one of two in the same process, which flock tells apart as well."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.core.errors import StoreError
from interlock.store.locks import FileLock, Presence, Turnstile


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "locks"


@pytest.fixture
def first(folder: Path) -> Iterator[Presence]:
    presence = Presence(folder)
    presence.enter()
    yield presence
    presence.leave()


def test_an_exclusive_lock_is_had_by_one(tmp_path: Path) -> None:
    one, two = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    assert one.try_exclusive()
    assert not two.try_exclusive()
    assert not two.try_shared()
    one.release()
    assert two.try_shared()
    assert one.try_shared()
    two.close()
    assert one.try_exclusive()
    one.close()


def test_one_at_a_time_passes_the_turnstile(tmp_path: Path) -> None:
    inside: list[int] = []
    most = 0

    def pass_often() -> None:
        nonlocal most
        turnstile = Turnstile(tmp_path)
        for _ in range(50):
            with turnstile.passed():
                inside.append(1)
                most = max(most, len(inside))
                inside.pop()
        turnstile.close()

    threads = [threading.Thread(target=pass_often) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert most == 1


def test_the_sole_one_is_asked_to_share_and_lets_the_other_in(folder: Path, first: Presence) -> None:
    assert first.sole
    bell = first.bell.open()
    second = Presence(folder)
    entering = threading.Thread(target=second.enter)
    entering.start()
    os.set_blocking(bell, True)
    assert os.read(bell, 1) == b"?"
    first.share()
    entering.join()
    assert (first.sole, second.sole) == (False, False)
    second.leave()
    os.close(bell)


def test_who_is_not_let_in_says_so_in_the_end(folder: Path, first: Presence) -> None:
    second = Presence(folder, patience_s=0.02)
    with pytest.raises(StoreError, match=r"did not answer for 0\.02 s"):
        second.enter()
    assert first.sole
    second.leave()


def test_an_owner_is_alive_until_it_leaves(folder: Path, first: Presence) -> None:
    first.be_owner(1)
    second = Presence(folder)
    assert first.is_alive(1)
    assert second.is_alive(1)
    assert not second.is_alive(2)
    first.leave()
    assert not second.is_alive(1)
    assert list((folder / "owners").iterdir()) == []
    second.leave()


def test_what_dead_owners_left_is_swept_away(folder: Path, first: Presence) -> None:
    first.be_owner(1)
    (folder / "owners" / "2").touch()
    first.sweep()
    assert [file.name for file in (folder / "owners").iterdir()] == ["1"]


def test_a_chain_is_written_by_one(folder: Path, first: Presence) -> None:
    second = Presence(folder)
    assert first.take_chain("main")
    assert not second.take_chain("main")
    assert second.take_chain("main.2")
    second.leave()


def test_who_is_left_alone_becomes_sole_again(folder: Path, first: Presence) -> None:
    first.be_owner(1)
    second = Presence(folder)
    second.be_owner(2)
    first.share()
    second.enter()
    first.refresh()
    assert not first.sole
    second.leave()
    first._look_again = 0.0
    first.refresh()
    assert first.sole
