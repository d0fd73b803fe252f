"""A connection: durable commits, reads of one moment, a number that tells of other writers."""

from pathlib import Path

import apsw

from interlock.store.seal import NoSeal
from interlock.store.sqlite_db import Db, prepare


def test_commits_are_synced_to_a_log(tmp_path: Path) -> None:
    db = Db(tmp_path / "x.db", seal=NoSeal())
    prepare(db)
    assert (db.connection.pragma("journal_mode"), db.connection.pragma("synchronous")) == ("wal", 2)
    db.close()


def test_the_bundled_sqlite_has_no_log_reset_bug() -> None:
    assert tuple(map(int, apsw.sqlite_lib_version().split("."))) >= (3, 51, 3)


def test_reads_of_one_moment_do_not_see_what_is_written_meanwhile(tmp_path: Path) -> None:
    one, two = Db(tmp_path / "x.db", seal=NoSeal()), Db(tmp_path / "x.db", seal=NoSeal())
    prepare(one)
    prepare(two)
    version = one.version_of_data()
    with one.one_moment():
        before = one.one("select_epoch")
        two.run("update_epoch", 5)
        assert one.one("select_epoch") == before
    assert one.one("select_epoch") == (5,)
    assert one.version_of_data() != version
    one.close()
    two.close()
