"""Every query for PostgreSQL is named, described, and fits the schema."""

import re
from pathlib import Path

import psycopg

import interlock.store
from interlock.store.queries import POSTGRES, migrations, named_queries

SQL = Path(interlock.store.__file__).parent / "sql" / "postgres"


def test_the_migrations_are_numbered_without_a_gap() -> None:
    names = sorted(file.name[:4] for file in (SQL / "migrations").iterdir())
    assert names == [f"{number:04}" for number in range(1, len(migrations(POSTGRES)) + 1)]


def test_every_query_is_one_statement_that_fits_the_schema(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        for script in migrations(POSTGRES):
            connection.execute(script.encode())
        for number, text in enumerate(named_queries(POSTGRES).values()):
            assert ";" not in text
            pieces = re.split(r"%s|%\(\w+\)s", text)
            plain = "".join(f"${at}{piece}" if at else piece for at, piece in enumerate(pieces))
            connection.execute(f"PREPARE query_{number} AS {plain}".encode())


def test_every_name_in_the_files_is_read() -> None:
    text = "".join(file.read_text() for file in (SQL / "queries").iterdir())
    assert text.count("-- name:") == len(named_queries(POSTGRES))
