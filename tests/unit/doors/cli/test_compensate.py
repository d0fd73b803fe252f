"""`interlock compensate`: what would be undone is shown first, and what stopped says what to do next."""

from pathlib import Path

import pytest

from tests.unit.doors.cli.conftest import Cli

pytestmark = pytest.mark.requirement("IDEM-6")

TOOLS = '''
from pathlib import Path
from interlock import ErrorContract, ToolFault, tool

WORLD = Path(__file__).parent / "world"

@tool(effect="write", owner="notes", key=["name"], errors=[ErrorContract("LOCKED")])
def take_back(name: str) -> str:
    """Take a thing back."""
    if (WORLD / "locked").exists():
        raise ToolFault("LOCKED")
    (WORLD / name).unlink()
    return name

@tool(effect="write", owner="notes", key=["name"], compensate="take_back", compensate_arguments={"name": "$result"})
def put(name: str) -> str:
    """Put a thing there."""
    (WORLD / name).touch()
    return name

@tool(effect="write", owner="notes", key=["name"])
def shout(name: str) -> str:
    """Say it aloud."""
    return name
'''
POLICY = "permit (principal, action, resource);"
ASKS = '@approval("approver") permit (principal, action == Action::"take_back", resource);'


@pytest.fixture
def world(cli: Cli, project: Path) -> Path:
    """A folder in which two things were put, and a word that was said."""
    (project / "tools.py").write_text(TOOLS)
    (project / "policies" / "starter.cedar").write_text(POLICY)
    world = project / "world"
    world.mkdir()
    for tool, name in (("put", "a"), ("shout", "b"), ("put", "c")):
        assert cli("call", tool, f'{{"name": "{name}"}}', "--task", "t").code == 0
    return world


def test_what_would_be_undone_is_shown_and_nothing_is_done(cli: Cli, world: Path) -> None:
    ran = cli("compensate", "outline", "--task", "t", "--json")
    assert ran.code == 0
    assert [each["tool"] for each in ran.document["steps"]] == ["put", "shout", "put"]
    assert ran.document["irreversible"] == 1
    assert "1 effect cannot be undone." in cli("compensate", "outline", "--task", "t").out
    assert sorted(each.name for each in world.iterdir()) == ["a", "c"]
    assert cli("compensate", "list", "--all").out == "Nothing is being undone.\n"


def test_a_task_is_undone_with_a_reason_once_somebody_has_said_yes(cli: Cli, world: Path) -> None:
    start = ("compensate", "start", "--task", "t")
    asked = cli(*start, "--reason", "wrong task", "--json")
    assert (asked.code, asked.document["error"]["code"]) == (1, "NOT_CONFIRMED")
    assert cli(*start, "--yes", "--json").document["error"]["code"] == "PRECONDITION_FAILED"
    assert sorted(each.name for each in world.iterdir()) == ["a", "c"]
    ran = cli(*start, "--reason", "wrong task", "--yes", "--json")
    assert (ran.code, ran.document["state"], ran.document["by"]) == (0, "compensated", "alice")
    assert list(world.iterdir()) == []
    again = cli(*start, "--reason", "again", "--yes", "--json")
    assert (again.code, again.document["id"]) == (0, ran.document["id"])
    told = cli("call", "put", '{"name": "a"}', "--task", "t", "--json")
    assert told.document["status"] == "compensated"
    shown = cli("compensate", "show", ran.document["id"][:30])
    assert "wrong task" in shown.out
    assert "2 of 3" in shown.out
    assert cli("compensate", "list", "--json").document["plans"] == []
    assert len(cli("compensate", "list", "--all", "--json").document["plans"]) == 1


def test_what_stopped_says_so_and_goes_on(cli: Cli, world: Path) -> None:
    (world / "locked").touch()
    ran = cli("compensate", "start", "--task", "t", "--reason", "wrong", "--yes", "--json")
    assert (ran.code, ran.document["state"]) == (5, "compensation_failed")
    assert f"interlock compensate resume {ran.document['id']}" in ran.document["next"]
    assert "LOCKED" not in cli("compensate", "list").err
    (world / "locked").unlink()
    assert cli("compensate", "resume", ran.document["id"], "--as", "second").code == 3
    assert cli("compensate", "resume", ran.document["id"], "--reason", "unlocked", "--json").code == 0
    assert list(world.iterdir()) == []


def test_what_waits_for_an_approval_says_which(cli: Cli, world: Path, project: Path) -> None:
    (project / "policies" / "starter.cedar").write_text(POLICY + ASKS)
    assert cli("policy", "save", "--yes").code == 0
    ran = cli("compensate", "start", "--operation", _last(cli), "--reason", "wrong", "--yes", "--json")
    assert (ran.code, ran.document["state"]) == (4, "waiting")
    approval = ran.document["steps"][0]["approval_id"]
    assert f"interlock approvals approve {approval}" in ran.document["next"]
    assert "compensate resume" in cli("compensate", "resume", ran.document["id"]).out


def test_what_is_not_there_cannot_be_undone(cli: Cli, project: Path) -> None:
    for arguments in (("outline", "--task", "none"), ("start", "--reason", "x"), ("show", "none"), ("resume", "none")):
        ran = cli("compensate", *arguments, "--json")
        assert (ran.code, ran.document["error"]["code"]) == (3, "PRECONDITION_FAILED")


def _last(cli: Cli) -> str:
    return str(cli("compensate", "outline", "--task", "t", "--json").document["steps"][0]["operation_id"])
