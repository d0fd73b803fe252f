"""Runs one SELECT over one tenant's sales, whatever the text says: read-only, its rows alone, bounded in time and size.

Four things hold at once. The file is opened read-only. The tenant's rows are seen through a view whose name nobody can
know. SQLite asks an authorizer about every column that a statement would read while it is compiled, and only that view
may read the table: another name for it, a view of one's own or a table of SQLite's is refused before anything runs. And
a clock stops what takes too long.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

import apsw
from sales_data import TABLE

ROWS_MAX: Final = 50
TIME_S: Final = 2.0
VALUE_BYTES_MAX: Final = 100_000
MANY: Final = "It is more than one statement."
COLUMNS: Final = "day, region, product, units, amount_cents"
FUNCTIONS: Final = frozenset(
    """
    abs avg coalesce count date glob ifnull length like lower max min nullif round strftime substr sum total upper
    """.split()
)

_BEGINS: Final = re.compile(r"\s*(select|with)\b", re.IGNORECASE)
_TENANT: Final = re.compile(r"[a-z][a-z0-9-]{0,40}")
_STEPS: Final = 1_000


class SqlRefused(Exception):
    """A statement that may not run, or could not. The message is for the model."""


@dataclass(frozen=True, slots=True)
class Rows:
    """What a query gave. `more`: there were more rows than are given. The rest says how fresh the data is."""

    columns: list[str]
    rows: list[list[str | int | float | None]]
    more: bool
    loaded_us: int
    version: str


def query(database: Path, sql: str, *, tenant_id: str) -> Rows:
    """The rows of one SELECT over `sales(day, region, product, units, amount_cents)`. Raises `SqlRefused`."""
    if not _TENANT.fullmatch(tenant_id):
        raise SqlRefused("There is no such tenant.")
    if not _BEGINS.match(sql):
        raise SqlRefused("It is no SELECT.")
    read_only = apsw.SQLITE_OPEN_READONLY
    with closing(apsw.Connection(str(database.resolve()), flags=read_only)) as held:
        loaded = held.execute("SELECT loaded_us, version FROM loads WHERE tenant = ?", (tenant_id,)).fetchone()
        if loaded is None:
            raise SqlRefused("There is no such tenant.")
        _guard(held, tenant_id)
        columns, found = _run(held, sql)
    rows = [[_readable(value) for value in row] for row in found[:ROWS_MAX]]
    return Rows(columns, rows, len(found) > ROWS_MAX, *loaded)


def _readable(value: object) -> str | int | float | None:
    if value is None or isinstance(value, str | int | float):
        return value
    raise SqlRefused("It gives bytes, which nobody can read.")


def _guard(held: apsw.Connection, tenant_id: str) -> None:
    """Put the tenant's view in place, and from then on let nothing else be read."""
    own = f"own_{secrets.token_hex(16)}"
    # The tenant comes from the trusted context and matches a pattern without quotes; a view takes no parameters.
    held.execute(f"CREATE TEMP VIEW {own} AS SELECT {COLUMNS} FROM main.{TABLE} WHERE tenant = '{tenant_id}'")  # noqa: S608
    held.execute(f"CREATE TEMP VIEW sales AS SELECT {COLUMNS} FROM temp.{own}")  # noqa: S608
    for limit, value in ((apsw.SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX), (apsw.SQLITE_LIMIT_SQL_LENGTH, VALUE_BYTES_MAX)):
        held.limit(limit, value)
    held.authorizer = _authorizer(own)
    until_s = time.monotonic() + TIME_S
    held.set_progress_handler(lambda: time.monotonic() > until_s, _STEPS)


def _run(held: apsw.Connection, sql: str) -> tuple[list[str], list[apsw.SQLiteValues]]:
    """The names of the columns, and the rows up to one more than are given. A second statement is refused."""
    begun: list[str] = []
    columns: list[str] = []

    def first_only(cursor: apsw.Cursor, statement: str, _: object) -> bool:
        begun.append(statement)
        columns.extend(name for name, _ in cursor.get_description())
        return len(begun) == 1

    held.exec_trace = first_only
    try:
        found = [*islice(held.execute(sql), ROWS_MAX + 1)]
    except apsw.Error as fault:
        raise SqlRefused(f"It does not run: {fault}" if len(begun) < 2 else MANY) from fault
    if len(sql.rstrip()) > len(begun[0].rstrip()):
        raise SqlRefused(MANY)
    return columns, found


def _authorizer(own: str) -> Callable[[int, str | None, str | None, str | None, str | None], int]:
    """What may be compiled: a SELECT, plain functions, and reads of `sales`, through which alone the table is read."""
    reads = {("sales", None), ("sales", "sales"), (own, "sales"), (TABLE, own)}

    def allowed(action: int, first: str | None, second: str | None, _: str | None, accessor: str | None) -> int:
        match action:
            case apsw.SQLITE_SELECT:
                is_allowed = True
            case apsw.SQLITE_READ:
                is_allowed = (first, accessor) in reads or (first == "sales" and accessor != own)
            case apsw.SQLITE_FUNCTION:
                is_allowed = str(second).lower() in FUNCTIONS
            case _:
                is_allowed = False
        return apsw.SQLITE_OK if is_allowed else apsw.SQLITE_DENY

    return allowed
