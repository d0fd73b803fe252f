"""Writes everything that a store keeps as lines of JSON, and reads them again, whatever database it is kept in.

    {"interlock": "dump/1", "schema": 4}
    {"table": "chains", "columns": ["id", "name", "sequence", "hash"]}
    [1, "main", 7, {"bytes": "nG9..."}]
    {"end": "chains", "rows": 1}
    ...
    {"end": "dump", "rows": 123, "sha256": "..."}

The digest is over all lines before the last. Rows come in the order of their table; what is sealed stays sealed. A
reader holds one row at a time, and learns only at the end that the dump is whole: what it loads is not kept before.
"""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Final, TypeAlias

import orjson

from interlock.core.errors import BackupInvalid
from interlock.core.frozen import frozen

FORMAT: Final = "dump/1"

Cell: TypeAlias = int | str | bytes | None
Row: TypeAlias = tuple[Cell, ...]


@frozen
class Table:
    """A table whose rows follow, each with its cells in the order of these columns."""

    name: str
    columns: tuple[str, ...]


@frozen
class Whole:
    """The end of a dump: it was read to its last row, and its digest holds."""

    rows: int
    sha256: str


Item: TypeAlias = Table | Row | Whole


def dump_lines(tables: Iterable[tuple[Table, Iterable[Row]]], *, schema: int) -> Iterator[bytes]:
    """The lines of a dump; `schema` is the version that its tables have."""
    digest, total = sha256(), 0
    for line, is_row in _lines(tables, schema=schema):
        digest.update(line)
        total += is_row
        yield line
    yield _line({"end": "dump", "rows": total, "sha256": digest.hexdigest()})


def schema_of(first_line: bytes) -> int:
    """The version that the tables of a dump have. Raises `BackupInvalid` where this is the first line of none."""
    head = _object(_json(first_line, number=1))
    schema = head.get("schema")
    if head.get("interlock") != FORMAT or type(schema) is not int or schema < 1:
        raise BackupInvalid(f"this is no dump in the format {FORMAT}")
    return schema


def dump_items(lines: Iterable[bytes]) -> Iterator[Item]:
    """What stands behind a dump's first line (`schema_of` reads it), which must be among `lines` too.

    `Whole` comes last. Raises `BackupInvalid` where a line is damaged, missing, or one too many.
    """
    reading = _Reading()
    for number, line in enumerate(lines, 1):
        item = reading.take(line, number=number)
        if item is not None:
            yield item
    if not reading.is_whole:
        raise BackupInvalid("the dump is cut off: its last line is missing")


class _Reading:
    """How far a dump has been read."""

    def __init__(self) -> None:
        self.is_whole = False
        self._digest = sha256()
        self._table: Table | None = None
        self._rows = self._total = 0

    def take(self, line: bytes, *, number: int) -> Item | None:
        if self.is_whole:
            raise BackupInvalid(f"line {number} of the dump stands behind its end")
        if number == 1:
            schema_of(line)
            item = None
        else:
            item = self._taken(_json(line, number=number), number=number)
        if not isinstance(item, Whole):
            self._digest.update(line)
        return item

    def _taken(self, value: object, *, number: int) -> Item | None:
        if isinstance(value, list):
            return self._row(value, number=number)
        said = _object(value)
        if "table" in said:
            return self._begin(said, number=number)
        if said.get("end") == "dump":
            return self._end(said)
        if self._table is None or said.get("end") != self._table.name or said.get("rows") != self._rows:
            raise BackupInvalid(f"line {number} of the dump does not end the table before it: rows are missing")
        self._table = None
        return None

    def _row(self, cells: list[object], *, number: int) -> Row:
        if self._table is None or len(cells) != len(self._table.columns):
            raise BackupInvalid(f"line {number} of the dump is a row that fits no table")
        self._rows, self._total = self._rows + 1, self._total + 1
        return tuple([_cell(each, number=number) for each in cells])

    def _begin(self, said: dict[str, object], *, number: int) -> Table:
        name, columns = said["table"], said.get("columns")
        if self._table is not None or not isinstance(name, str) or not isinstance(columns, list):
            raise BackupInvalid(f"line {number} of the dump begins a table where none begins")
        self._table, self._rows = Table(name, tuple(map(str, columns))), 0
        return self._table

    def _end(self, said: dict[str, object]) -> Whole:
        found = self._digest.hexdigest()
        if self._table is not None or said.get("rows") != self._total:
            raise BackupInvalid("the dump does not have as many rows as it says")
        if said.get("sha256") != found:
            raise BackupInvalid("the dump was changed: its digest is another")
        self.is_whole = True
        return Whole(self._total, found)


def _lines(tables: Iterable[tuple[Table, Iterable[Row]]], *, schema: int) -> Iterator[tuple[bytes, bool]]:
    yield _line({"interlock": FORMAT, "schema": schema}), False
    for table, rows in tables:
        yield _line({"table": table.name, "columns": table.columns}), False
        count = 0
        for row in rows:
            yield _line([_written(cell) for cell in row]), True
            count += 1
        yield _line({"end": table.name, "rows": count}), False


def _line(value: object) -> bytes:
    return orjson.dumps(value) + b"\n"


def _written(cell: Cell) -> object:
    return {"bytes": b64encode(cell).decode()} if isinstance(cell, bytes) else cell


def _cell(value: object, *, number: int) -> Cell:
    if value is None or isinstance(value, str) or type(value) is int:
        return value
    data = _object(value).get("bytes")
    try:
        return b64decode(str(data), validate=True)
    except binascii.Error as fault:
        raise BackupInvalid(f"line {number} of the dump holds bytes that cannot be read") from fault


def _json(line: bytes, *, number: int) -> object:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as fault:
        raise BackupInvalid(f"line {number} of the dump cannot be read") from fault


def _object(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise BackupInvalid("the dump holds a value that none of its lines has")
    return value
