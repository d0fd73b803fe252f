"""Loads a dump into an empty PostgreSQL store, in one transaction, and shows that it holds the same rows.

Where a SQLite store has texts of any length as a key, a PostgreSQL one has their place, a digest; otherwise the tables
are the same. What is sealed goes as it is: it is bound to ids, not to where it is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any, Final, TypeAlias

import psycopg

from interlock.core.dump import Item, Row, Table, Whole, dump_items
from interlock.core.errors import BackupInvalid, NotWritten
from interlock.ports import StoredOperation
from interlock.store.postgres_line import QUERIES
from interlock.store.postgres_rows import place_of, write_head
from interlock.store.rules import FIRST_FENCE

Cells: TypeAlias = dict[str, Any]
"""A row by the names of its columns."""

Connection: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"


def load(lines: Iterable[bytes], connection: Connection) -> Whole:
    """Fill a store that has its tables and nothing in them; whoever called commits.

    Raises `NotWritten` where somebody has been there, `BackupInvalid` where the dump or what came of it is not whole.
    """
    connection.execute(QUERIES["enter"])
    if connection.execute(QUERIES["is_unused"]).fetchone() != (True,):
        raise NotWritten("that database holds a store already, and nothing is overwritten: give one that is empty")
    connection.execute(QUERIES["begin_epoch"])
    reading = _Reading(dump_items(lines))
    while isinstance(reading.item, Table):
        take = _take_look_ups if reading.item.name == "look_ups" else _copy
        take(reading.item, reading.rows(), connection)
    connection.execute(QUERIES["go_on_counting"])
    if not isinstance(reading.item, Whole):
        raise BackupInvalid("the dump has no end")
    return reading.item


class _Reading:
    """A dump, table by table: `item` is the table whose `rows` come next, at last its end."""

    def __init__(self, items: Iterator[Item]) -> None:
        self._items = items
        self.item: Item | None = next(items, None)

    def rows(self) -> Iterator[Row]:
        for item in self._items:
            self.item = item
            if not isinstance(item, tuple):
                return
            yield item


class _Sum:
    """A digest of rows in any order: each one's own, added up."""

    def __init__(self) -> None:
        self.value = self.count = 0

    def add(self, row: tuple[object, ...]) -> None:
        self.value = (self.value + int.from_bytes(sha256(repr(row).encode()).digest())) % (1 << 256)
        self.count += 1


def _copy(table: Table, rows: Iterator[Row], connection: Connection) -> None:
    """Copy the rows of a table, then read them again."""
    made = (_made(table, row) for row in rows)
    first = next(made, None)
    if first is None:
        return
    name, columns = table.name, ", ".join(first)
    sent, kept = _Sum(), _Sum()
    with connection.cursor().copy(f"COPY {name} ({columns}) FROM STDIN".encode()) as copying:
        for cells in _all(first, made):
            row = tuple(cells.values())
            sent.add(row)
            copying.write_row(row)
    with connection.cursor("loaded") as cursor:
        for row in cursor.execute(f"SELECT {columns} FROM {name}".encode()):  # noqa: S608 - names of our own schema
            kept.add(row)
    if (sent.value, sent.count) != (kept.value, kept.count):
        raise BackupInvalid(f"the table {name} does not hold what was loaded into it")


def _take_look_ups(table: Table, rows: Iterator[Row], connection: Connection) -> None:
    """They come behind the calls, whose rows they are part of."""
    for row in rows:
        cells = dict(zip(table.columns, row, strict=True))
        place = place_of(str(cells["tenant"]), str(cells["id"]))
        values = (cells["count"], cells["next_us"], bool(cells["escalated"]), place, cells["fence"])
        connection.execute(QUERIES["take_look_up"], values)


def _all(first: Cells, rest: Iterator[Cells]) -> Iterator[Cells]:
    yield first
    yield from rest


def _made(table: Table, row: Row) -> Cells:
    """A row as it stands in PostgreSQL."""
    if table.name not in _MADE:
        raise BackupInvalid(f"the table {table.name} of the dump has no place in a PostgreSQL store")
    return _MADE[table.name](dict(zip(table.columns, row, strict=True)))


def _placed(*keys: str) -> Callable[[Cells], Cells]:
    """The row behind the place that these columns make."""
    return lambda cells: {"place": place_of(*(str(cells[key]) for key in keys)), **cells}


def _approval(cells: Cells) -> Cells:
    key = cells.pop("key")
    key_place = None if key is None else place_of(cells["tenant"], key)
    run = cells.pop("run")
    run_place = None if run is None else place_of(cells["tenant"], run)
    return {"place": place_of(cells["tenant"], cells["id"]), **cells, "key_place": key_place, "run_place": run_place}


def _run_head(cells: Cells) -> Cells:
    truths = {"woken": bool(cells["woken"]), "over": bool(cells["over"])}
    return {"place": place_of(cells["tenant"], cells["id"]), **cells, **truths}


def _artifact_part(cells: Cells) -> Cells:
    place = place_of(cells.pop("tenant"), cells.pop("artifact"))
    return {"artifact": place, **cells}


def _compensated(cells: Cells) -> Cells:
    return {"place": place_of(cells["tenant"], cells["operation"]), "plan": cells["plan"]}


def _by_id(cells: Cells) -> Cells:
    """The row of an id of a tenant, both of which are in its place."""
    return {"place": place_of(cells.pop("tenant"), cells.pop("id")), **cells}


def _call(cells: Cells) -> Cells:
    known = {name: cells[name] for name in _OPERATION}
    operation = StoredOperation(sealed=b"", **{**known, "repeatable": bool(known["repeatable"])})
    kept = {name: value for name, value in cells.items() if name in _CALL}
    return {
        **kept,
        "place": place_of(operation.tenant, operation.id),
        "taken_over": cells["fence"] != FIRST_FENCE,
        "key_place": None if operation.key is None else place_of(operation.tenant, operation.key),
        "holds_key": bool(cells["holds_key"]),
        "head": write_head(operation),
    }


_OPERATION: Final = (
    *("id", "tenant", "tool", "source", "version", "spec_digest", "digest", "model_digest", "principal", "call_id"),
    *("key", "run", "task", "repeatable"),
)
_CALL: Final = frozenset(
    """
    tenant id state fence owner at_us until_us settled_us run task holds labels operation_sealed observation_sealed
    """.split()
)
_AS_THEY_ARE: Final = (
    "chains",
    "owners",
    "audit",
    "checkpoints",
    "versions",
    "policies",
    "epoch",
    "keys",
    "copy",
    "run_entries",
)
_MADE: Final[Mapping[str, Callable[[Cells], Cells]]] = {
    **dict.fromkeys(_AS_THEY_ARE, lambda cells: cells),
    "calls": _call,
    "usage": _placed("tenant", "kind", "id", "window_us"),
    "runs": _placed("tenant", "id"),
    "run_heads": _run_head,
    "approvals": _approval,
    "documents": _placed("tenant", "kind", "name"),
    "compensations": _placed("tenant", "id"),
    "compensated": _compensated,
    "closings": _by_id,
    "artifacts": _by_id,
    "artifact_parts": _artifact_part,
}
