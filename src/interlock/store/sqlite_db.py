"""One connection to a SQLite database, with the named queries that run on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import apsw

from interlock.core.errors import StoreError, StoreNewer
from interlock.store.queries import migrations, named_queries
from interlock.store.rows import Cell
from interlock.store.seal import NoSeal, Seal

Row = tuple[Any, ...]
"""A row as it comes from SQLite; the functions of `rows` and the tables give it types."""

_QUERIES: Final = named_queries()
_BUSY_MS: Final = 5_000


class Db:
    """A connection. One thread at a time."""

    def __init__(self, path: Path, *, seal: Seal) -> None:
        self._use(apsw.Connection(str(path)), seal=seal)
        self.connection.set_busy_timeout(_BUSY_MS)
        try:
            self._set_up()
        except apsw.NotADBError as other:
            raise StoreError("the file is not a database of Interlock") from other

    def _use(self, connection: apsw.Connection, *, seal: Seal) -> None:
        """Work on this connection."""
        self.connection = connection
        # A new cursor costs as much as a small write. What gives rows has one of its own, read to its end.
        self._cursor, self._reading = connection.cursor(), connection.cursor()
        self.seal = seal
        self.keeps_plain = type(seal) is NoSeal  # then no context has to be spelled for it

    def _set_up(self) -> None:
        # A commit that was answered survives the loss of power: each one syncs the log.
        self.connection.execute("PRAGMA synchronous = FULL")
        # A hot page is copied back once for all of its changes in so many pages of log (32 MB).
        self.connection.execute("PRAGMA wal_autocheckpoint = 8000")
        self.connection.execute("PRAGMA temp_store = MEMORY")

    def run(self, query: str, *values: Cell) -> None:
        """Carry a query out for its effect."""
        self._cursor.execute(_QUERIES[query], values)

    def statement(self, query: str) -> Callable[[Sequence[Cell]], object]:
        """What carries a query out for its effect with the values that it is given, for those that every call needs."""
        return partial(self._cursor.execute, _QUERIES[query])

    def run_each(self, query: str, *, rows: Iterable[Row]) -> None:
        """The same for every row."""
        self._cursor.executemany(_QUERIES[query], rows)

    def one(self, query: str, *values: Cell) -> Row | None:
        """The first row."""
        rows = self._reading.execute(_QUERIES[query], values).fetchall()
        return rows[0] if rows else None

    def all(self, query: str, *values: Cell) -> list[Row]:
        """Every row."""
        return self._reading.execute(_QUERIES[query], values).fetchall()

    def named(self, query: str, values: Mapping[str, Cell]) -> list[Row]:
        """Every row of a query whose values have names."""
        return self._reading.execute(_QUERIES[query], values).fetchall()

    @contextmanager
    def one_moment(self) -> Iterator[None]:
        """All reads inside see the database as it is at the first of them."""
        self.connection.execute("SAVEPOINT moment")
        try:
            yield
        finally:
            self.connection.execute("RELEASE moment")

    def changes(self) -> int:
        """How many rows the last write changed."""
        return self.connection.changes()

    def version_of_data(self) -> int:
        """A number that is another one once another connection has written."""
        rows: list[Row] = self._reading.execute("PRAGMA data_version").fetchall()  # `pragma` would prepare it each time
        return int(rows[0][0]) if rows else 0

    def close(self) -> None:
        self.connection.close()


def prepare(db: Db) -> None:
    """Bring a database, new or old, to the present schema; of processes that race, one does it.

    Raises `StoreNewer` where a newer Interlock wrote it, `StoreError` where the file is something else.
    """
    connection = db.connection
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    try:
        _migrate(connection)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _migrate(connection: apsw.Connection) -> None:
    scripts = migrations()
    version = int(connection.pragma("user_version"))
    if version > len(scripts):
        raise StoreNewer(f"the database has version {version}; this Interlock knows versions up to {len(scripts)}")
    if version == 0 and connection.execute("SELECT 1 FROM sqlite_schema").fetchone() is not None:
        raise StoreError("the file is another program's database")
    for script in scripts[version:]:
        connection.execute(script)
    connection.pragma("user_version", len(scripts))
