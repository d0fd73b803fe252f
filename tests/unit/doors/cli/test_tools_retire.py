"""Retirement at the command line: what rests on it, notice, the owner's word, and what comes after."""

from pathlib import Path

import pytest

from tests.unit.doors.cli.conftest import Cli

pytestmark = pytest.mark.requirement("REG-7")

WHY = ("--reason", "why")
CALL = ("call", "read_note", '{"title": "hello"}', "--json")
NEWER = """

@tool(effect="read", owner="notes")
async def look_up(name: str, folder: str) -> str:
    "Find a note."
    return name
"""
MAPPED = ("--replacement", "look_up", "--rename", "title=name", "--add", 'folder="inbox"')


@pytest.fixture
def both(cli: Cli, project: Path) -> Path:
    """A project with one more tool, which may take the place of another."""
    tools = project / "tools.py"
    tools.write_text(tools.read_text() + NEWER)
    assert cli("tools", "list").code == 0
    return project


def test_it_is_announced_confirmed_retired_and_late_calls_are_told_what_to_call(cli: Cli, both: Path) -> None:
    announced = cli("tools", "retire", "read_note", *WHY, "--on", "2999-01-01", *MAPPED, "--json")
    assert announced.document["versions"][0]["retirement"]["replacement"]["renames"] == {"title": "name"}
    assert "to be retired on 2999-01-01" in cli("tools", "show", "read_note").out
    assert cli(*CALL).document["hint"] == "read_note is to be retired on 2999-01-01."
    assert cli("tools", "confirm", "read_note", "--version", "1", *WHY).code == 0
    early = cli("tools", "retire", "read_note", *WHY, "--yes", "--json").document["error"]
    assert (early["code"], early["message"]) == (
        "MOVE_REFUSED",
        "read_note 1 cannot become retired: it lacks notice: it was announced for 2999-01-01",
    )
    assert "again on 2999-01-01; `interlock tools keep read_note" in early["next"]
    assert "--waive notice=WHY" in early["next"]
    assert "was announced" not in cli("tools", "show", "read_note").out
    assert cli("tools", "retire", "read_note", *WHY, "--yes", "--waive", "notice=it leaks").code == 0
    late = cli(*CALL).document["error"]
    assert (late["code"], late["details"]["replacement"], late["details"]["added"]) == (
        "TOOL_RETIRED",
        "look_up",
        {"folder": "inbox"},
    )
    assert "retired on" in cli("tools", "show", "read_note").out


def test_an_announcement_is_taken_back(cli: Cli, both: Path) -> None:
    cli("tools", "retire", "read_note", *WHY, "--on", "2999-01-01")
    assert "read_note is to be retired on 2999-01-01." in cli("tools", "list", "--json").document["attention"]
    assert cli("tools", "keep", "read_note", *WHY, "--json").document["versions"][0]["retirement"] is None
    assert cli("tools", "keep", "read_note", *WHY).code == 1


def test_a_replacement_of_what_was_not_announced_is_told_how_it_is_announced(cli: Cli, both: Path) -> None:
    refused = cli("tools", "retire", "read_note", *WHY, *MAPPED, "--yes", "--json").document["error"]
    assert refused["message"] == "the retirement of read_note 1 was not announced"
    assert refused["next"].startswith("`interlock tools retire read_note --version 1 --on DAY --reason WHY` announces")
    assert "`interlock tools replace read_note OTHER --version 1" in refused["next"]
    assert "--waive" not in refused["next"]
    assert "with --on, or of what was announced" in " ".join(cli("tools", "retire", "--help").out.split())


def test_what_takes_the_place_is_said_later_too(cli: Cli, both: Path) -> None:
    cli("tools", "retire", "read_note", *WHY, "--yes")
    given = ("--rename", "title=name", "--add", 'folder="inbox"')
    assert cli("tools", "replace", "read_note", "look_up", *WHY, *given).code == 0
    assert cli(*CALL).document["error"]["details"]["replacement"] == "look_up"
    assert "look_up takes its place" in cli("tools", "show", "read_note").out


@pytest.mark.parametrize("wrong", [("--rename", "title"), ("--add", "folder=inbox"), ("--rename", "=x"), ()])
def test_a_replacement_that_does_not_map_is_refused(cli: Cli, both: Path, wrong: tuple[str, ...]) -> None:
    ran = cli("tools", "retire", "read_note", *WHY, "--on", "2999-01-01", "--replacement", "look_up", *wrong, "--json")
    assert (ran.code, ran.document["error"]["code"]) == (1, "MOVE_REFUSED")


def test_what_rests_on_a_tool_is_listed_and_nobody_who_sits_nowhere_retires_it_unasked(cli: Cli, both: Path) -> None:
    listed = cli("tools", "references", "read_note", "--json").document["versions"][0]
    assert listed["references"]["runs"] == {"count": 0, "named": []}
    assert cli("tools", "references", "read_note").code == 0
    ran = cli("tools", "retire", "read_note", *WHY, "--json")
    assert (ran.code, ran.document["error"]["code"]) == (1, "NOT_CONFIRMED")
    for verb in (("retire", "read_note", "--yes"), ("replace", "read_note", "look_up"), ("keep", "read_note")):
        ran = cli("tools", *verb, *WHY, "--as", "second", "--json")
        assert ran.document["error"]["code"] in ("PERMISSION_DENIED", "ACT_REFUSED")


def test_who_retires_a_tool_hears_what_rests_on_it_also_where_nobody_is_asked(cli: Cli, both: Path) -> None:
    assert "rest:" not in cli("tools", "retire", "look_up", *WHY, "--yes").err
    cli("agents", "set", "clerk", "--tool", "read_note", "--owner", "notes", *WHY)
    retired = cli("tools", "retire", "read_note", *WHY, "--yes")
    assert retired.code == 0
    assert "On every version of read_note rest: 1 agents. `interlock tools references read_note`" in retired.err
