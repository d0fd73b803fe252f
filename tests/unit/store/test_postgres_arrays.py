"""Columns arrive as what they were, whatever is in them."""

from collections.abc import Callable, Iterable
from typing import Any

import psycopg
import pytest

from interlock.store.postgres_arrays import bigints, blobs, bools, texts
from interlock.store.postgres_line import read_rows


@pytest.mark.parametrize(
    ("column", "kind", "values"),
    [
        (blobs, "bytea", [b"", b"\x00\xff", None, b"x" * 100_000]),
        (texts, "text", ["", "\N{GRINNING FACE}", None, "{NULL}", '"\\', "x" * 100_000]),
        (bigints, "bigint", [0, -1, 2**63 - 1, -(2**63), None]),
        (bools, "boolean", [True, False]),
        (blobs, "bytea", []),
        (texts, "text", []),
    ],
)
def test_a_column_comes_back_as_it_went(
    postgres_url: str, column: Callable[[Iterable[Any]], bytes], kind: str, values: list[object]
) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        text = f"SELECT * FROM unnest($1::{kind}[])".encode()
        result = connection.pgconn.exec_params(text, [column(values)], None, [1], 1)
    assert [value for (value,) in read_rows(result)] == values


def test_what_no_column_can_hold_is_a_fault() -> None:
    with pytest.raises(UnicodeEncodeError):
        texts(["\ud800"])
