"""What the store keeps of the project's examples, through the verbs."""

from pathlib import Path

import pytest

from tests.unit.doors.cli.conftest import Cli


@pytest.mark.requirement("REG-8")
def test_examples_that_pass_are_published_and_become_stale_when_words_change(cli: Cli, project: Path) -> None:
    ran = cli("tools", "test", "--publish")
    assert (ran.code, "The store keeps them, and how they stood" in ran.out) == (0, True)
    assert len(cli("tools", "examples", "--json").document["examples"]) == 12
    tools = project / "tools.py"
    words = tools.read_text().replace("Read one note by its title", "Fetch one note by its title")
    tools.write_text(words.replace('@tool(effect="read",', '@tool(version="2", effect="read",'))
    ran = cli("tools", "test", "read_note", "--json")
    assert {each["passing"] for each in ran.document["examples"]} == {"stale"}
    assert "have changed since it was accepted" in ran.document["examples"][0]["why"]
    assert cli("tools", "accept", "read_note", "no title", "--reason", "only the words changed").code == 0
    again = cli("tools", "test", "read_note", "--json").document["examples"]
    assert [each["passing"] for each in again if each["name"] == "no title"] == ["passed"]


@pytest.mark.requirement("REG-8")
def test_where_one_fails_no_example_is_published_and_the_result_is_kept(cli: Cli, project: Path) -> None:
    file = project / "examples" / "notes.yaml"
    file.write_text(file.read_text().replace("data: Good morning.", "data: Good evening.", 1))
    ran = cli("tools", "test", "--publish")
    assert (ran.code, "the examples it keeps once none fails" in ran.out) == (1, True)
    assert cli("tools", "examples", "--json").document["examples"] == []
    [ran] = cli("audit", "query", "--kind", "examples.ran", "--json").document["records"]
    failing = {each["tool"]: each["failing"] for each in ran["record"]["versions"]}
    assert failing == {"read_note": ["a note that is there"], "save_note": []}


def test_only_operators_publish(cli: Cli, project: Path) -> None:
    ran = cli("tools", "test", "--publish", "--as", "second")
    assert (ran.code, "takes the group operator" in ran.out) == (3, True)
