"""`interlock doctor`: each thing that can be wrong is named, with a sentence that says what to do."""

from pathlib import Path

import pytest

from interlock.adapters import sandbox_missing
from interlock.doors.cli.doctor import BAD, GOOD, WANTING, key_file_mode, python_version, sandbox, sqlite_version
from tests.unit.doors.cli.conftest import Cli, Ran


def bad(ran: Ran) -> dict[str, str]:
    """The problems by name, with what to do."""
    return {each["name"]: each["next"] for each in ran.document["checks"] if each["state"] == BAD}


def test_a_project_in_use_is_in_order(cli: Cli, project: Path, waiting: str) -> None:
    ran = cli("doctor", "--json")
    assert (ran.code, bad(ran)) == (0, {})
    names = [each["name"] for each in ran.document["checks"]]
    stand = ["store size", "open calls", "checkpoint", "backup"]
    assert names == [
        "python",
        "sqlite",
        "project",
        "key file",
        "tools",
        "policies",
        "store",
        *stand,
        "stops",
        "closed tools",
        "reviews",
        "retirements",
        "promoted versions",
        "sandbox",
        "model",
    ]
    assert "its log of" in cli("doctor").out
    assert "scripts/model" in ran.document["checks"][-1]["next"]


@pytest.mark.requirement("REG-1")
def test_a_tool_that_changed_under_its_version_is_the_problem_and_the_store_is_none(
    cli: Cli, project: Path, waiting: str
) -> None:
    tools = project / "tools.py"
    tools.write_text(tools.read_text().replace("Read one note", "Read any note"))
    ran = cli("doctor", "--json")
    assert list(bad(ran)) == ["tools"]
    assert 'version="2"' in bad(ran)["tools"]
    assert "read_note has changed" in cli("doctor").out


@pytest.mark.requirement("AUD-2")
def test_a_lost_key_is_a_problem(cli: Cli, project: Path, waiting: str) -> None:
    (project / "interlock.db.key").unlink()
    assert set(bad(cli("doctor", "--json"))) == {"key file", "store"}
    assert "restore it" in cli("doctor").out


@pytest.mark.requirement("DOOR-6")
def test_without_a_project_it_says_how_to_make_one_and_ends_with_1(cli: Cli) -> None:
    ran = cli("doctor", "--json")
    assert (ran.code, bad(ran)) == (1, {"project": "`interlock init` makes a project."})


@pytest.mark.requirement("DOOR-6")
@pytest.mark.parametrize(
    ("file", "text", "name"),
    [
        ("tools.py", "1/0", "tools"),
        ("policies/starter.cedar", "permit (nobody);", "policies"),
        ("interlock.toml", "nonsense = 1", "project"),
        ("interlock.db", "this is no store" * 100, "store"),
    ],
)
def test_what_is_broken_is_named_with_what_to_do(cli: Cli, project: Path, file: str, text: str, name: str) -> None:
    (project / file).write_text(text)
    ran = cli("doctor", "--json")
    assert ran.code == 1
    assert bad(ran)[name]


@pytest.mark.requirement("EXEC-7")
async def test_whether_programs_can_be_run_is_found_out_by_running_one() -> None:
    missing, found = await sandbox_missing(), await sandbox()
    assert (found.state, found.found) == ((WANTING, missing) if missing else (GOOD, found.found))
    assert bool(found.next_step) == bool(missing)


def test_a_key_that_others_can_read_is_a_problem(tmp_path: Path) -> None:
    store = str(tmp_path / "a.db")
    assert key_file_mode(store).state == WANTING
    key = tmp_path / "a.db.key"
    key.write_text("")
    for mode, state in ((0o600, GOOD), (0o400, GOOD), (0o640, BAD), (0o604, BAD)):
        key.chmod(mode)
        assert key_file_mode(store).state == state
    assert "chmod 600" in key_file_mode(store).next_step


def test_a_key_that_this_account_cannot_read_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.db.key").write_text("")
    (tmp_path / "a.db.key").chmod(0o600)
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert "cannot be read" in key_file_mode(str(tmp_path / "a.db")).found


def test_versions_that_are_too_old_are_problems() -> None:
    assert python_version((3, 10, 9)).state == BAD
    assert python_version((3, 11, 0)).state == GOOD
    assert sqlite_version("3.51.2").state == BAD
    assert sqlite_version("3.51.3").state == GOOD
    assert sqlite_version().state == GOOD
