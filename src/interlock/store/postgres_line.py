"""One connection to PostgreSQL: several named queries go over it in one round trip."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from interlock.core.errors import StoreError
from interlock.store import postgres_arrays
from interlock.store.queries import POSTGRES, named_queries

QUERIES: Final = {name: text.encode() for name, text in named_queries(POSTGRES).items()}

Row: TypeAlias = tuple[Any, ...]
"""A row as it comes; the functions of `rows` and the tables give it types."""

Values: TypeAlias = "tuple[object, ...] | dict[str, object]"
Step: TypeAlias = "tuple[str, Values]"
"""A named query and its values; `begin` and `commit` are such names too."""

QUERIES["begin"] = b"BEGIN"
QUERIES["commit"] = b"COMMIT"
QUERIES["one_moment"] = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

CONNECT_S: Final = 5
LOCK_WAIT_MS: Final = 3_000
STATEMENT_MS: Final = 10_000
IDLE_IN_BATCH_MS: Final = 2_000


class Line:
    """A connection. One trip at a time."""

    def __init__(self, connection: psycopg.AsyncConnection[Row]) -> None:
        self.connection = connection

    @staticmethod
    async def open(url: str) -> Line:
        """Connect for writing. A process that stops in the midst of a batch does not hold others up for long."""
        options = f"-c lock_timeout={LOCK_WAIT_MS} -c idle_in_transaction_session_timeout={IDLE_IN_BATCH_MS}"
        line = Line(await psycopg.AsyncConnection.connect(addressed(url, options=options), autocommit=True))
        set_up(line.connection)
        return line

    @property
    def is_broken(self) -> bool:
        """Whether nothing goes over it any more."""
        return self.connection.closed

    async def trip(self, *steps: Step) -> list[list[Row]]:
        """The rows of each step, in order. One that fails fails those after it, and the transaction."""
        async with self.connection.pipeline() as pipeline:
            cursors = [await self.connection.execute(QUERIES[name], values, binary=True) for name, values in steps]
            await pipeline.sync()
            return [await each.fetchall() if each.description else [] for each in cursors]

    async def count(self, *steps: Step) -> list[int]:
        """How many rows each step has changed."""
        async with self.connection.pipeline() as pipeline:
            cursors = [await self.connection.execute(QUERIES[name], values) for name, values in steps]
            await pipeline.sync()
            return [each.rowcount for each in cursors]

    async def roll_back(self) -> None:
        """Undo what was not committed."""
        await self.connection.rollback()

    async def close(self) -> None:
        await self.connection.close()


def set_up(connection: psycopg.AsyncConnection[Row]) -> None:
    """What every connection of a store has."""
    connection.prepare_threshold = 1
    postgres_arrays.register(connection.adapters)


def addressed(url: str, *, options: str = "") -> str:
    """The URL with the settings of a store's connections. Raises `StoreError` where it is no URL of PostgreSQL."""
    try:
        given = conninfo_to_dict(url)
    except psycopg.ProgrammingError as wrong:
        raise StoreError(
            "the address of the PostgreSQL store cannot be read; give postgresql://host/database"
        ) from wrong
    own = f"-c statement_timeout={STATEMENT_MS} -c synchronous_commit=on -c client_min_messages=warning {options}"
    settings: dict[str, Any] = {
        "connect_timeout": CONNECT_S,
        "tcp_user_timeout": STATEMENT_MS,
        "application_name": "interlock",
        **given,
        "options": f"{given.get('options') or ''} {own}".strip(),
    }
    return make_conninfo(**settings)


def shown(url: str) -> str:
    """The URL without its password, for people."""
    try:
        found = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        return "postgresql://(not readable)"
    host, port, name = found.get("host") or "", found.get("port") or "", found.get("dbname") or ""
    place = f"{host}:{port}" if port else str(host)
    return f"postgresql:///{name}?host={place}" if place.startswith("/") else f"postgresql://{place}/{name}"


def database_of(url: str) -> str:
    """The name of the database, as a file may be called."""
    name = str(conninfo_to_dict(url).get("dbname") or "interlock")
    return "".join(each if each.isalnum() or each in "-_." else "_" for each in name)
