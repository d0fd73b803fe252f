"""The tables of the documentation hold every state, use and move of the code's."""

import pytest

from interlock.core.lifecycle import MOVES, Lifecycle, Need
from interlock.core.lifecycle_drawn import moves_diagram, moves_table, uses_table
from tests.golden import check_golden
from tests.tidy.drawings import ROOT, stale_drawings

pytestmark = pytest.mark.requirement("REG-2")

PAGE = ROOT / "docs" / "lifecycle.md"


def test_what_is_allowed_and_what_a_move_needs_is_what_a_reviewer_has_seen() -> None:
    check_golden("lifecycle.txt", f"{uses_table()}\n\n{moves_table()}\n\n{moves_diagram()}\n")


def test_each_move_stands_in_the_table_with_all_that_it_needs() -> None:
    rows = moves_table().splitlines()[2:]
    assert len(rows) == sum(max(1, len(moves)) for moves in MOVES.values())
    for state, moves in MOVES.items():
        for to, gate in moves.items():
            (row,) = [each for each in rows if each.startswith(f"| {state.value} | {to.value} |")]
            assert {each for each in Need if each.value in row.split(" | ", 2)[2]} == {*gate.needs}
    assert f"| {Lifecycle.RETIRED.value} | nowhere | | |" in rows


def test_the_page_on_the_lifecycle_is_up_to_date() -> None:
    assert list(stale_drawings(PAGE, root=ROOT)) == []
    text = PAGE.read_text(encoding="utf-8")
    assert all(table in text for table in (uses_table(), moves_table(), moves_diagram()))
