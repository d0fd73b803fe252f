"""A SQLite store without its writer: ops are called directly, inside one transaction."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.store.seal import NoSeal
from interlock.store.sqlite_desk import Desk
from interlock.store.sqlite_open import opened


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    found = opened(tmp_path / "store.db", chain="main", seal=NoSeal())
    found.desk.books.source = found.desk.db
    found.desk.db.connection.execute("BEGIN IMMEDIATE")
    yield found.desk
    found.reader.close()
    found.desk.db.close()
    found.desk.presence.leave()
