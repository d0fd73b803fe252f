"""A store that moves is open in one place at most, whatever goes wrong on the way."""

from pathlib import Path

import pytest

from interlock.core.errors import NotWritten, StoreError, StoreMoved
from interlock.store import move as moving
from interlock.store.move import move
from interlock.store.sqlite import SqliteStore
from interlock.testing.store_contract_shared import verified
from interlock.testing.store_values import Values

values = Values()


async def stored(path: Path) -> Path:
    store = await SqliteStore.open(path, chain="main")
    await store.claim(values.intent("k"))
    await store.close()
    return path


def holds(draft: Path) -> None:
    assert draft.exists()


async def heads(path: Path) -> list[str]:
    store = await SqliteStore.open(path, chain="main")
    await store.append(values.event())
    found = [head.chain for head in await verified(store)]
    await store.close()
    return found


@pytest.mark.requirement("AUD-2", "SCALE-2")
async def test_it_goes_on_in_its_new_place_and_the_old_one_says_where(tmp_path: Path) -> None:
    source, target = await stored(tmp_path / "a.db"), tmp_path / "b.db"
    made, whole = move(source, target, at_us=1, check=holds)
    assert (made.path, whole.rows > 0) == (target, True)
    assert await heads(target) == ["main"]
    with pytest.raises(StoreMoved, match=str(target)):
        await SqliteStore.open(source, chain="main")
    with pytest.raises(StoreMoved):
        move(source, tmp_path / "c.db", at_us=2, check=holds)


async def test_it_stays_where_somebody_has_it_open(tmp_path: Path) -> None:
    source = await stored(tmp_path / "a.db")
    store = await SqliteStore.open(source, chain="main")
    with pytest.raises(StoreError, match="end it first"):
        move(source, tmp_path / "b.db", at_us=1, check=holds)
    await store.close()
    with pytest.raises(StoreError, match="no store"):
        move(tmp_path / "none.db", tmp_path / "b.db", at_us=1, check=holds)
    assert not (tmp_path / "b.db").exists()


async def test_it_stays_where_the_new_one_does_not_hold_or_its_place_is_taken(tmp_path: Path) -> None:
    source, target = await stored(tmp_path / "a.db"), tmp_path / "b.db"

    def bad(draft: Path) -> None:
        raise ValueError(str(draft))

    def late(draft: Path) -> None:
        target.write_text(draft.name)

    with pytest.raises(ValueError, match="part"):
        move(source, target, at_us=1, check=bad)
    with pytest.raises(NotWritten, match="exists already"):
        move(source, target, at_us=1, check=late)
    assert await heads(source) == ["main"]


async def test_killed_before_the_new_one_is_in_place_neither_opens_and_the_same_move_finishes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = await stored(tmp_path / "a.db"), tmp_path / "b.db"
    monkeypatch.setattr(moving, "be_here", lambda db: None)  # as if the process were no more
    monkeypatch.setattr(moving, "placed", lambda draft, target: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        move(source, target, at_us=1, check=holds)
    monkeypatch.undo()
    with pytest.raises(StoreMoved):
        await SqliteStore.open(source, chain="main")
    move(source, target, at_us=2, check=holds)
    assert await heads(target) == ["main"]


async def test_nobody_opens_it_while_it_moves(tmp_path: Path) -> None:
    source = await stored(tmp_path / "a.db")
    with moving.nobody_else(source), pytest.raises(StoreError, match="end it first"), moving.nobody_else(source):
        pass
