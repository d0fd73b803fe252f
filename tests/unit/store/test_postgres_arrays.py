"""Columns arrive as what they were, whatever is in them."""

from collections.abc import Callable, Iterable
from typing import Any

import psycopg
import pytest

from interlock.store.postgres_arrays import bigints, blobs, bools, register, texts


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (blobs, [b"", b"\x00\xff", None, b"x" * 100_000]),
        (texts, ["", "\N{GRINNING FACE}", None, "{NULL}", '"\\', "x" * 100_000]),
        (bigints, [0, -1, 2**63 - 1, -(2**63), None]),
        (bools, [True, False]),
        (blobs, []),
        (texts, []),
    ],
)
def test_a_column_comes_back_as_it_went(
    postgres_url: str, column: Callable[[Iterable[Any]], object], values: list[object]
) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        register(connection.adapters)
        rows = connection.execute("SELECT * FROM unnest(%s)", (column(values),)).fetchall()
    assert [value for (value,) in rows] == values


def test_what_no_column_can_hold_is_a_fault() -> None:
    with pytest.raises(UnicodeEncodeError):
        texts(["\ud800"])
