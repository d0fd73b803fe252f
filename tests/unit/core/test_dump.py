"""A dump holds every row as it was, and one that was cut, changed or added to is found out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.dump import Item, Table, Whole, dump_items, dump_lines, schema_of
from interlock.core.errors import BackupInvalid

CELLS = st.none() | st.integers(-(2**63), 2**63 - 1) | st.text(st.characters(codec="utf-8"), max_size=9) | st.binary()
TABLE = Table("calls", ("id", "sealed"))
LINES = list(dump_lines([(Table("chains", ("id",)), [(1,)]), (TABLE, [("a", b"\x00"), ("b", None)])], schema=4))


def read(lines: list[bytes]) -> list[Item]:
    return list(dump_items(lines))


@given(st.lists(st.tuples(CELLS, CELLS), max_size=5))
def test_rows_come_back_as_they_were(rows: list[tuple[int | str | bytes | None, ...]]) -> None:
    lines = list(dump_lines([(TABLE, rows)], schema=4))
    *items, whole = read(lines)
    assert items == [TABLE, *rows]
    assert isinstance(whole, Whole)
    assert (whole.rows, schema_of(lines[0])) == (len(rows), 4)


@pytest.mark.parametrize("gone", range(len(LINES)))
def test_a_line_that_is_missing_is_found_out(gone: int) -> None:
    with pytest.raises(BackupInvalid):
        read(LINES[:gone] + LINES[gone + 1 :])


@pytest.mark.parametrize("cut", range(len(LINES)))
def test_an_end_that_is_cut_off_is_found_out(cut: int) -> None:
    with pytest.raises(BackupInvalid):
        read(LINES[:cut])


@pytest.mark.parametrize(
    ("number", "line"),
    [
        (0, b'{"interlock":"dump/2","schema":4}\n'),
        (0, b'{"interlock":"dump/1","schema":0}\n'),
        (0, b"[]\n"),
        (2, b"[2]\n"),
        (2, b"[1,1]\n"),
        (2, b"[1.5]\n"),
        (2, b'[{"bytes":"?"}]\n'),
        (2, b"{\n"),
        (1, b'{"table":7,"columns":["id"]}\n'),
        (1, b'{"table":"chains"}\n'),
        (3, b'{"end":"chains","rows":2}\n'),
        (4, b"7\n"),
        (5, b'["a",{"bytes":"AQ=="}]\n'),
        (8, b'{"end":"dump","rows":3,"sha256":"0"}\n'),
        (8, b'{"end":"dump","rows":4}\n'),
    ],
)
def test_a_line_that_was_changed_is_found_out(number: int, line: bytes) -> None:
    with pytest.raises(BackupInvalid):
        read([*LINES[:number], line, *LINES[number + 1 :]])


def test_a_line_behind_the_end_is_found_out() -> None:
    with pytest.raises(BackupInvalid, match="behind its end"):
        read([*LINES, LINES[-1]])
