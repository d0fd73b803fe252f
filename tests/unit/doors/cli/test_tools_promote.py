"""`interlock tools promote` says until when one act goes back."""

from pathlib import Path

from tests.unit.doors.cli.conftest import Cli
from tests.unit.doors.cli.test_agents import READ, versions

__all__ = ["versions"]


def test_the_way_back_is_told_with_its_end(cli: Cli, versions: Path) -> None:
    text = cli("tools", "promote", READ, "1", "--window-days", "2").out
    assert f"{READ} means version 1 from now on. `interlock tools rollback {READ}` goes back to 2 until " in text
    assert (
        cli("tools", "promote", READ, "2", "--window-days", "-1", "--json").document["error"]["code"] == "MOVE_REFUSED"
    )


def test_a_name_that_means_a_version_without_code_here_is_told_wherever_it_is_asked_for(
    cli: Cli, versions: Path
) -> None:
    says = f"{READ} means version 1, whose code is not in this project"
    assert says in cli("tools", "promote", READ, "1").out
    listed = cli("tools", "list", "--all", "--json").document
    assert [each["name"] for each in listed["tools"]] == ["save_note"]
    assert listed["attention"][0].startswith(says)
    shown = cli("tools", "show", READ, "--json")
    assert (shown.code, shown.document["error"]["code"]) == (1, "TOOL_UNKNOWN")
    assert shown.document["error"]["message"].startswith(says)
    back = cli("tools", "rollback", READ, "--json").document
    assert (back["version"], back["here"]) == ("2", True)
    assert cli("tools", "list", "--all", "--json").document["attention"] == []


def test_what_cannot_be_the_default_leads_to_where_versions_stand(cli: Cli, versions: Path) -> None:
    error = cli("tools", "promote", READ, "2", "--json")
    assert error.code == 0
    again = cli("tools", "promote", READ, "2", "--json").document["error"]
    assert (again["code"], again["message"]) == ("MOVE_REFUSED", "2 is the default already")
    assert "tools show NAME" in again["next"]
    assert "tools check" not in again["next"]
