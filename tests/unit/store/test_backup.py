"""A backup is one moment of a store that goes on, in one file, and says that it is a copy."""

import asyncio
import resource
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from interlock.core.budget import Amounts
from interlock.core.errors import NotWritten, StoreError, StoreMoved
from interlock.ports import Claim
from interlock.store import backup
from interlock.store.backup import back_up
from interlock.store.backup_file import measured
from interlock.store.backup_read import inspected
from interlock.store.seal import NoSeal
from interlock.store.sqlite import SqliteStore
from interlock.store.sqlite_copies import Copy, be_moved
from interlock.store.sqlite_db import Db
from interlock.testing.store_values import Values

COPY = Copy("3fa9c1d2", 5)


def names(folder: Path) -> list[str]:
    """What there is of the backup."""
    return [each.name for each in folder.iterdir() if each.name.startswith("b")]


async def filled(path: Path, count: int = 100) -> SqliteStore:
    store, values = await SqliteStore.open(path, chain="main"), Values()
    await asyncio.gather(*[store.append(values.event(data=b"x" * 1_000)) for _ in range(count)])
    return store


async def test_it_is_one_file_and_says_that_it_is_a_copy(tmp_path: Path) -> None:
    store = await filled(tmp_path / "a.db")
    told = list[tuple[int, int]]()
    made = back_up(store.path, tmp_path / "b", copy=COPY, tell=lambda *each: told.append(each))
    await store.close()
    assert names(tmp_path) == ["b"]
    with made.path.open("rb") as file:
        # SQLite's own words for a database without a log beside it: it can be read from where nothing can be written.
        assert file.read(20)[18:] == b"\x01\x01"
    assert (inspected(tmp_path / "b").copy, made.size_bytes) == (COPY, measured(tmp_path / "b")[0])
    assert told[-1][0] == told[-1][1] > 0


async def test_it_is_one_moment_though_writers_go_on_between_its_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup, "PAGES", 3)
    store, values, loop = await filled(tmp_path / "a.db"), Values(), asyncio.get_running_loop()

    def write(done: int, total: int) -> None:
        asyncio.run_coroutine_threadsafe(store.claim(values.intent()), loop).result(5)

    await asyncio.to_thread(back_up, store.path, tmp_path / "b", copy=COPY, tell=write)
    assert len(await store.open_calls()) > 10
    assert inspected(tmp_path / "b").open_calls == 0
    await store.close()


async def test_64_writers_go_on_while_it_is_taken(tmp_path: Path) -> None:
    store, values, stop = await filled(tmp_path / "a.db", 3_000), Values(), asyncio.Event()
    during = 0

    async def write() -> None:
        nonlocal during
        while not stop.is_set():
            claim = await store.claim(values.intent())
            assert isinstance(claim, Claim)
            await store.settle(values.settlement(claim, spent=Amounts(calls=1)))
            during += 1

    writers = [asyncio.create_task(write()) for _ in range(64)]
    await asyncio.to_thread(back_up, store.path, tmp_path / "b", copy=COPY)
    stop.set()
    await asyncio.gather(*writers)
    await store.close()
    found = inspected(tmp_path / "b")
    assert during > 0
    with closing(apsw.Connection(str(tmp_path / "b"))) as copied:
        (settled,) = copied.execute("SELECT count(*) FROM calls WHERE state = 'succeeded'").fetchone() or (0,)
        (used, held) = copied.execute("SELECT used_calls, held_calls FROM usage").fetchone() or (0, 0)
    assert (held, used) == (found.open_calls, settled)


async def test_a_full_disk_is_said_and_nothing_is_left(tmp_path: Path) -> None:
    store = await filled(tmp_path / "a.db", 500)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
    try:
        with pytest.raises(NotWritten, match="no room"):
            back_up(store.path, tmp_path / "b", copy=COPY)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        await store.close()
    assert names(tmp_path) == []


async def test_a_store_that_is_not_there_or_has_moved_is_not_copied(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no store"):
        back_up(tmp_path / "none.db", tmp_path / "b", copy=COPY)
    store = await filled(tmp_path / "a.db", 1)
    await store.close()
    with closing(Db(store.path, seal=NoSeal())) as db:
        be_moved(db, destination="elsewhere.db", at_us=1)
    with pytest.raises(StoreMoved):
        back_up(store.path, tmp_path / "b", copy=COPY)
    assert not (tmp_path / "b").exists()
