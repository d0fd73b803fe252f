"""Layout: every value is made visible, nothing is cut."""

import pytest

from interlock.core.approval import Requirement
from interlock.doors.cli.shown import as_document, counted, fields, moment, pretty, rows, visible

HOSTILE = "a\x1b[2Jb\u202e"
SHOWN = "a⟨U+001B⟩[2Jb⟨U+202E⟩"


@pytest.mark.requirement("DOOR-6")
def test_every_way_of_showing_a_value_spells_out_what_cannot_be_seen() -> None:
    assert visible(HOSTILE) == SHOWN
    assert visible([HOSTILE, 1]) == f"{SHOWN}, 1"
    assert fields([(HOSTILE, HOSTILE)]).count(SHOWN) == 2
    assert rows((HOSTILE,), [(HOSTILE,)], empty="").count(SHOWN) == 2
    assert "\x1b" not in rows((HOSTILE,), [(HOSTILE,)], empty="")
    assert "⟨U+202E⟩" in pretty({"k": HOSTILE})
    assert "\x1b" not in pretty({"k": HOSTILE})


def test_markup_in_a_value_is_shown_as_text() -> None:
    assert "[bold]x[/bold]" in rows(("A",), [("[bold]x[/bold]",)], empty="")


def test_long_values_are_not_cut_where_the_output_is_no_terminal() -> None:
    assert "x" * 500 in rows(("A", "B"), [("x" * 500, "y")], empty="")


def test_a_value_of_several_lines_cannot_pass_for_another_field() -> None:
    shown = fields([("Why", "no\nStatus: OK"), ("Empty", ""), ("None", None)])
    assert shown == "Why:           no\n               Status: OK"


def test_a_table_without_rows_says_so() -> None:
    assert rows(("A",), [], empty="Nothing.") == "Nothing."


def test_small_words() -> None:
    assert (counted(1, "case"), counted(2, "case")) == ("1 case", "2 cases")
    assert moment(1_764_460_800_999_999) == "2025-11-30T00:00:00Z"
    assert moment(None) is None


def test_only_a_record_is_a_document() -> None:
    assert as_document(Requirement())["quorum"] == 1
    with pytest.raises(TypeError, match="a str is no document"):
        as_document("x")
