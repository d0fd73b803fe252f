"""`interlock tools promote` says until when one act goes back."""

from contextlib import closing
from pathlib import Path

import apsw
import pytest

from tests.unit.doors.cli.conftest import Cli
from tests.unit.doors.cli.test_agents import READ, versions

WHY = ("--reason", "why")

__all__ = ["versions"]


SECOND = f"""

@tool(name="{READ}", version="2", effect="read", owner="notes")
def second(title: Title) -> str | None:
    "Read one note."
    return title
"""


def test_the_way_back_is_told_with_its_end(cli: Cli, versions: Path) -> None:
    text = cli("tools", "promote", READ, "1", *WHY, "--yes", "--window-days", "2").out
    back = f"`interlock tools rollback {READ} --reason WHY` goes back to the version published last until "
    assert f"{READ} means version 1 from now on. {back}" in text
    assert (
        cli("tools", "promote", READ, "2", *WHY, "--window-days", "-1", "--json").document["error"]["code"]
        == "MOVE_REFUSED"
    )


def test_a_name_that_means_a_version_without_code_here_is_told_wherever_it_is_asked_for(
    cli: Cli, versions: Path
) -> None:
    says = f"{READ} means version 1, whose code is not in this project"
    assert says in cli("tools", "promote", READ, "1", *WHY, "--yes").out
    listed = cli("tools", "list", "--all", "--json").document
    assert [each["name"] for each in listed["tools"] if each["default"]] == ["save_note"]
    assert listed["attention"][0].startswith(says)
    shown = cli("tools", "show", READ, "--json").document
    assert (shown["spec"]["version"], shown["here"]) == ("1", False)
    assert shown["attention"][0].startswith(says)
    assert [(each["version"], each["default"]) for each in shown["versions"]] == [("1", True), ("2", False)]
    why = cli("agents", "explain", "anybody", READ, "--json").document
    assert (why["code"], why["why"], why["version"]) == ("TOOL_NOT_FOUND", "missing", "1")
    checks = {each["name"]: each for each in cli("doctor", "--json").document["checks"]}
    assert checks["promoted versions"]["found"] == f"{READ} means 1, whose code is not here"
    assert cli("call", READ, '{"note": "x"}', "--json").document["error"]["code"] == "TOOL_NOT_FOUND"
    refused = cli("audit", "query", "--kind", "call.refused", "--json").document["records"][-1]
    assert (refused["record"]["code"], refused["record"]["told"]) == ("TOOL_UNAVAILABLE", "TOOL_NOT_FOUND")
    back = cli("tools", "rollback", READ, *WHY, "--json").document
    assert (back["version"], back["newest"], back["here"]) == ("2", True, True)
    assert cli("tools", "list", "--all", "--json").document["attention"] == []


@pytest.mark.requirement("REG-3")
def test_a_version_whose_code_is_not_here_is_promoted_only_with_a_yes_and_a_call_of_it_says_what_lacks(
    cli: Cli, versions: Path
) -> None:
    asked = cli("tools", "promote", READ, "1", *WHY, "--json")
    assert (asked.code, asked.document["error"]["code"]) == (1, "NOT_CONFIRMED")
    assert f"The code of {READ} 1 is not in this project" in asked.document["error"]["message"]
    assert cli("call", READ, '{"title": "x"}').code == 0
    assert cli("tools", "promote", READ, "2", *WHY).code == 0
    assert cli("tools", "promote", READ, "1", *WHY, "--yes").code == 0
    step = cli("call", READ, '{"title": "x"}', "--json").document["error"]["next"]
    assert step.startswith(f"{READ} means version 1, whose code is not in this project")
    assert "not in this project" not in cli("call", READ, '{"title": "x"}', "--as", "second").out


def test_a_tool_none_of_whose_versions_has_its_code_here_is_told_so(cli: Cli, versions: Path) -> None:
    tools = versions / "tools.py"
    tools.write_text(tools.read_text().replace("def read_note", "def other_note").replace("read_note(", "other_note("))
    step = cli("call", READ, '{"title": "x"}', "--json").document["error"]["next"]
    assert step.startswith(f"{READ} is published, but the code of none of its versions is in this project")


