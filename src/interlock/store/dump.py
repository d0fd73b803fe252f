"""Dumps every table of a SQLite store, as it is at one moment, and makes a database of a dump."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import apsw

from interlock.core.dump import Row, Table, Whole, dump_items, dump_lines, schema_of
from interlock.core.errors import BackupInvalid, StoreError, StoreNewer
from interlock.store.backup_file import Placed, Tell, draft_of, placed, untold
from interlock.store.queries import migrations
from interlock.store.seal import NoSeal
from interlock.store.sqlite_copies import refuse_moved
from interlock.store.sqlite_db import Db, prepare

NOT_DUMPED: Final = ("moved",)
"""What is true of one file alone."""

TOLD_ROWS: Final = 1_000

_TABLES: Final = """
SELECT name, wr FROM pragma_table_list
WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name
"""


_LAST_OWNER: Final = """
INSERT INTO sqlite_sequence (name, seq) SELECT 'owners', max(id)
FROM (SELECT max(owner) AS id FROM calls UNION SELECT max(id) FROM owners UNION SELECT 0 {runs})
"""
_OF_RUNS: Final = "UNION SELECT max(owner) FROM run_heads"


def dump(source: Path, target: Path, *, tell: Tell = untold) -> tuple[Placed, Whole]:
    """Dump a store, while it is used, to a new file. Raises `StoreError`, and leaves nothing under that name then."""
    if not source.is_file():
        raise StoreError(f"there is no store {source}")
    with draft_of(target) as draft, closing(Db(source, seal=NoSeal())) as db:
        prepare(db)
        refuse_moved(db)
        with db.one_moment(), draft.open("r+b") as file:
            for line in lines_of(db.connection, tell=tell):
                file.write(line)
        with draft.open("rb") as file:
            whole = _read_through(file)
        return placed(draft, target), whole


def lines_of(connection: apsw.Connection, *, tell: Tell = untold) -> Iterator[bytes]:
    """Every row of a database of ours, as lines of a dump. One transaction must be open around it."""
    names = [(name, bool(without)) for name, without in connection.execute(_TABLES) if name not in NOT_DUMPED]
    total = sum(_count(connection, name) for name, _ in names)
    told = _Told(tell, total)
    tables = ((_table(connection, name), told.each(_rows(connection, name, has_rowid=not wr))) for name, wr in names)
    yield from dump_lines(tables, schema=int(connection.pragma("user_version")))


def load(lines: Iterable[bytes], draft: Path) -> Whole:
    """Make a database of a dump in an empty file, and show that it holds the same to the last bit.

    It has the schema that the dump was taken with. Raises `BackupInvalid` or `StoreNewer`; the file is no store then.
    """
    with closing(apsw.Connection(str(draft))) as connection:
        # Nobody needs half of it: what fails is thrown away.
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN")
        whole = _loaded(iter(lines), connection)
        connection.execute("COMMIT")
        if digest_of(connection) != whole.sha256:
            raise BackupInvalid("what was loaded is not what the dump holds")
        return whole


def digest_of(connection: apsw.Connection) -> str:
    """The digest of the dump that a database would make."""
    return _read_through(lines_of(connection)).sha256


def _read_through(lines: Iterable[bytes]) -> Whole:
    whole = None
    for item in dump_items(lines):
        whole = item
    if not isinstance(whole, Whole):
        raise BackupInvalid("the dump has no end")
    return whole


def _loaded(lines: Iterator[bytes], connection: apsw.Connection) -> Whole:
    first = next(lines, b"")
    _make_tables(connection, schema=schema_of(first))
    missing = {name for name, _ in connection.execute(_TABLES) if name not in NOT_DUMPED}
    insert = ""
    for item in dump_items(_all(first, lines)):
        if isinstance(item, Whole):
            _refuse_missing(missing)
            _go_on_counting(connection)
            return item
        if isinstance(item, Table):
            insert = _insert(connection, item)
            missing.discard(item.name)
        else:
            connection.execute(insert, item)
    raise BackupInvalid("the dump has no end")


def _make_tables(connection: apsw.Connection, *, schema: int) -> None:
    scripts = migrations()
    if schema > len(scripts):
        raise StoreNewer(f"the dump has version {schema}; this Interlock knows versions up to {len(scripts)}")
    for script in scripts[:schema]:
        connection.execute(script)
    connection.pragma("user_version", schema)
    for name, _ in connection.execute(_TABLES).fetchall():
        connection.execute(f"DELETE FROM {name}")  # noqa: S608 - a name of our own schema


def _insert(connection: apsw.Connection, table: Table) -> str:
    """The statement for a row; table and columns are named as in the schema, or it is no dump of it."""
    known = [name for name, _ in connection.execute(_TABLES) if name not in NOT_DUMPED]
    if table.name not in known or _table(connection, table.name) != table:
        raise BackupInvalid(f"the table {table.name} of the dump is not what its version of the schema has")
    return f"INSERT INTO {table.name} VALUES ({', '.join('?' * len(table.columns))})"  # noqa: S608 - a name of our own schema


def _refuse_missing(missing: set[str]) -> None:
    if missing:
        raise BackupInvalid(f"tables are missing in the dump: {', '.join(sorted(missing))}")


def _go_on_counting(connection: apsw.Connection) -> None:
    """No owner's id is given twice: a call that nobody is at work on would look as if somebody were."""
    connection.execute("DELETE FROM sqlite_sequence WHERE name = 'owners'")
    has_runs = "run_heads" in [name for name, _ in connection.execute(_TABLES)]
    connection.execute(_LAST_OWNER.format(runs=_OF_RUNS if has_runs else ""))


def _table(connection: apsw.Connection, name: str) -> Table:
    columns = connection.execute("SELECT name FROM pragma_table_info(?) ORDER BY cid", (name,))
    return Table(name, tuple([str(column) for (column,) in columns]))


def _rows(connection: apsw.Connection, name: str, *, has_rowid: bool) -> Iterator[Row]:
    if has_rowid:
        order = "rowid"
    else:
        keys = connection.execute("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", (name,))
        order = ", ".join([str(key) for (key,) in keys])
    yield from connection.execute(f"SELECT * FROM {name} ORDER BY {order}")  # noqa: S608 - a name of our own schema


def _count(connection: apsw.Connection, name: str) -> int:
    (count,) = connection.execute(f"SELECT count(*) FROM {name}").fetchone() or (0,)  # noqa: S608 - a name of our own schema
    return int(count)


def _all(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


class _Told:
    """Counts rows as they go by."""

    def __init__(self, tell: Tell, total: int) -> None:
        self._tell, self._total, self._done = tell, total, 0

    def each(self, rows: Iterable[Row]) -> Iterator[Row]:
        for row in rows:
            yield row
            self._done += 1
            if self._done % TOLD_ROWS == 0 or self._done == self._total:
                self._tell(self._done, self._total)
