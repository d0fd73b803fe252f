"""`interlock tools test`: every example of the project, nothing real behind it."""

from pathlib import Path

import pytest

from tests.unit.doors.cli.conftest import Cli


@pytest.mark.requirement("REG-8")
def test_the_examples_of_a_new_project_pass_and_touch_nothing_of_it(cli: Cli, project: Path) -> None:
    before = sorted(path.name for path in project.iterdir())
    ran = cli("tools", "test", "--json")
    assert ran.code == 0, ran.out
    assert ran.document["counts"] == {"passed": 12, "failed": 0, "stale": 0, "unreviewed": 0, "refused": 0}
    assert sorted(path.name for path in project.iterdir() if path.name != "__pycache__") == before


@pytest.mark.requirement("REG-8")
def test_one_that_fails_is_shown_with_what_differs_and_exit_code_1(cli: Cli, project: Path) -> None:
    file = project / "examples" / "notes.yaml"
    file.write_text(file.read_text().replace("data: Good morning.", "data: Good evening.", 1))
    ran = cli("tools", "test", "read_note")
    assert ran.code == 1
    assert 'data: expected "Good evening.", got "Good morning."' in ran.out
    assert "save_note" not in ran.out
    [failed] = [each for each in cli("tools", "test", "--json").document["examples"] if each["passing"] == "failed"]
    assert failed["differences"] == [{"path": "data", "expected": '"Good evening."', "got": '"Good morning."'}]


def test_what_is_stale_is_a_problem_only_where_that_is_asked_for(cli: Cli, project: Path) -> None:
    file = project / "examples" / "notes.yaml"
    file.write_text(file.read_text().replace("kind: typical", "kind: typical\n    expires: 2020-01-01", 1))
    ran = cli("tools", "test")
    assert (ran.code, "it expired on 2020-01-01" in ran.out, "1 stale" in ran.out) == (0, True, True)
    assert cli("tools", "test", "--strict").code == 1


def test_a_junit_report_is_written_where_it_is_asked_for(cli: Cli, project: Path) -> None:
    assert cli("tools", "test", "--junit", "report.xml").code == 0
    assert (project / "report.xml").read_text().count("<testcase") == 12


def test_a_tool_that_has_no_example_is_said(cli: Cli, project: Path) -> None:
    ran = cli("tools", "test", "raed_note")
    assert (ran.code, "there is no example of 'raed_note'" in ran.err) == (1, True)
