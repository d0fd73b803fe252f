"""The verbs that move versions: through their gates, with evidence, and never without a reason."""

import json
from pathlib import Path

import pytest

from interlock.core.evidence_pack import is_whole
from tests.unit.doors.cli.conftest import Cli

pytestmark = pytest.mark.requirement("REG-2")

WHY = ("--reason", "why")


def states(cli: Cli, name: str = "read_note") -> list[str]:
    return [each["state"] for each in cli("tools", "show", name, "--json").document["versions"]]


@pytest.mark.parametrize(
    "verb",
    [
        ("freeze", "read_note"),
        ("release", "read_note"),
        ("move", "read_note", "restricted"),
        ("sign-off", "read_note", "--version", "1"),
        ("retire", "read_note", "--yes"),
        ("stop", "--all"),
    ],
)
def test_no_version_is_moved_without_a_reason(cli: Cli, project: Path, verb: tuple[str, ...]) -> None:
    assert cli("tools", *verb).code == 2
    assert cli("tools", *verb, "--reason", " ").code != 0
    assert states(cli) == ["available"]


def test_a_version_is_moved_and_its_evidence_is_written_to_a_file_that_shows_changes(cli: Cli, project: Path) -> None:
    more = ("--review-on", "2020-01-01", "--sample", "example typical", "--withdraw-when", "it is wrong twice")
    moved = cli("tools", "move", "read_note", "restricted", *WHY, *more, "--json")
    assert (moved.code, moved.document["versions"][0]["state"]) == (0, "restricted")
    assert "was to be reviewed on 2020-01-01" in cli("tools", "list").out
    assert "to be reviewed on 2020-01-01" in cli("tools", "show", "read_note").out
    assert cli("tools", "evidence", "read_note", "--version", "1", "--out", "evidence.json").code == 0
    assert cli("tools", "evidence", "read_note", "--version", "1", "--out", "evidence.md").code == 0
    whole = (project / "evidence.json").read_bytes()
    assert is_whole(whole)
    (move,) = json.loads(whole)["moves"]
    assert (move["grounds"]["samples"], move["grounds"]["withdraw_when"]) == (
        ["example typical"],
        ["it is wrong twice"],
    )
    assert "restricted" in (project / "evidence.md").read_text()
    assert cli("tools", "evidence", "read_note", "--version", "9").code == 1


def test_a_gate_is_asked_without_a_reason_and_of_the_only_version_there_is(cli: Cli, project: Path) -> None:
    cli("tools", "move", "read_note", "restricted", *WHY)
    asked = cli("tools", "move", "read_note", "available", "--check", "--json")
    stands = {each["need"]: each["stands"] for each in asked.document["gate"]}
    assert (asked.code, stands["reason"], stands["owner"]) == (1, "lacking", "met")
    assert states(cli) == ["restricted"]


def test_a_gate_is_asked_without_moving_anything(cli: Cli, project: Path) -> None:
    cli("tools", "move", "read_note", "restricted", *WHY)
    asked = cli("tools", "move", "read_note", "available", *WHY, "--version", "1", "--check", "--json")
    stands = {each["need"]: each["stands"] for each in asked.document["gate"]}
    assert (asked.code, stands["reason"], stands["examples"], stands["review"]) == (1, "met", "lacking", "lacking")
    cli("tools", "sign-off", "read_note", "--version", "1", *WHY)
    waived = ("--waive", "examples=there are none yet")
    asked = cli("tools", "move", "read_note", "available", *WHY, *waived, "--version", "1", "--check", "--json")
    stands = {each["need"]: each["stands"] for each in asked.document["gate"]}
    assert (stands["examples"], stands["review"]) == ("waived", "lacking")
    assert states(cli) == ["restricted"]


@pytest.mark.parametrize(
    "given", [("somewhere",), ("available", "--waive", "luck=sure"), ("restricted", "--review-on", "soon")]
)
def test_what_is_no_state_need_or_day_is_refused(cli: Cli, project: Path, given: tuple[str, ...]) -> None:
    ran = cli("tools", "move", "read_note", *given, *WHY, "--json")
    assert (ran.code, ran.document["error"]["code"]) == (1, "MOVE_REFUSED")


def test_a_project_that_holds_moves_to_their_gates_publishes_candidates(cli: Cli, project: Path) -> None:
    settings = project / "interlock.toml"
    settings.write_text(settings.read_text().replace("[interlock]", '[interlock]\nlifecycle = "gated"', 1))
    assert cli("call", "read_note", '{"title": "x"}', "--json").document["error"]["code"] == "TOOL_NOT_FOUND"
    ran = cli("tools", "move", "read_note", "available", *WHY, "--json")
    assert (ran.code, ran.document["error"]["code"]) == (1, "MOVE_REFUSED")
    assert "examples" in ran.document["error"]["message"]
    step = ran.document["error"]["next"]
    assert "`interlock tools test read_note --publish`" in step
    assert "`interlock tools sign-off read_note --version 1 --reason WHY --as ID`" in step
    assert "--waive examples=WHY" in step
    assert "owner" not in step  # it has one
    assert not any(each in step for each in ("tools stops", "tools retire", "tools confirm"))


def test_what_is_frozen_goes_back_to_where_it_stood(cli: Cli, project: Path) -> None:
    cli("tools", "move", "read_note", "restricted", *WHY)
    cli("tools", "freeze", "read_note", *WHY)
    assert cli("tools", "release", "read_note", *WHY).code == 0
    assert states(cli) == ["restricted"]
    cli("tools", "move", "read_note", "quarantined", *WHY)
    assert cli("tools", "release", "read_note", *WHY).code == 0
    assert states(cli) == ["available"]
    assert cli("tools", "release", *WHY).code == 1


@pytest.mark.parametrize(
    ("acts", "code", "says"),
    [
        ([("freeze", "read_note"), ("freeze", "read_note")], "MOVE_REFUSED", "read_note 1 is frozen already"),
        ([("release", "read_note")], "MOVE_REFUSED", "read_note 1 is available already"),
        (
            [("freeze", "read_note", "--version", "9")],
            "TOOL_UNKNOWN",
            "there is no tool named 'read_note' of version '9'",
        ),
        (
            [("retire", "read_note", "--yes"), ("retire", "read_note", "--on", "2999-01-01")],
            "MOVE_REFUSED",
            "read_note 1 is retired: its retirement can be neither announced nor taken back",
        ),
        ([("keep", "read_note")], "MOVE_REFUSED", "the retirement of read_note 1 was not announced"),
    ],
)
def test_what_cannot_be_moved_is_said_with_where_it_stands_and_not_as_a_fault_of_the_tool(
    cli: Cli, project: Path, acts: list[tuple[str, ...]], code: str, says: str
) -> None:
    *first, last = acts
    for act in first:
        assert cli("tools", *act, *WHY).code == 0
    error = cli("tools", *last, *WHY, "--json").document["error"]
    assert (error["code"], error["message"]) == (code, says)
    assert "tools show " in error["next"]
    assert "--waive" not in error["next"]
    assert "Change the tool" not in error["next"]


def test_a_stop_that_closes_what_is_not_frozen_is_said_to_whoever_releases_it(cli: Cli, project: Path) -> None:
    stop = cli("tools", "stop", "--tool", "read_note", *WHY, "--json").document["stop"]["id"]
    step = cli("tools", "release", "read_note", *WHY, "--json").document["error"]["next"]
    assert f"`interlock tools release --stop {stop} --reason WHY` lifts a stop." in step
