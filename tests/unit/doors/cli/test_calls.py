"""`interlock calls`: what is unknown stays unknown until it is looked up, or a person says what happened."""

from pathlib import Path

import pytest

from interlock.doors.cli.session import os_user
from tests.unit.doors.cli.conftest import Cli

TOOLS = '''
import asyncio
from interlock import tool

@tool(effect="write", owner="notes", timeout_ms=50)
async def send_note(text: str) -> str:
    """Send a note to where nobody can look it up, and never hear of it again."""
    await asyncio.Event().wait()
    return text
'''
POLICY = "permit (principal, action, resource);"


@pytest.fixture
def unknown(cli: Cli, project: Path) -> str:
    """The operation of a call whose outcome was lost."""
    (project / "tools.py").write_text(TOOLS)
    (project / "policies" / "starter.cedar").write_text(POLICY)
    ran = cli("call", "send_note", '{"text": "secret words"}', "--task", "t", "--json")
    assert (ran.code, ran.document["status"]) == (6, "unknown")
    return str(ran.document["operation_id"])


def test_an_unknown_call_is_listed_without_its_sealed_arguments(cli: Cli, unknown: str) -> None:
    ran = cli("calls", "unknown", "--json")
    assert [each["operation_id"] for each in ran.document["calls"]] == [unknown]
    assert "secret words" not in ran.out
    assert "`interlock calls close ID --evidence" in cli("calls", "unknown").out


def test_what_cannot_be_looked_up_stays_unknown_after_recovery(cli: Cli, unknown: str) -> None:
    ran = cli("recover", "--json")
    assert (ran.code, ran.document["unknown"], ran.document["found_out"]) == (0, 1, 0)


@pytest.mark.parametrize(("option", "status"), [("--happened", "ok"), ("--did-not-happen", "failed")])
def test_an_operator_closes_it_with_evidence_and_who_sat_there(
    cli: Cli, unknown: str, option: str, status: str
) -> None:
    ran = cli("calls", "close", unknown[:30], option, "--evidence", "it lies in the outbox", "--json")
    assert (ran.code, ran.document["status"]) == (0, status)
    assert cli("calls", "unknown").out == "No call is unknown.\n"
    closed = cli("audit", "query", "--kind", "call.closed", "--json").document["records"][0]["record"]
    assert (closed["why"], closed["actor"]) == ("it lies in the outbox", os_user())
    assert closed["principal"] == "alice"


@pytest.mark.requirement("DOOR-6")
def test_closing_takes_what_happened_and_what_shows_it(cli: Cli, unknown: str) -> None:
    for options in ((), ("--happened",), ("--evidence", "x"), ("--happened", "--evidence", " ")):
        ran = cli("calls", "close", unknown, *options, "--json")
        assert (ran.code, ran.document["error"]["code"]) == (1, "EVIDENCE_MISSING")
    assert cli("calls", "close", unknown, "--happened", "--evidence", "x", "--as", "second").code == 3
    gone = cli("calls", "close", "nope", "--did-not-happen", "--evidence", "x", "--json")
    assert (gone.code, gone.document["error"]["code"]) == (3, "PRECONDITION_FAILED")
    assert "calls unknown" in gone.document["error"]["next"]
    assert cli("calls", "unknown", "--json").document["calls"]


def test_usage_shows_what_was_spent(cli: Cli, project: Path) -> None:
    cli("call", "read_note", '{"title": "a"}', "--task", "look")
    found = {(each["scope"], each["id"]): each["used"]["calls"] for each in cli("usage", "--json").document["usage"]}
    assert found == {("tenant", ""): 1, ("task", "look"): 1}
    assert "look" in cli("usage").out


@pytest.mark.requirement("IDEM-3")
def test_a_person_asks_the_tool_at_once_and_is_told_when_it_cannot_tell(cli: Cli, unknown: str) -> None:
    ran = cli("calls", "look-up", unknown[:30], "--json")
    assert (ran.code, ran.document["error"]["code"]) == (3, "PRECONDITION_FAILED")
    assert cli("calls", "look-up", unknown, "--as", "second").code == 3
    (listed,) = cli("calls", "unknown", "--json").document["calls"]
    assert (listed["looks"], listed["escalated"]) == (0, True)
    assert "a person" in cli("calls", "unknown").out


@pytest.mark.requirement("IDEM-3")
def test_a_tool_that_can_tell_settles_the_call(cli: Cli, project: Path) -> None:
    (project / "tools.py").write_text(TOOLS.replace("timeout_ms=50", "timeout_ms=50, reconcile=lambda text: text"))
    (project / "policies" / "starter.cedar").write_text(POLICY)
    lost = cli("call", "send_note", '{"text": "words"}', "--task", "t", "--json").document["operation_id"]
    ran = cli("calls", "look-up", lost, "--json")
    assert (ran.code, ran.document["status"]) == (0, "ok")


@pytest.mark.requirement("IDEM-3")
@pytest.mark.parametrize("looks", [("calls", "unknown"), ("tools", "list")])
def test_whoever_opens_the_store_hears_that_calls_were_settled_by_that(
    cli: Cli, project: Path, looks: tuple[str, ...]
) -> None:
    (project / "tools.py").write_text(TOOLS.replace("timeout_ms=50", "timeout_ms=50, reconcile=lambda text: text"))
    (project / "policies" / "starter.cedar").write_text(POLICY)
    cli("call", "send_note", '{"text": "words"}', "--task", "t")
    says = "1 call that was left open has been settled: `interlock audit query --kind call.closed`"
    ran = cli(*looks)
    assert says in ran.out + ran.err
    assert says not in (again := cli(*looks)).out + again.err


@pytest.mark.requirement("IDEM-3")
def test_where_it_takes_two_the_first_is_told_who_is_next(cli: Cli, project: Path) -> None:
    floor = TOOLS.replace("timeout_ms=50", "timeout_ms=50, approval_floor=ApprovalFloor(quorum=2)")
    (project / "tools.py").write_text("from interlock import ApprovalFloor\n" + floor)
    (project / "policies" / "starter.cedar").write_text(POLICY)
    with (project / "interlock.toml").open("a") as settings:
        settings.write('\n[[people]]\nid = "fourth"\ngroups = ["operator"]\n')
    asked = cli("call", "send_note", '{"text": "words"}', "--task", "t", "--json").document["approval_id"]
    assert cli("approvals", "approve", asked, "--yes", "--as", "second").code == 0
    lost = cli("approvals", "approve", asked, "--yes", "--run", "--as", "fourth", "--json").document["operation_id"]
    close = ("calls", "close", lost, "--happened", "--evidence", "it lies in the outbox", "--json")
    ran = cli(*close)
    assert (ran.code, ran.document["error"]["code"]) == (3, "APPROVAL_REQUIRED")
    assert "another operator" in ran.document["error"]["next"]
    assert "alice says that" in cli("calls", "unknown").out
    (listed,) = cli("calls", "unknown", "--json").document["calls"]
    assert listed["proposed"] == {"by": "alice", "happened": True, "evidence": "it lies in the outbox"}
    assert cli(*close).document["error"]["code"] == "PERMISSION_DENIED"
    assert cli(*close, "--as", "fourth").document["status"] == "ok"
