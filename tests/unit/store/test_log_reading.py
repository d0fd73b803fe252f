"""A log is read beside whoever writes it, and nothing can be written that way."""

from pathlib import Path

import apsw
import pytest

from interlock.core.journal import AuditQuery
from interlock.store.log_reading import SharedDb, sqlite_log
from interlock.store.seal import NoSeal
from interlock.store.sqlite import SqliteStore
from interlock.testing.store_values import Values


async def test_what_was_written_a_moment_ago_is_read_and_the_writer_notices_nothing(tmp_path: Path) -> None:
    store, values = await SqliteStore.open(tmp_path / "a.db", chain="main"), Values()
    with sqlite_log(tmp_path / "a.db", seal=NoSeal(), closed=False) as log:
        for count in (1, 2):
            await store.append(values.event())
            assert len(await log.records(AuditQuery())) == count
    assert store.is_alone
    await store.close()


async def test_nothing_can_be_written(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "a.db", chain="main")
    db = SharedDb(tmp_path / "a.db", seal=NoSeal())
    with pytest.raises(apsw.ReadOnlyError):
        db.connection.execute("delete from audit")
    db.close()
    await store.close()
    with pytest.raises(apsw.CantOpenError):
        SharedDb(tmp_path / "none.db", seal=NoSeal())
