"""Moves everything in a SQLite store into an empty PostgreSQL database: one of the two opens at any moment, never both.

    nobody has it open -> prove it -> load and compare -> the old one says where it went -> commit

Where the commit is not answered, or the process dies before it, the old one stays closed: the same move again finishes
it, or finds that everything has arrived.
"""

from __future__ import annotations

from pathlib import Path

import psycopg

from interlock.core.dump import Whole
from interlock.core.errors import StoreError
from interlock.store.backup_file import Tell, untold
from interlock.store.dump import lines_of
from interlock.store.dump_postgres import load
from interlock.store.move import Check, leaving, still_here
from interlock.store.postgres_line import Line, addressed, shown
from interlock.store.postgres_open import migrate


async def make_tables(url: str) -> None:
    """Bring the database to the present schema. Raises `StoreError` where it cannot be used."""
    try:
        line = await Line.open(url)
        try:
            await migrate(line)
        finally:
            await line.close()
    except psycopg.Error as fault:
        raise _unusable(url, fault) from fault


def move_to_postgres(source: Path, url: str, *, at_us: int, check: Check, tell: Tell = untold) -> Whole:
    """Move a store into a database that has its tables.

    Raises `StoreError`, or what `check` raises of the store as it is, and leaves it where it was then.
    """
    try:
        with still_here(source, destination=shown(url)) as db, psycopg.connect(addressed(url)) as connection:
            connection.execute("SET statement_timeout = 0")
            db.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            check(source)
            with db.one_moment():
                whole = load(lines_of(db.connection, tell=tell), connection)
            with leaving(db, destination=shown(url), at_us=at_us):
                connection.execute("SELECT 1")
            connection.commit()
            return whole
    except psycopg.Error as fault:
        raise _unusable(url, fault) from fault


def _unusable(url: str, fault: psycopg.Error) -> StoreError:
    reason = str(fault).strip().partition("\n")[0] or type(fault).__name__
    return StoreError(f"nothing was moved to the database at {shown(url)}, as far as is known: {reason}")
