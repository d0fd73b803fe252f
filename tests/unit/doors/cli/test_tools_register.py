"""Tools of one file are published from the command line, and stand where the project's gates let them begin."""

from pathlib import Path

import pytest

from tests.unit.doors.cli.conftest import Cli

pytestmark = pytest.mark.requirement("REG-1")

PYTHON = """
from interlock import tool

@tool(effect="read", owner="notes", name="count_notes", version="{version}")
def count_notes() -> int:
    "Count the notes{words}."
    return 0
"""
MANIFEST = """
tools:
  - handler: counting:count_them
    effect: read
    owner: notes
"""


def test_the_tools_of_a_python_file_are_published_once_and_never_changed(cli: Cli, project: Path) -> None:
    more = project / "more.py"
    more.write_text(PYTHON.format(version="1", words=""))
    ran = cli("tools", "register", "more.py", "--json").document
    assert (ran["published"], [(each["name"], each["state"]) for each in ran["versions"]]) == (
        1,
        [("count_notes", "available")],
    )
    assert "was there: available" in cli("tools", "register", "more.py").out
    more.write_text(PYTHON.format(version="1", words=", all of them"))
    assert cli("tools", "register", "more.py", "--json").document["error"]["code"] == "VERSION_EXISTS"
    assert cli("tools", "freeze", "count_notes", "--reason", "why").code == 0
    more.write_text(PYTHON.format(version="2", words=", all of them"))
    assert cli("tools", "register", "more.py", "--json").document["versions"][0]["state"] == "frozen"


def test_the_tools_of_a_manifest_begin_as_candidates_where_gates_hold(cli: Cli, project: Path) -> None:
    (project / "counting.py").write_text('def count_them() -> int:\n    "Count them."\n    return 0\n')
    (project / "more.yaml").write_text(MANIFEST)
    settings = project / "interlock.toml"
    settings.write_text(settings.read_text().replace("[interlock]", '[interlock]\nlifecycle = "gated"', 1))
    ran = cli("tools", "register", "more.yaml", "--json").document
    assert [(each["name"], each["state"]) for each in ran["versions"]] == [("count_them", "candidate")]
    (move,) = cli("tools", "evidence", "count_them", "--version", "1", "--json").document["moves"]
    assert (move["to"], move["by"]) == ("candidate", "alice")


def test_a_file_that_the_project_does_not_name_is_said_to_be_named_before_it_is_called(cli: Cli, project: Path) -> None:
    (project / "more.py").write_text(PYTHON.format(version="1", words=""))
    ran = cli("tools", "register", "more.py")
    assert "Next: name more.py under tools in interlock.toml" in ran.out
    settings = project / "interlock.toml"
    said = settings.read_text()
    for place in ("more.py", "more"):
        settings.write_text(said.replace('["tools.py"]', f'["tools.py", "{place}"]'))
        assert cli("tools", "register", "more.py", "--json").document["next"] == ""
        assert cli("call", "count_notes", "--json").document["data"] == 0


def test_only_operators_publish_and_a_file_that_is_none_is_refused(cli: Cli, project: Path) -> None:
    (project / "more.py").write_text(PYTHON.format(version="1", words=""))
    ran = cli("tools", "register", "more.py", "--as", "second", "--json")
    assert (ran.code, ran.document["error"]["code"]) == (3, "PERMISSION_DENIED")
    for name in ("nothing.py", "nothing.yaml"):
        assert cli("tools", "register", name, "--json").document["error"]["code"] == "TOOLS_INVALID"