@pytest.mark.parametrize("verb", [("promote", READ, "2"), ("promote", READ, "--newest"), ("rollback", READ)])
def test_what_a_name_means_is_changed_for_a_reason_alone(cli: Cli, versions: Path, verb: tuple[str, ...]) -> None:
    assert cli("tools", *verb, "--json").document["error"]["code"] == "USAGE"
    assert "say why" in cli("tools", *verb, "--reason", " ", "--json").document["error"]["message"]


@pytest.mark.requirement("REG-7")
def test_a_name_is_not_left_at_a_promoted_version_that_is_retired(cli: Cli, project: Path) -> None:
    tools = project / "tools.py"
    tools.write_text(tools.read_text() + SECOND)
    assert cli("tools", "promote", READ, "1", *WHY).code == 0
    retire = ("tools", "retire", READ, "--version", "1", *WHY, "--yes", "--json")
    refused = cli(*retire).document["error"]
    assert refused["message"] == f"{READ} was promoted to 1, and would stay closed with it"
    assert refused["next"].startswith(f"`interlock tools promote {READ} --newest --reason WHY`")
    cli("tools", "freeze", READ, "--version", "2", *WHY)
    assert cli(*retire).code == 0
    cli("tools", "release", READ, "--version", "2", *WHY)
    late = cli("call", READ, '{"title": "x"}', "--json").document["error"]
    step = late["next"]
    assert late["code"] == "TOOL_RETIRED"
    assert f"`interlock tools promote {READ} --newest --reason WHY` lets the name mean" in step
    checks = {each["name"]: each for each in cli("doctor", "--json").document["checks"]}
    assert checks["promoted versions"]["found"] == f"{READ} means 1, which is retired"
    assert cli("tools", "promote", READ, "--newest", *WHY).code == 0
    assert cli("call", READ, '{"title": "x"}').code == 0


def test_a_promoted_name_follows_the_newest_again_by_one_act_and_goes_back_by_another(cli: Cli, versions: Path) -> None:
    cli("tools", "promote", READ, "1", *WHY, "--yes")
    made = cli("tools", "promote", READ, "--newest", *WHY, "--json").document
    assert made | {"version": "2", "newest": True, "before": "1", "here": True} == made
    assert cli("call", READ, '{"note": "x"}', "--json").document["error"]["code"] != "TOOL_NOT_FOUND"
    assert "promoted versions" in cli("doctor").out
    again = cli("tools", "promote", READ, "--newest", *WHY, "--json").document["error"]
    assert (again["code"], again["message"]) == ("MOVE_REFUSED", "it means the version published last already")
    assert "goes back to" not in (text := cli("tools", "rollback", READ, *WHY, "--yes").out)
    assert f"{READ} means version 1 from now on." in text
    assert (
        f"{READ} means the version published last, now 2, from now on."
        in cli("tools", "promote", READ, "--newest", *WHY).out
    )


def test_a_promotion_names_a_version_or_the_newest(cli: Cli, versions: Path) -> None:
    for said in ([], ["1", "--newest"]):
        found = cli("tools", "promote", READ, *said, *WHY, "--json")
        assert (found.code, found.document["error"]["code"]) == (2, "USAGE")


def test_what_cannot_be_the_default_leads_to_where_versions_stand(cli: Cli, versions: Path) -> None:
    error = cli("tools", "promote", READ, "2", *WHY, "--json")
    assert error.code == 0
    again = cli("tools", "promote", READ, "2", *WHY, "--json").document["error"]
    assert (again["code"], again["message"]) == ("MOVE_REFUSED", "2 is the default already")
    assert "tools show NAME" in again["next"]
    assert "tools check" not in again["next"]


def test_a_promoted_version_whose_stored_spec_cannot_be_read_is_told_by_its_name(cli: Cli, versions: Path) -> None:
    cli("tools", "promote", READ, "1", *WHY, "--yes")
    for store in versions.rglob("*.db"):
        with closing(apsw.Connection(str(store))) as file:
            file.execute("UPDATE versions SET spec = ? WHERE name = ? AND version = '1'", (b"nonsense", READ))
    refused = cli("tools", "show", READ, "--json").document["error"]
    assert refused["message"].startswith(f"the stored spec of {READ} 1 cannot be read")
