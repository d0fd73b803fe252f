"""`interlock tools example-from`: a failure in production is an example by one command."""

import json
from pathlib import Path

import pytest

from tests.unit.doors.cli.conftest import Cli


@pytest.mark.requirement("REG-8")
def test_a_call_that_was_refused_becomes_an_example_that_passes(cli: Cli, project: Path) -> None:
    seen = cli("call", "read_note", json.dumps({"title": "../secrets"}), "--json").document
    ran = cli("tools", "example-from", seen["call_id"], "-o", "examples/found.yaml")
    assert ran.code == 0
    assert "groups and claims are missing" in ran.out
    file = project / "examples" / "found.yaml"
    file.write_text(
        file.read_text().replace("id: alice", "{id: alice, groups: [notes]}").replace("caller:\n    {", "caller: {")
    )
    tested = cli("tools", "test", "read_note", "--json").document["examples"]
    found = next(each for each in tested if each["name"].startswith("from "))
    assert (found["kind"], found["passing"]) == ("wrong", "passed"), found


def test_no_file_is_overwritten_and_an_id_that_there_is_not_is_said(cli: Cli, project: Path) -> None:
    ran = cli("tools", "example-from", "nothing")
    assert (ran.code, "no call of that id" in ran.out) == (3, True)
    ran = cli("tools", "example-from", "nothing", "-o", "tools.py")
    assert (ran.code, "nothing is overwritten" in ran.err) == (1, True)
    assert cli("tools", "accept", "read_note", "none", "--reason", "x").code == 1
