"""A golden file that no longer says what the code does fails with a diff, and is rewritten only on demand."""

from pathlib import Path

import pytest

from tests.golden import check_golden


def test_a_difference_fails_with_a_diff_and_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INTERLOCK_GOLDEN", raising=False)
    (tmp_path / "x.txt").write_text("a\n")
    check_golden("x.txt", "a\n", folder=tmp_path)
    with pytest.raises(AssertionError, match=r"(?s)-a\n\+b\n.*INTERLOCK_GOLDEN=update"):
        check_golden("x.txt", "b\n", folder=tmp_path)


def test_a_missing_golden_file_fails_even_for_empty_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INTERLOCK_GOLDEN", raising=False)
    with pytest.raises(AssertionError, match="not what its golden file holds"):
        check_golden("x.txt", "", folder=tmp_path)


def test_an_update_rewrites_the_file_but_never_in_ci(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLOCK_GOLDEN", "update")
    monkeypatch.delenv("CI", raising=False)
    check_golden("below/x.txt", "a\r\n", folder=tmp_path)
    assert (tmp_path / "below" / "x.txt").read_bytes() == b"a\r\n"
    monkeypatch.setenv("CI", "true")
    with pytest.raises(AssertionError):
        check_golden("below/x.txt", "b", folder=tmp_path)
