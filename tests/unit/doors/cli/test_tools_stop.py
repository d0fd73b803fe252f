"""An emergency stop at the command line, and its end."""

from pathlib import Path

import pytest

from tests.unit.doors.cli.conftest import Cli

pytestmark = pytest.mark.requirement("REG-2")

CALL = ("call", "read_note", '{"title": "hello"}', "--json")
WHY = ("--reason", "why")


@pytest.mark.parametrize(
    "scope", [("--all",), ("--source", "python"), ("--tool", "read_note"), ("--all", "--tenant", "default")]
)
def test_what_is_named_is_stopped_until_the_stop_is_lifted(cli: Cli, project: Path, scope: tuple[str, ...]) -> None:
    stop = cli("tools", "stop", *scope, *WHY, "--json").document["stop"]["id"]
    assert cli(*CALL).document["error"]["code"] == "TOOL_FROZEN"
    assert [each["id"] for each in cli("tools", "stops", "--json").document["stops"]] == [stop]
    assert "Stopped:" in cli("tools", "list").out
    assert cli("tools", "release", "--stop", stop, *WHY).code == 0
    assert cli(*CALL).document["error"] is None
    assert cli("tools", "stops").out.strip() == "Nothing is stopped."


def test_a_stop_says_what_it_closes_and_that_a_misspelled_one_closes_nothing(cli: Cli, project: Path) -> None:
    ran = cli("tools", "stop", "--source", "python", *WHY)
    assert "It closes 2 tools: read_note, save_note." in ran.out
    ran = cli("tools", "stop", "--source", "pyhton", *WHY)
    assert (ran.code, "It closes no tool that is here now: look how it is spelled." in ran.out) == (0, True)
    assert cli("tools", "stop", "--tool", "read_not", *WHY, "--json").document["closes"] == []
    assert cli("tools", "stop", "--tool", "save_note", *WHY, "--json").document["closes"] == ["save_note"]
    assert cli("tools", "stop", "--all", "--tenant", "another", *WHY, "--json").document["closes"] == []


def test_what_is_meant_has_to_be_said(cli: Cli, project: Path) -> None:
    for given in ((), ("--all", "--tool", "read_note")):
        assert cli("tools", "stop", *given, *WHY, "--json").document["error"]["code"] == "USAGE"
    assert cli("tools", "release", "read_note", "--stop", "x", *WHY).code == 1
    assert cli("tools", "release", "--stop", "x", *WHY).code == 1
    ran = cli("tools", "stop", "--all", *WHY, "--as", "second", "--json")
    assert (ran.code, ran.document["error"]["code"]) == (3, "PERMISSION_DENIED")
    assert cli("tools", "stops", "--json").document["stops"] == []
