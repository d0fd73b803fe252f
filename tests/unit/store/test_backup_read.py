"""A backup is read without a byte of it changing, and what is no whole store is found out."""

from contextlib import closing
from pathlib import Path

import apsw
import pytest

from interlock.core.errors import BackupInvalid, StoreNewer
from interlock.core.journal import AuditQuery
from interlock.store.backup import back_up
from interlock.store.backup_file import beside, measured
from interlock.store.backup_read import ClosedDb, ClosedLog, inspected
from interlock.store.queries import migrations
from interlock.store.seal import NoSeal
from interlock.store.sqlite import SqliteStore
from interlock.store.sqlite_copies import Copy
from interlock.testing.store_values import NOW_US, Values


@pytest.fixture
async def file(tmp_path: Path) -> Path:
    """A backup of a store with a claimed call and its record."""
    store, values = await SqliteStore.open(tmp_path / "a.db", chain="main"), Values()
    await store.claim(values.intent())
    back_up(store.path, tmp_path / "b", copy=Copy("3fa9c1d2", 5))
    await store.close()
    return tmp_path / "b"


async def test_what_it_holds_is_read_and_nothing_changes(file: Path) -> None:
    before = measured(file)
    found = inspected(file)
    assert (found.open_calls, found.open_since_us, found.keys) == (1, NOW_US, None)
    assert found.last_us is not None
    assert found.schema == len(migrations())
    with closing(ClosedDb(file, seal=NoSeal())) as db:
        log = ClosedLog(db)
        assert len(await log.records(AuditQuery())) == (await log.heads())[0].sequence == 1
        assert await log.checkpoints() == ()
    assert measured(file) == before
    assert not beside(file)


async def test_a_store_of_an_older_schema_is_read_as_it_is(tmp_path: Path) -> None:
    with closing(apsw.Connection(str(tmp_path / "old.db"))) as old:
        old.execute(migrations()[0])
        old.pragma("user_version", 1)
    found = inspected(tmp_path / "old.db")
    assert (found.schema, found.keys, found.copy, found.last_us) == (1, None, None, None)


async def test_a_copied_store_that_was_closed_is_as_good(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "a.db", chain="main")
    await store.append(Values().event())
    await store.close()
    assert inspected(tmp_path / "a.db").copy is None


async def test_what_is_no_whole_store_is_named(file: Path) -> None:
    with pytest.raises(BackupInvalid, match="no file"):
        inspected(file.parent / "none")
    (file.parent / "text").write_text("no database" * 1_000)
    with pytest.raises(BackupInvalid, match="damaged, or no store"):
        inspected(file.parent / "text")
    with closing(apsw.Connection(str(file.parent / "other"))) as other:
        other.execute("CREATE TABLE notes (note)")
    with pytest.raises(BackupInvalid, match="no store of Interlock"):
        inspected(file.parent / "other")
    with closing(apsw.Connection(str(file))) as newer:
        newer.pragma("user_version", len(migrations()) + 1)
    with pytest.raises(StoreNewer):
        inspected(file)


def damage(file: Path, *, cut: bool) -> None:
    data = bytearray(file.read_bytes())
    if cut:
        del data[len(data) // 2 :]
    else:
        data[3 * 4_096 : 4 * 4_096] = b"\xff" * 4_096
    file.write_bytes(data)


@pytest.mark.parametrize("cut", [True, False])
async def test_a_damaged_one_is_found_out(file: Path, cut: bool) -> None:
    damage(file, cut=cut)
    with pytest.raises(BackupInvalid, match="damaged"):
        inspected(file)


async def test_a_store_in_use_is_no_backup(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "a.db", chain="main")
    await store.append(Values().event())
    with pytest.raises(BackupInvalid, match=r"in use.*backup create"):
        inspected(store.path)
    await store.close()
