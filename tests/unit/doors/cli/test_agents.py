"""`interlock agents`: agents are set, pinned, tried and taken back at the terminal; every answer is a document too."""

import re
from pathlib import Path

import pytest

from tests.unit.doors.cli.conftest import Cli

pytestmark = pytest.mark.requirement("REG-3")

READ = "read_note"


@pytest.fixture
def versions(cli: Cli, project: Path) -> Path:
    """The project with its tool `read_note` published in versions 1 and 2, whose code is here in version 2."""
    tools = project / "tools.py"
    for version in ("1", "2"):
        pattern = r'@tool\(effect="read", owner="notes"(, version="[^"]*")?'
        tools.write_text(re.sub(pattern, f'@tool(effect="read", owner="notes", version="{version}"', tools.read_text()))
        assert cli("tools", "list").code == 0
    return project


def test_an_agent_is_set_shown_changed_and_removed(cli: Cli, versions: Path) -> None:
    assert "No agent is published" in cli("agents", "list").out
    made = cli("agents", "set", "clerk", "--tool", READ, "--owner", "notes", "--reason", "tested", "--json")
    assert made.document["tools"][0] | {"tool": READ, "version": "2", "upgrade": "held"} == made.document["tools"][0]
    pinned = cli("agents", "pin", "clerk", READ, "1", "--reason", "it is slow", "--json").document
    assert (pinned["revision"], pinned["tools"][0]["earlier"]["version"]) == (2, "2")
    assert "2 until" in cli("agents", "show", "clerk").out
    back = cli("agents", "rollback", "clerk", READ, "--json").document
    assert (back["tools"][0]["version"], back["tools"][0]["earlier"]) == ("2", None)
    assert cli("agents", "list", "--json").document["agents"] == [back]
    assert cli("agents", "remove", "clerk", "--reason", "gone").code == 0
    assert cli("agents", "show", "clerk", "--json").document["error"]["code"] == "AGENT_UNKNOWN"


def test_a_canary_a_shadow_and_a_mode_are_set_and_told(cli: Cli, versions: Path) -> None:
    cli("agents", "set", "clerk", "--tool", f"{READ}=2")
    shown = cli("agents", "canary", "clerk", READ, "1", "--per-mille", "50", "--json").document["tools"][0]
    assert shown["canary"] == {"version": "1", "per_mille": 50, "tenants": []}
    assert "1 for 50 of 1000" in cli("agents", "shadow", "clerk", READ, "1", "--no-compare").out
    assert "judged only" in cli("agents", "show", "clerk").out
    kept = cli("agents", "set", "clerk", "--tool", READ, "--others", "--json").document
    assert (kept["others"], kept["tools"][0]["canary"]["version"]) == (True, "1")
    assert cli("agents", "shadow", "clerk", READ, "--json").document["tools"][0]["shadow"] is None
    mode = cli("agents", "upgrade", "clerk", READ, "after_evaluation", "--json").document["tools"][0]
    assert mode["upgrade"] == "after_evaluation"
    moved = cli("agents", "upgrade", "clerk", READ, "after_evaluation", "--passed", "1", "--json").document["tools"][0]
    assert (moved["version"], moved["canary"]) == ("1", None)
    followed = cli("agents", "set", "clerk", "--tool", f"{READ}=automatic", "--json").document["tools"][0]
    assert (followed["version"], followed["upgrade"]) == (None, "automatic")
    assert cli("agents", "upgrade", "clerk", READ, "sometimes", "--json").document["error"]["code"] == "AGENT_INVALID"


