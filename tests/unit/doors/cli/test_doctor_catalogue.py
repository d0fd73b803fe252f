"""`interlock doctor` names what is closed in the catalogue, and what was to have been looked at by now."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from interlock.doors.cli.doctor import GOOD, WANTING
from tests.unit.doors.cli.conftest import Cli

pytestmark = pytest.mark.requirement("REG-2")

WHY = ("--reason", "why")
NAMES = ("stops", "closed tools", "reviews", "retirements")


def checks(cli: Cli) -> dict[str, tuple[str, str]]:
    """State and finding of each check of the catalogue."""
    found = cli("doctor", "--json").document["checks"]
    return {each["name"]: (each["state"], each["found"]) for each in found if each["name"] in NAMES}


def test_a_catalogue_of_which_nothing_is_to_be_said_is_in_order(cli: Cli, project: Path) -> None:
    cli("tools", "list")
    assert checks(cli) == {
        "stops": (GOOD, "none"),
        "closed tools": (GOOD, "none"),
        "reviews": (GOOD, "none is due"),
        "retirements": (GOOD, "none is due"),
    }


def test_what_is_closed_or_late_is_named(cli: Cli, project: Path) -> None:
    cli("tools", "list")
    today = datetime.now(UTC).date().isoformat()
    assert cli("tools", "stop", "--vendor", "Acme", *WHY).code == 0
    late = ("--review-on", "2020-01-01")
    assert cli("tools", "move", "save_note", "quarantined", *WHY, *late).code == 0
    assert cli("tools", "retire", "read_note", *WHY, "--on", today).code == 0
    found = checks(cli)
    assert found["stops"] == (WANTING, "every tool of the vendor Acme (why)")
    assert found["closed tools"] == (WANTING, "save_note 1 is quarantined")
    assert found["reviews"] == (WANTING, "save_note 1 was to be reviewed on 2020-01-01")
    assert found["retirements"] == (WANTING, f"read_note 1 was to be retired on {today}")


def test_a_retirement_that_is_to_come_is_not_late_and_one_that_was_done_neither(cli: Cli, project: Path) -> None:
    cli("tools", "list")
    cli("tools", "retire", "read_note", *WHY, "--on", "2999-01-01")
    cli("tools", "retire", "save_note", *WHY, "--on", datetime.now(UTC).date().isoformat())
    cli("tools", "move", "save_note", "frozen", *WHY, "--review-on", "2020-01-01")
    cli("tools", "retire", "save_note", *WHY, "--yes")
    assert checks(cli)["retirements"] == checks(cli)["reviews"] == (GOOD, "none is due")
