"""Nothing that an approver reads can be taken for a line of the program's own."""

import os
import re

import pytest
from screen import Screen, folded

LONG = "    > quoted words that go on " + "and on " * 12


@pytest.mark.requirement("APR-2")
def test_a_line_that_is_too_long_goes_on_marked_and_no_word_is_lost() -> None:
    parts = folded(LONG, width=40)
    assert len(parts) > 2
    assert all(part.startswith("    … ") for part in parts[1:])
    assert all(len(part) <= 40 for part in parts)
    assert " ".join(part.strip(" …") for part in parts).split() == LONG.split()


def test_a_word_wider_than_the_line_is_folded_by_its_cells() -> None:
    assert folded("审批" * 20, width=32) == ["审批" * 7 + "审", "… " + "批审" * 7 + "批", "… " + "审批" * 5]


def test_a_deep_indentation_does_not_push_a_line_past_the_edge() -> None:
    assert all(len(part) <= 40 for part in folded(" " * 39 + LONG, width=40))


def test_without_a_terminal_lines_stay_whole() -> None:
    assert folded(LONG, width=None) == [LONG]
    assert folded("", width=40) == [""]


@pytest.mark.parametrize("plain", [True, False])
def test_every_line_on_a_terminal_stands_behind_the_gutter(
    plain: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr(os, "get_terminal_size", lambda *_: os.terminal_size((60, 24)))
    Screen(plain=plain).question(f"Save it\n{LONG}")
    lines = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
    assert len(lines) > 3
    assert all(line.startswith(" " * 12 + "| ") and len(line.rstrip()) <= 60 for line in lines)
