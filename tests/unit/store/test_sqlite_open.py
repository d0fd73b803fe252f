"""A store is opened on its own files only, and on none that is newer."""

from pathlib import Path

import apsw
import pytest

from interlock.core.errors import StoreError, StoreNewer
from interlock.store.queries import migrations
from interlock.store.seal import NoSeal
from interlock.store.sqlite_open import Opened, opened


def open_here(path: Path) -> Opened:
    return opened(path, chain="main", seal=NoSeal())


def close(found: Opened) -> None:
    found.reader.close()
    found.desk.db.close()
    found.desk.presence.leave()


def test_a_file_of_a_newer_interlock_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    close(open_here(path))
    connection = apsw.Connection(str(path))
    connection.pragma("user_version", len(migrations()) + 1)
    connection.close()
    with pytest.raises(StoreNewer, match=f"versions up to {len(migrations())}"):
        open_here(path)


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE theirs (x)")
    with pytest.raises(StoreError, match="another program's"):
        open_here(path)
    assert [row[0] for row in connection.execute("SELECT name FROM sqlite_schema")] == ["theirs"]
    connection.close()


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(b"not a database, but long enough to be looked at as one" * 20)
    with pytest.raises(StoreError, match="not a database"):
        open_here(path)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no folder"):
        open_here(tmp_path / "none" / "store.db")
    with pytest.raises(StoreError, match="is a folder"):
        open_here(tmp_path)


def test_who_could_not_open_leaves_nobody_waiting(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(b"not a database, but long enough to be looked at as one" * 20)
    with pytest.raises(StoreError):
        open_here(path)
    path.unlink()
    found = open_here(path)
    assert found.desk.presence.sole
    close(found)


def test_every_opening_is_an_owner_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    first = open_here(path)
    close(first)
    (tmp_path / "store.db-locks" / "owners" / str(first.desk.owner)).touch()  # as one that was killed leaves it
    second = open_here(path)
    assert second.desk.owner > first.desk.owner
    assert [file.name for file in (tmp_path / "store.db-locks" / "owners").iterdir()] == [str(second.desk.owner)]
    close(second)
