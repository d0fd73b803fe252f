"""`interlock call`: every call goes through the gate, and its exit code says how it stands."""

import io
import json
from pathlib import Path

import pytest

from interlock.doors.cli.session import os_user
from tests.unit.doors.cli.conftest import Cli
from tests.unit.doors.cli.test_agents import versions

__all__ = ["versions"]


def last_record(cli: Cli) -> dict[str, object]:
    record = cli("audit", "query", "--json").document["records"][-1]["record"]
    assert isinstance(record, dict)
    return record


@pytest.mark.requirement("AUD-1")
def test_a_call_is_on_record_with_the_door_the_principal_and_who_sat_there(cli: Cli, project: Path) -> None:
    ran = cli("call", "read_note", '{"title": "hello"}', "--json")
    assert (ran.code, ran.document["status"], ran.document["data"]) == (0, "ok", None)
    record = last_record(cli)
    assert (record["door"], record["principal"], record["actor"]) == ("cli", "alice", os_user())


@pytest.mark.requirement("DOOR-6")
def test_a_refused_call_ends_with_3_and_says_what_to_do(cli: Cli, project: Path) -> None:
    ran = cli("call", "save_note", '{"title": "hello", "text": "x"}', "--json")
    assert (ran.code, ran.document["status"]) == (3, "refused")
    assert ran.document["error"]["code"] == "IDEMPOTENCY_REQUIRED"
    assert "--task NAME" in ran.document["error"]["next"]
    people = cli("call", "read_nte", "{}")
    assert people.code == 3
    assert "TOOL_NOT_FOUND" in people.out
    assert "`interlock tools list`" in people.out


def test_a_waiting_call_ends_with_4_and_names_its_approval(cli: Cli, project: Path) -> None:
    ran = cli("call", "save_note", '{"title": "hello", "text": "x"}', "--task", "t")
    assert ran.code == 4
    approval = cli("approvals", "list", "--json").document["approvals"][0]["id"]
    assert f"interlock approvals approve {approval} --as ID --run" in ran.out


def test_who_is_chosen_by_as_has_their_own_rights_only(cli: Cli, project: Path) -> None:
    ran = cli("call", "read_note", '{"title": "hello"}', "--as", "second", "--json")
    assert ran.code == 3
    assert last_record(cli)["principal"] == "second"


@pytest.mark.requirement("REG-3")
def test_a_call_as_a_published_agent_is_made_in_the_version_that_the_agent_has(cli: Cli, versions: Path) -> None:
    note = '{"title": "hello"}'
    cli("agents", "set", "clerk", "--tool", "read_note=2")
    seen = cli("call", "read_note", note, "--agent", "clerk", "--explain", "--json").document
    assert (seen["status"], seen["version"], seen["meaning"]["why"]) == ("ok", "2", "pinned")
    record = last_record(cli)
    assert (record["agent"], record["version"]) == ("clerk", "2")
    cli("agents", "pin", "clerk", "read_note", "1")  # whose code is not in this project
    lost = cli("call", "read_note", note, "--agent", "clerk", "--explain", "--json")
    assert (lost.code, lost.document["error"]["code"]) == (3, "TOOL_UNAVAILABLE")
    assert (lost.document["meaning"]["version"], lost.document["meaning"]["why"]) == ("1", "missing")
    assert lost.document["error"]["next"].startswith("`interlock agents explain clerk read_note`")
    text = cli("call", "save_note", "{}", "--agent", "clerk", "--explain").out
    assert "save_note means nothing that may be called (TOOL_NOT_ALLOWED) to alice in clerk:" in text
    assert "`interlock agents explain clerk save_note` says" in text
    assert "read_note means 2 to alice:\n- it is the default version" in cli("call", "read_note", note, "--explain").out


def test_the_arguments_of_the_version_that_an_agent_has_are_what_a_refusal_leads_to(cli: Cli, versions: Path) -> None:
    cli("agents", "set", "clerk", "--tool", "read_note=2")
    lead = cli("call", "read_note", "--agent", "clerk", "--json").document["error"]["next"]
    assert lead == "`interlock tools show read_note --version 2` shows its arguments."
    ran = cli("tools", "show", "read_note", "--version", "1", "--json")
    assert (ran.code, ran.document["spec"]["version"]) == (0, "1")
    assert cli("tools", "show", "read_note", "--version", "9", "--json").document["error"]["code"] == "TOOL_UNKNOWN"


def test_an_agent_that_nobody_has_published_is_told_and_has_the_default(cli: Cli, versions: Path) -> None:
    cli("agents", "set", "clerk", "--tool", "read_note=2")
    note = '{"title": "hello"}'
    assert "No agent clark is published" in cli("call", "read_note", note, "--agent", "clark").err
    assert "is published" not in cli("call", "read_note", note, "--agent", "clerk").err


def test_who_calls_what_is_to_be_retired_is_told_beside_the_result(cli: Cli, project: Path) -> None:
    cli("tools", "retire", "read_note", "--on", "2999-01-31", "--reason", "why")
    assert "read_note is to be retired on 2999-01-31." in cli("call", "read_note", '{"title": "hello"}').out


def test_arguments_are_read_from_standard_input(cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"title": "hello"}')))
    assert cli("call", "read_note", "-", "--json").document["resource"] == "Note/hello"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"title": "a", "title": "b"}')))
    assert cli("call", "read_note", "-", "--json").document["error"]["code"] == "INVALID_JSON"


@pytest.mark.requirement("DOOR-6")
def test_neither_results_nor_names_can_write_to_the_terminal(cli: Cli, project: Path) -> None:
    (project / "notes").mkdir()
    (project / "notes" / "evil.txt").write_text("\x1b]0;owned\x07\x1b[2J\u202e\x9b31m")
    for name, arguments in (("read_note", {"title": "evil"}), ("x\x1b[2J", {})):
        ran = cli("call", name, json.dumps(arguments))
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(ran.out + ran.err)
    as_json = cli("call", "read_note", '{"title": "evil"}', "--json")
    assert as_json.out.isascii()
    assert "\x1b" not in as_json.out


@pytest.mark.requirement("APR-4", "APR-5")
def test_a_call_that_is_approved_already_says_how_to_resume_it_and_asks_nobody_again(cli: Cli, waiting: str) -> None:
    assert cli("approvals", "approve", waiting, "--as", "second", "--yes").code == 0
    again = cli("call", "save_note", '{"title": "hello", "text": "Good morning."}', "--task", "t", "--json")
    assert (again.code, again.document["approval_id"]) == (4, waiting)
    assert again.document["error"]["next"] == f"`interlock approvals resume {waiting}`."
    assert cli("approvals", "list", "--json").document["approvals"] == []
    assert cli("approvals", "resume", waiting).code == 0
