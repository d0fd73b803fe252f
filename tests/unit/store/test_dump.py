"""A dump and the database that is made of it hold the same to the last bit, or there is none."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from interlock.core.chain import Head
from interlock.core.dump import Row, Table, dump_items, dump_lines
from interlock.core.errors import BackupInvalid, StoreError, StoreNewer
from interlock.ports import Claim
from interlock.store import dump as dumping
from interlock.store.dump import dump, lines_of, load
from interlock.store.queries import migrations
from interlock.store.sqlite import SqliteStore
from interlock.testing.store_contract_runs import begun, due, let_go
from interlock.testing.store_contract_shared import verified
from interlock.testing.store_values import NOW_US, TENANT, Values

values = Values()


async def filled(path: Path) -> tuple[Head, ...]:
    """A store with something in every table; where its chains stand."""
    store = await SqliteStore.open(path, chain="main")
    for number in range(5):
        claim = await store.claim(values.intent(f"k{number}"))
        assert isinstance(claim, Claim)
        if number:
            await store.settle(values.settlement(claim))
    await store.ask(values.asking("waiting"))
    await begun(store, "held")
    await let_go(store, "timed", wake_us=NOW_US)
    await store.record(values.entry(calls=1))
    await store.publish((values.registered("a"), values.registered("b")), values.event())
    heads = await verified(store)
    await store.close()
    return heads


def lines(path: Path) -> list[bytes]:
    with closing(apsw.Connection(str(path))) as connection:
        return list(lines_of(connection))


@pytest.mark.requirement("AUD-2", "SCALE-2")
async def test_what_is_loaded_is_what_was_dumped_in_every_row(tmp_path: Path) -> None:
    heads = await filled(tmp_path / "a.db")
    told = list[tuple[int, int]]()
    made, whole = dump(tmp_path / "a.db", tmp_path / "a.dump", tell=lambda *each: told.append(each))
    with made.path.open("rb") as file:
        assert load(file, tmp_path / "b.db") == whole
    assert lines(tmp_path / "b.db") == lines(tmp_path / "a.db")
    assert told[-1] == (whole.rows, whole.rows)
    store = await SqliteStore.open(tmp_path / "b.db", chain="main")
    assert await verified(store) == heads
    (call,) = await store.open_calls(TENANT)
    assert call.orphaned
    await store.close()


async def test_no_owner_of_the_new_store_is_taken_for_one_of_the_old(tmp_path: Path) -> None:
    await filled(tmp_path / "a.db")
    load(lines(tmp_path / "a.db"), tmp_path / "b.db")
    with closing(apsw.Connection(str(tmp_path / "b.db"))) as connection:
        connection.execute("INSERT INTO owners (chain) VALUES (1)")
        (new,) = connection.execute("SELECT max(id) FROM owners").fetchone() or (0,)
        assert connection.execute("SELECT count(*) FROM calls WHERE owner >= ?", (new,)).fetchone() == (0,)


async def test_who_holds_runs_alone_is_nobody_in_the_new_store(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "a.db", chain="main")
    await begun(store, "held")
    await store.close()
    load(lines(tmp_path / "a.db"), tmp_path / "b.db")
    store = await SqliteStore.open(tmp_path / "b.db", chain="main")
    assert await due(store) == ["held"]
    await store.close()


async def test_every_table_is_in_it_but_where_the_store_went(tmp_path: Path) -> None:
    await filled(tmp_path / "a.db")
    with closing(apsw.Connection(str(tmp_path / "a.db"))) as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    dumped = {item.name for item in dump_items(lines(tmp_path / "a.db")) if isinstance(item, Table)}
    assert names - dumped == {"moved", "sqlite_sequence"}


async def test_it_is_one_moment_of_a_store_in_use(tmp_path: Path) -> None:
    await filled(tmp_path / "a.db")
    store, loop = await SqliteStore.open(tmp_path / "a.db", chain="main"), asyncio.get_running_loop()
    with closing(apsw.Connection(str(store.path))) as connection:
        connection.execute("BEGIN")
        before = list(lines_of(connection))

        def read() -> Iterator[bytes]:
            for line in lines_of(connection):
                yield line
                asyncio.run_coroutine_threadsafe(store.append(values.event()), loop).result(5)

        assert await asyncio.to_thread(list, read()) == before
    await store.close()


async def test_one_of_an_older_schema_is_loaded_and_brought_up_to_date(tmp_path: Path) -> None:
    with closing(apsw.Connection(str(tmp_path / "old.db"))) as old:
        old.execute(migrations()[0])
        old.pragma("user_version", 1)
        old.execute("INSERT INTO policies VALUES ('acme', 'p', 'enforce', 'text')")
    load(lines(tmp_path / "old.db"), tmp_path / "b.db")
    store = await SqliteStore.open(tmp_path / "b.db", chain="main")
    assert [each.name for each in (await store.policies())[1]] == ["p"]
    await store.close()


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (b'"schema":%d' % len(migrations()), b'"schema":99', "version 99"),
        (b'"table":"calls"', b'"table":"sqlite_schema"', "not what its version"),
        (b'"table":"calls"', b'"table":"moved"', "not what its version"),
        (b'"columns":["one","epoch"]', b'"columns":["epoch","one"]', "not what its version"),
    ],
)
async def test_one_that_fits_no_schema_is_refused(tmp_path: Path, old: bytes, new: bytes, says: str) -> None:
    await filled(tmp_path / "a.db")
    changed = [line.replace(old, new) for line in lines(tmp_path / "a.db")]
    with pytest.raises((BackupInvalid, StoreNewer), match=says):
        load(changed, tmp_path / "b.db")
    with pytest.raises(BackupInvalid):
        load([], tmp_path / "c.db")


async def test_what_the_database_made_something_else_of_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await filled(tmp_path / "a.db")
    make = dumping._make_tables

    def make_and_spoil(connection: apsw.Connection, *, schema: int) -> None:
        make(connection, schema=schema)
        spoils = "UPDATE audit SET at_us = 1 WHERE place = NEW.place"
        connection.execute(f"CREATE TRIGGER spoil AFTER INSERT ON audit BEGIN {spoils}; END")

    monkeypatch.setattr(dumping, "_make_tables", make_and_spoil)
    with pytest.raises(BackupInvalid, match="not what the dump holds"):
        load(lines(tmp_path / "a.db"), tmp_path / "b.db")


@pytest.mark.requirement("AUD-2")
async def test_a_dump_is_one_moment_though_writers_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dumping, "TOLD_ROWS", 1)
    await filled(tmp_path / "a.db")
    store, loop = await SqliteStore.open(tmp_path / "a.db", chain="main"), asyncio.get_running_loop()

    def write(done: int, total: int) -> None:
        asyncio.run_coroutine_threadsafe(store.append(values.event()), loop).result(5)

    await asyncio.to_thread(dump, store.path, tmp_path / "a.dump", tell=write)
    await store.close()
    with (tmp_path / "a.dump").open("rb") as file:
        load(file, tmp_path / "b.db")
    copied = await SqliteStore.open(tmp_path / "b.db", chain="main")
    await verified(copied)
    await copied.close()


async def test_one_that_leaves_a_table_out_is_refused(tmp_path: Path) -> None:
    await filled(tmp_path / "a.db")
    items = list(dump_items(lines(tmp_path / "a.db")))
    tables = [(item, list[Row]()) for item in items if isinstance(item, Table) and item.name != "approvals"]
    with pytest.raises(BackupInvalid, match="missing in the dump: approvals"):
        load(dump_lines(tables, schema=len(migrations())), tmp_path / "b.db")


async def test_there_is_no_dump_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no store"):
        dump(tmp_path / "none.db", tmp_path / "a.dump")
