"""`interlock init`: a project that works as it is, and no file overwritten."""

from pathlib import Path

import pytest

from interlock.core.starter_policy import STARTER_POLICY
from interlock.doors.cli.session import os_user
from tests.unit.doors.cli.conftest import Cli


@pytest.mark.requirement("DOOR-6")
def test_what_it_writes_is_in_order_and_holds_its_own_cases(cli: Cli, tmp_path: Path) -> None:
    ran = cli("init")
    assert ran.code == 0
    assert (tmp_path / "policies" / "starter.cedar").read_text() == STARTER_POLICY
    assert f'id = "{os_user()}"' in (tmp_path / "interlock.toml").read_text()
    doctor = cli("doctor", "--json")
    assert doctor.document["problems"] == 0, doctor.out
    assert cli("tools", "check", "--strict").code == 0
    assert cli("policy", "test").code == 0


def test_the_store_and_its_key_are_kept_out_of_git_unless_the_folder_says_itself_what_is(
    cli: Cli, tmp_path: Path
) -> None:
    cli("init", "new")
    assert "interlock.db*" in (tmp_path / "new" / ".gitignore").read_text()
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / ".gitignore").write_text("mine")
    ran = cli("init", "old")
    assert (ran.code, (tmp_path / "old" / ".gitignore").read_text()) == (0, "mine")
    assert "interlock.db*" in ran.err


def test_a_title_may_hold_digits_and_no_path(cli: Cli, project: Path) -> None:
    for title, code in (("q1", 4), ("2026", 4), ("../x", 3), ("a b", 3), ("A", 3)):
        assert cli("call", "save_note", f'{{"title": "{title}", "text": "x"}}', "--task", title).code == code


@pytest.mark.requirement("TOOL-1")
def test_a_second_note_of_the_same_title_fails_and_nothing_is_unknown(cli: Cli, project: Path) -> None:
    statuses = []
    for task in ("one", "two"):
        call = ("call", "save_note", f'{{"title": "hello", "text": "{task}"}}', "--task", task, "--json")
        asked = cli(*call).document["approval_id"]
        ran = cli("approvals", "approve", asked, "--as", "second", "--yes", "--run", "--json")
        statuses.append(ran.document["status"])
    assert statuses == ["ok", "failed"]
    assert ran.document["error"]["details"]["tool_code"] == "TITLE_TAKEN"
    assert (project / "notes" / "hello.txt").read_text() == "one"


def test_it_says_what_to_do_next_in_three_lines(cli: Cli) -> None:
    assert len(cli("init", "there").out.partition("Next: ")[2].splitlines()) == 3


def test_nothing_is_overwritten_and_then_nothing_is_written(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text("mine")
    ran = cli("init", "--json")
    assert (ran.code, ran.document["error"]["code"]) == (1, "ALREADY_THERE")
    assert "tools.py" in ran.document["error"]["message"]
    assert [each.name for each in tmp_path.iterdir()] == ["tools.py"]
    assert (tmp_path / "tools.py").read_text() == "mine"
