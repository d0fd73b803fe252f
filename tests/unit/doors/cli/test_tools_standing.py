"""Listings say where a version stands, in which version a name means it, and what is overdue."""

from pathlib import Path

import pytest

from interlock.doors.cli.tools_standing import lines_of
from tests.unit.doors.cli.conftest import Cli

pytestmark = pytest.mark.requirement("REG-2")


def test_a_version_is_told_on_one_line_with_all_that_is_known() -> None:
    plain = {"version": "1", "state": "frozen", "default": False}
    whole = {"version": "2", "state": "available", "default": True, "notice": "to be retired on D", "review_on": "E"}
    assert lines_of([plain, whole]) == [
        "1 frozen",
        "2 available, is what the name means, to be retired on D, to be reviewed on E",
    ]


def test_the_version_that_a_name_means_is_marked(cli: Cli, project: Path) -> None:
    (found,) = cli("tools", "show", "read_note", "--json").document["versions"]
    assert (found["default"], "stopped" in found) == (True, False)
    cli("tools", "stop", "--all", "--reason", "why")
    (found,) = cli("tools", "show", "read_note", "--json").document["versions"]
    assert (found["state"], found["stopped"]) == ("available", True)
