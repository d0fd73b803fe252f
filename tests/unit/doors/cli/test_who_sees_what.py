"""What the command line shows to one of a project's people who has to do with nothing: nothing of what others did."""

from pathlib import Path

import pytest

from tests.unit.doors.cli.conftest import Cli
from tests.unit.doors.cli.test_calls import POLICY, TOOLS

READS = (
    "calls unknown",
    "calls look-up ID",
    "calls close ID --happened --evidence x",
    "recover",
    "usage",
    "approvals list",
    "approvals show ID",
    "compensate list",
    "compensate show ID",
    "compensate outline --task t",
    "runs list",
    "runs show ID",
    "runs events ID",
    "runs replay ID",
    "agents list",
    "agents show clerk",
    "agents shadow-report clerk send_note 1",
    "tools list",
    "tools stops",
    "tools review",
    "tools references send_note",
    "tools evidence send_note --version 1",
    "tools example-from ID",
    "tools probe",
    "audit query",
    "audit export -o log.jsonl",
    "audit purge --before 90d --dry-run",
)
REFUSED = frozenset({"calls look-up ID", "calls close ID --happened --evidence x", "recover", "audit query"})
HINTS = ("compensate outline", "tools references", "tools evidence", "agents shadow-report")
"""Verbs whose refusal names again the tool that was asked about."""


@pytest.fixture
def project_of_two(cli: Cli, project: Path) -> str:
    """A project of Alice's with a stranger in it; the id of a call of hers that is unknown."""
    (project / "tools.py").write_text(TOOLS)
    (project / "policies" / "starter.cedar").write_text(
        POLICY.replace("principal", 'principal in Group::"operator"', 1)
    )
    with (project / "interlock.toml").open("a") as settings:
        settings.write('\n[[people]]\nid = "eve"\ngroups = []\n')
    ran = cli("call", "send_note", '{"text": "words"}', "--task", "t", "--json")
    assert ran.code == 6, ran
    assert cli("agents", "set", "clerk", "--tool", "send_note", "--reason", "needed").code == 0
    assert cli("tools", "stop", "--tool", "send_note", "--reason", "it never ends").code == 0
    return str(ran.document["operation_id"])


@pytest.mark.requirement("AUD-4")
def test_a_stranger_of_the_project_is_shown_nothing_of_what_others_did(cli: Cli, project_of_two: str) -> None:
    for given in READS:
        words = [project_of_two if each == "ID" else each for each in given.split()]
        ran = cli(*words, "--as", "eve", "--json")
        told = ran.out.replace(project_of_two, "")
        for word in ("alice", "it never ends", *(() if given.startswith(HINTS) else ("send_note",))):
            assert word not in told, (given, ran.out)
        if given in REFUSED:
            assert (given, ran.code, ran.document["error"]["code"]) == (given, 3, "PERMISSION_DENIED")


@pytest.mark.requirement("AUD-4")
def test_the_operator_is_shown_all_of_it(cli: Cli, project_of_two: str) -> None:
    (call,) = cli("calls", "unknown", "--json").document["calls"]
    assert (call["operation_id"], call["principal"]) == (project_of_two, "alice")
    assert {each["id"] for each in cli("usage", "--json").document["usage"]} == {"", "t"}
    assert cli("usage", "--as", "eve", "--json").document["usage"] == []
    assert cli("recover").code == 0
    for given in ("agents show clerk", "tools stops"):
        assert "send_note" in cli(*given.split()).out
