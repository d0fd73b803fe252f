"""Opens the audit log of a SQLite store for reading alone, beside whoever writes it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

import apsw

from interlock.store.backup_read import ClosedDb, ClosedLog
from interlock.store.seal import Seal
from interlock.store.sqlite_db import Db

_BUSY_MS: Final = 5_000


class SharedDb(Db):
    """A database that others use, opened so that nothing can be written."""

    def __init__(self, path: Path, *, seal: Seal) -> None:
        place = f"file:{quote(str(path.absolute()))}?mode=ro"
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        self._use(apsw.Connection(place, flags=flags), seal=seal)
        self.connection.set_busy_timeout(_BUSY_MS)


@contextmanager
def sqlite_log(path: Path, *, seal: Seal, closed: bool) -> Iterator[ClosedLog]:
    """The log in this file. `closed`: nobody writes it."""
    with closing(ClosedDb(path, seal=seal) if closed else SharedDb(path, seal=seal)) as db:
        yield ClosedLog(db)
