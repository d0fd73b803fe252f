"""Every query is named, described, and fits the schema."""

import re
from pathlib import Path

import apsw
import pytest

import interlock.store
from interlock.store.queries import migrations, named_queries

SQL = Path(interlock.store.__file__).parent / "sql"


def test_the_migrations_are_numbered_without_a_gap() -> None:
    names = sorted(file.name[:4] for file in (SQL / "migrations").iterdir())
    assert names == [f"{number:04}" for number in range(1, len(migrations()) + 1)]


@pytest.mark.parametrize("name", named_queries())
def test_a_query_is_one_statement_that_fits_the_schema(name: str) -> None:
    connection = apsw.Connection(":memory:")
    for script in migrations():
        connection.execute(script)
    text = named_queries()[name]
    assert ";" not in text
    named = dict.fromkeys(re.findall(r":(\w+)", text))
    connection.execute(f"EXPLAIN {text}", named or (None,) * text.count("?"))


def test_every_name_in_the_files_is_read() -> None:
    text = "".join(file.read_text() for file in (SQL / "queries").iterdir())
    assert text.count("-- name:") == len(named_queries())
