"""A store that moves into PostgreSQL is open in one place at most, whatever goes wrong on the way."""

from pathlib import Path

import psycopg
import pytest

from interlock.core.errors import BackupInvalid, NotWritten, StoreError, StoreMoved
from interlock.store import move_postgres
from interlock.store.move_postgres import make_tables, move_to_postgres
from interlock.store.postgres_line import shown
from interlock.store.seal import NoSeal
from interlock.store.sqlite import SqliteStore
from interlock.store.sqlite_copies import Copy, be_restored
from interlock.store.sqlite_db import Db
from interlock.testing.store_contract_shared import verified
from interlock.testing.store_values import Values
from tests.postgres import Opens


async def stored(path: Path) -> Path:
    store, values = await SqliteStore.open(path, chain="main"), Values()
    await store.claim(values.intent("k"))
    await store.close()
    return path


def holds(store: Path) -> None:
    assert store.exists()


@pytest.mark.requirement("SCALE-2", "AUD-2")
async def test_it_goes_on_there_and_the_old_one_says_where(
    tmp_path: Path, postgres_url: str, postgres_stores: Opens
) -> None:
    source = await stored(tmp_path / "a.db")
    await make_tables(postgres_url)
    told = list[tuple[int, int]]()
    whole = move_to_postgres(source, postgres_url, at_us=1, check=holds, tell=lambda *each: told.append(each))
    assert told[-1] == (whole.rows, whole.rows)
    store = await postgres_stores()
    await store.append(Values().event())
    assert [(head.chain, head.sequence) for head in await verified(store)] == [("main", 2)]
    with pytest.raises(StoreMoved) as moved:
        await SqliteStore.open(source, chain="main")
    assert shown(postgres_url) in str(moved.value)


@pytest.mark.requirement("AUD-2")
async def test_a_restored_store_goes_on_in_its_own_chains_there_too(
    tmp_path: Path, postgres_url: str, postgres_stores: Opens
) -> None:
    source = await stored(tmp_path / "a.db")
    db = Db(source, seal=NoSeal())
    be_restored(db, copy=Copy("3fa9c1d2", 1, 2))
    db.close()
    await make_tables(postgres_url)
    move_to_postgres(source, postgres_url, at_us=1, check=holds)
    for _ in range(2):
        await (await postgres_stores()).append(Values().event())
    heads = {head.chain: head.sequence for head in await verified(await postgres_stores())}
    assert heads == {"main": 1, "main~3fa9c1d2": 1, "main~3fa9c1d2.2": 1}


async def test_it_stays_where_it_is_if_somebody_has_been_there(
    tmp_path: Path, postgres_url: str, postgres_stores: Opens
) -> None:
    source = await stored(tmp_path / "a.db")
    await (await postgres_stores()).append(Values().event())
    with pytest.raises(NotWritten, match="holds a store already"):
        move_to_postgres(source, postgres_url, at_us=1, check=holds)
    await (await SqliteStore.open(source, chain="main")).close()


async def test_where_the_commit_is_not_answered_neither_opens_and_the_same_move_finishes_it(
    tmp_path: Path, postgres_url: str, postgres_stores: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = await stored(tmp_path / "a.db")
    await make_tables(postgres_url)

    def lost(connection: psycopg.Connection) -> None:
        connection.close()
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(psycopg.Connection, "commit", lost)
    with pytest.raises(StoreError, match="as far as is known"):
        move_to_postgres(source, postgres_url, at_us=1, check=holds)
    monkeypatch.undo()
    with pytest.raises(StoreMoved):
        await SqliteStore.open(source, chain="main")
    with pytest.raises(StoreMoved):
        move_to_postgres(source, "postgresql://127.0.0.1:1/other", at_us=1, check=holds)
    move_to_postgres(source, postgres_url, at_us=1, check=holds)
    assert len(await (await postgres_stores()).open_calls()) == 1


async def test_what_fails_before_that_leaves_it_where_it_is(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = await stored(tmp_path / "a.db")
    await make_tables(postgres_url)

    def breaks(lines: object, connection: psycopg.Connection) -> None:
        connection.execute("SELECT nonsense")

    monkeypatch.setattr(move_postgres, "load", breaks)
    with pytest.raises(StoreError, match="nonsense"):
        move_to_postgres(source, postgres_url, at_us=1, check=holds)
    await (await SqliteStore.open(source, chain="main")).close()


async def test_a_store_that_does_not_hold_stays_where_it_is(tmp_path: Path, postgres_url: str) -> None:
    source = await stored(tmp_path / "a.db")
    await make_tables(postgres_url)

    def broken(store: Path) -> None:
        raise BackupInvalid(str(store))

    with pytest.raises(BackupInvalid):
        move_to_postgres(source, postgres_url, at_us=1, check=broken)
    await (await SqliteStore.open(source, chain="main")).close()


async def test_a_server_that_is_not_there_is_named_without_the_password(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="127") as fault:
        await make_tables("postgresql://alice:s3cret@127.0.0.1:1/orders")
    assert "s3cret" not in str(fault.value)
