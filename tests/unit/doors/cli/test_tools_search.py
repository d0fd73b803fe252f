"""`interlock tools search`: what a person may use, by words; and why a run would be offered which."""

from pathlib import Path

import pytest

from tests.unit.doors.cli.conftest import Cli

pytestmark = pytest.mark.requirement("REG-10")


def test_tools_are_found_by_words_and_only_those_that_the_person_may_use(cli: Cli, project: Path) -> None:
    found = cli("tools", "search", "read a note", "--json").document["tools"]
    assert found[0]["name"] == "read_note"
    assert found[0]["score"] == pytest.approx(sum(found[0]["parts"].values()))
    assert cli("tools", "search", "read a note", "--as", "second", "--json").document["tools"] == []
    assert "read_note" in cli("tools", "search", "note").out
    assert len(cli("tools", "search", "note", "--limit", "1", "--json").document["tools"]) == 1


def test_nothing_found_says_where_to_look(cli: Cli, project: Path) -> None:
    ran = cli("tools", "search", "carburettor")
    assert ran.code == 0
    assert "interlock tools list" in ran.out


def test_a_query_is_data_whatever_stands_in_it(cli: Cli, project: Path) -> None:
    for query in ('"note', "NEAR(note)", "note* OR -x", "笔记"):
        assert cli("tools", "search", query, "--json").code == 0


def test_a_choice_is_explained_tool_by_tool(cli: Cli, project: Path) -> None:
    tools = cli("tools", "search", "save a note", "--explain", "--as", "second", "--json").document["tools"]
    assert {(each["name"], each["withheld"]) for each in tools} == {("read_note", "policy"), ("save_note", "policy")}
    ran = cli("tools", "search", "save a note", "--explain")
    assert "2 tools of 2 would be offered." in ran.out
    first = cli("tools", "search", "save a note", "--explain", "--json").document["tools"][0]
    assert (first["name"], first["offered"], first["rank"]) == ("save_note", True, 1)


def test_a_choice_may_be_that_of_an_agent_of_the_project(cli: Cli, project: Path) -> None:
    settings = project / "interlock.toml"
    settings.write_text(settings.read_text() + '\n[[agents]]\nname = "reader"\ntools = ["read_note"]\n')
    tools = cli("tools", "search", "save a note", "--explain", "--agent", "reader", "--json").document["tools"]
    assert {each["name"]: each["withheld"] for each in tools} == {"read_note": None, "save_note": "agent"}