def test_a_canary_says_to_whom_and_takes_nothing_from_those_who_have_it(cli: Cli, versions: Path) -> None:
    cli("agents", "set", "clerk", "--tool", f"{READ}=2")
    cli("agents", "canary", "clerk", READ, "1", "--per-mille", "50")
    ran = cli("agents", "canary", "clerk", READ, "1", "--json")
    assert (ran.code, ran.document["error"]["message"]) == (2, "Say to whom: --per-mille, --tenant, or both.")
    assert cli("agents", "show", "clerk", "--json").document["tools"][0]["canary"]["per_mille"] == 50
    ended = cli("agents", "canary", "clerk", READ, "1", "--per-mille", "0", "--json").document["tools"][0]
    assert ended["canary"]["per_mille"] == 0


def test_it_is_explained_which_version_a_name_means(cli: Cli, versions: Path) -> None:
    cli("agents", "set", "clerk", "--tool", f"{READ}=1")
    found = cli("agents", "explain", "clerk", READ, "--json").document
    assert (found["version"], found["why"], found["code"]) == ("1", "missing", "TOOL_UNAVAILABLE")
    cli("agents", "pin", "clerk", READ)
    text = cli("agents", "explain", "clerk", READ).out
    assert f"{READ} means 2 to alice in clerk:" in text
    assert "- the agent is held at this version" in text


def test_what_a_shadow_has_shown_is_reported(cli: Cli, versions: Path) -> None:
    cli("agents", "set", "clerk", "--tool", READ)
    found = cli("agents", "shadow-report", "clerk", READ, "1", "--json").document
    assert found["proposal"] == {"promote": None, "reason": "0 calls are too few to speak: 100 are wanted"}
    assert "go on trying it" in cli("agents", "shadow-report", "clerk", READ, "1").out


def test_a_default_is_promoted_and_taken_back(cli: Cli, versions: Path) -> None:
    first = cli("tools", "promote", READ, "1", "--reason", "2 is slow", "--yes", "--json").document
    assert (first["version"], first["before"]) == ("1", "2")
    assert (
        "means the version published last, now 2, from now on." in cli("tools", "rollback", READ, "--reason", "why").out
    )
    assert cli("tools", "rollback", READ, "--reason", "why", "--json").document["error"]["code"] == "MOVE_REFUSED"
    assert cli("tools", "promote", READ, "9", "--reason", "why", "--json").document["error"]["code"] == "TOOL_UNKNOWN"


@pytest.mark.parametrize(
    "command",
    [
        ("agents", "set", "clerk"),
        ("agents", "pin", "clerk", READ),
        ("agents", "rollback", "clerk", READ),
        ("agents", "remove", "clerk"),
        ("tools", "promote", READ, "1", "--reason", "why"),
        ("tools", "rollback", READ, "--reason", "why"),
    ],
)
def test_who_is_no_operator_changes_nothing(cli: Cli, versions: Path, command: tuple[str, ...]) -> None:
    cli("agents", "set", "clerk", "--tool", READ)
    settings = versions / "interlock.toml"
    settings.write_text(settings.read_text() + '\n[[people]]\nid = "eve"\ngroups = ["notes"]\n')
    before = cli("agents", "show", "clerk", "--json").document
    ran = cli(*command, "--as", "eve", "--json")
    assert (ran.code, ran.document["error"]["code"]) == (1, "ACT_REFUSED")
    assert cli("agents", "show", "clerk", "--json").document == before


def test_a_hostile_name_is_told_and_shown_harmlessly(cli: Cli, versions: Path) -> None:
    ran = cli("agents", "show", "a\x1b[31mb")
    assert "\x1b" not in ran.out + ran.err
    assert cli("agents", "set", "x" * 65, "--json").document["error"]["code"] == "AGENT_INVALID"


def test_a_pin_on_what_takes_no_calls_is_refused_as_a_matter_of_where_it_stands(cli: Cli, versions: Path) -> None:
    cli("tools", "freeze", READ, "--version", "1", "--reason", "slow")
    error = cli("agents", "set", "clerk", "--tool", f"{READ}=1", "--json").document["error"]
    assert (error["code"], "takes no new pins" in error["message"]) == ("MOVE_REFUSED", True)
    assert "tools show NAME" in error["next"]
