"""`interlock approvals`: the whole operation is shown, somebody else decides, it runs once, and it is on record."""

import io
from pathlib import Path

import pytest

from interlock.doors.cli.session import os_user
from tests.unit.doors.cli.conftest import Cli
from tests.unit.doors.cli.test_asking import Terminal

EDITED = '{"title": "other", "text": "Good evening."}'


def state(cli: Cli, approval: str) -> object:
    return cli("approvals", "show", approval, "--json").document["state"]


def votes(cli: Cli) -> list[dict[str, object]]:
    return [
        each["record"]
        for each in cli("audit", "query", "--json").document["records"]
        if each["kind"].startswith("approval.")
    ]


@pytest.mark.requirement("APR-3")
def test_who_asked_may_not_approve_and_nothing_runs(cli: Cli, project: Path, waiting: str) -> None:
    ran = cli("approvals", "approve", waiting, "--run", "--yes", "--json")
    assert (ran.code, ran.document["error"]["code"]) == (3, "PERMISSION_DENIED")
    assert "--as ID" in ran.document["error"]["next"]
    assert state(cli, waiting) == "pending"
    assert not (project / "notes").exists()


@pytest.mark.requirement("APR-3")
def test_an_approver_sees_all_of_it_and_lets_it_run_once(cli: Cli, project: Path, waiting: str) -> None:
    ran = cli("approvals", "approve", waiting, "--as", "second", "--run", "--yes", "--note", "fine", "--json")
    assert (ran.code, ran.document["status"], ran.document["data"]) == (0, "ok", "hello")
    assert 'text: "Good morning."' in ran.err
    assert (project / "notes" / "hello.txt").read_text() == "Good morning."
    again = cli("approvals", "resume", waiting, "--json")
    assert (again.code, again.document["replayed"]) == (0, True)


@pytest.mark.requirement("AUD-1")
def test_who_really_sat_there_is_on_record_with_the_vote(cli: Cli, project: Path, waiting: str) -> None:
    cli("approvals", "decline", waiting, "--as", "second", "--note", "no")
    (vote,) = votes(cli)
    assert vote["principal"] == "second"
    assert (vote["note"], vote["actor"]) == ("no", os_user())


def test_after_approving_it_says_how_to_let_it_run(cli: Cli, project: Path, waiting: str) -> None:
    ran = cli("approvals", "approve", waiting, "--as", "second", "--yes")
    assert f"`interlock approvals resume {waiting}` lets it run" in ran.out
    assert not (project / "notes").exists()
    assert cli("approvals", "resume", waiting).code == 0
    assert (project / "notes" / "hello.txt").exists()


@pytest.mark.parametrize(("typed", "becomes"), [("y\n", "granted"), ("\n", "pending"), ("n\n", "pending")])
def test_at_a_terminal_only_a_clear_yes_approves(
    cli: Cli, waiting: str, monkeypatch: pytest.MonkeyPatch, typed: str, becomes: str
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    ran = cli("approvals", "approve", waiting, "--as", "second", "--json")
    assert (ran.code == 0) is (becomes == "granted")
    assert "Approve this as second? [y/N]" in ran.err
    assert state(cli, waiting) == becomes


@pytest.mark.requirement("APR-3")
@pytest.mark.parametrize("piped", ["n\n", "y\n", ""])
def test_a_pipe_approves_nothing(
    cli: Cli, project: Path, waiting: str, monkeypatch: pytest.MonkeyPatch, piped: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(piped))
    ran = cli("approvals", "approve", waiting, "--as", "second", "--run", "--json")
    assert (ran.code, ran.document["error"]["code"]) == (1, "NOT_CONFIRMED")
    assert "--yes" in ran.document["error"]["next"]
    assert state(cli, waiting) == "pending"
    assert not (project / "notes").exists()


def test_what_has_come_to_its_end_is_said_to_who_comes_late_without_asking_anything(cli: Cli, waiting: str) -> None:
    cli("approvals", "decline", waiting, "--as", "second")
    ran = cli("approvals", "approve", waiting, "--as", "second", "--json")
    assert (ran.code, ran.document["error"]["code"]) == (3, "APPROVAL_DENIED")
    assert "approvals list --all" in ran.document["error"]["next"]
    assert "[y/N]" not in ran.err


def test_too_little_of_an_id_is_told_as_that_and_not_as_no_approval(cli: Cli, waiting: str) -> None:
    error = cli("approvals", "show", waiting[:2], "--json").document["error"]
    assert (error["code"], error["message"]) == ("ID_AMBIGUOUS", f"1 id begins with {waiting[:2]}: {waiting}")
    assert "at least four characters" in error["next"]


def test_the_beginning_of_an_id_is_enough(cli: Cli, project: Path, waiting: str) -> None:
    assert cli("approvals", "show", waiting[:30], "--json").document["id"] == waiting
    assert cli("approvals", "approve", waiting[:30], "--as", "second", "--yes", "--run").code == 0
    assert (project / "notes" / "hello.txt").exists()


def test_what_waits_can_be_read_and_declined_whatever_the_code_has_come_to(
    cli: Cli, project: Path, waiting: str
) -> None:
    (project / "tools.py").write_text("def (")
    assert waiting in cli("approvals", "list").out
    assert "Good morning." in cli("approvals", "show", waiting).out
    assert cli("approvals", "decline", waiting, "--as", "second").code == 0
    assert cli("audit", "verify").code == 0


def test_a_declined_operation_never_runs(cli: Cli, project: Path, waiting: str) -> None:
    assert cli("approvals", "decline", waiting, "--as", "second", "--json").document["state"] == "denied"
    ran = cli("approvals", "resume", waiting, "--json")
    assert (ran.code, ran.document["status"]) == (3, "refused")
    assert not (project / "notes").exists()


@pytest.mark.requirement("APR-7")
def test_a_question_can_be_taken_back_by_who_asked_and_is_on_record(cli: Cli, waiting: str) -> None:
    assert cli("approvals", "withdraw", waiting, "--as", "second").code == 3
    assert cli("approvals", "withdraw", waiting, "--json").document["state"] == "withdrawn"
    assert cli("approvals", "approve", waiting, "--as", "second").code == 3
    assert [each["state"] for each in votes(cli)] == ["withdrawn"]


@pytest.mark.requirement("APR-7")
def test_an_approval_that_nobody_used_can_be_taken_back_by_who_gave_it(cli: Cli, project: Path, waiting: str) -> None:
    cli("approvals", "approve", waiting, "--as", "second", "--yes")
    assert cli("approvals", "withdraw", waiting, "--as", "second").code == 0
    assert cli("approvals", "resume", waiting).code == 3
    assert not (project / "notes").exists()


def test_edited_arguments_are_asked_for_afresh(cli: Cli, project: Path, waiting: str) -> None:
    ran = cli("approvals", "edit", waiting, EDITED, "--as", "second", "--json")
    assert (ran.code, ran.document["status"]) == (4, "waiting")
    assert state(cli, waiting) == "void"
    assert "Good evening." in cli("approvals", "show", ran.document["approval_id"]).out


@pytest.mark.requirement("APR-3")
def test_who_edited_it_is_told_that_somebody_else_has_to_decide_and_one_is_there(
    cli: Cli, project: Path, waiting: str
) -> None:
    ran = cli("approvals", "edit", waiting, EDITED, "--as", "second", "--yes", "--json")
    asked = str(ran.document["approval_id"])
    step = f"Somebody else has to decide it: `interlock approvals approve {asked} --as ID --run`."
    assert ran.document["error"]["next"] == step
    refused = cli("approvals", "approve", asked, "--as", "second", "--yes", "--run", "--json")
    assert (refused.code, refused.document["error"]["message"]) == (3, "Who edited it may not approve it.")
    assert cli("approvals", "approve", asked, "--as", "third", "--yes", "--run").code == 0
    assert (project / "notes" / "other.txt").read_text() == "Good evening."


def test_who_edited_it_may_decide_it_where_policy_says_so(cli: Cli, project: Path) -> None:
    policy = project / "policies" / "starter.cedar"
    policy.write_text(policy.read_text().replace('@lifetime("8h")', '@lifetime("8h")\n@self_approval("allowed")'))
    arguments = '{"title": "hello", "text": "Good morning."}'
    waiting = cli("call", "save_note", arguments, "--task", "t", "--json").document["approval_id"]
    ran = cli("approvals", "edit", waiting, EDITED, "--as", "second", "--json")
    assert "Somebody else" not in ran.document["error"]["next"]
    assert cli("approvals", "approve", ran.document["approval_id"], "--as", "second", "--yes", "--run").code == 0


def test_secrets_are_shown_to_who_may_decide_and_that_is_on_record(cli: Cli, project: Path, waiting: str) -> None:
    ran = cli("approvals", "reveal", waiting, "--as", "second", "--json")
    assert ran.document["arguments"] == {"title": "hello", "text": "Good morning."}
    assert cli("approvals", "reveal", waiting).code == 3
    kinds = [each["kind"] for each in cli("audit", "query", "--json").document["records"]]
    assert kinds.count("secret.revealed") == 1


def test_what_waits_is_listed_and_what_is_decided_only_when_asked_for(cli: Cli, waiting: str) -> None:
    assert waiting in cli("approvals", "list").out
    cli("approvals", "decline", waiting, "--as", "second")
    assert cli("approvals", "list").out == "Nothing waits.\n"
    assert waiting in cli("approvals", "list", "--all").out


@pytest.mark.parametrize(
    "verb", [("show",), ("approve",), ("decline",), ("withdraw",), ("resume",), ("reveal",), ("edit", "{}")]
)
def test_an_approval_that_is_not_there_is_refused_with_where_to_look(
    cli: Cli, project: Path, verb: tuple[str, ...]
) -> None:
    ran = cli("approvals", verb[0], "nope", *verb[1:], "--json")
    assert (ran.code, ran.document["error"]["message"]) == (3, "There is no such approval.")
    assert "approvals list --all" in ran.document["error"]["next"]


def test_an_approver_is_shown_what_cannot_be_seen(cli: Cli, project: Path) -> None:
    arguments = '{"title": "evil", "text": "pay\\u202e\\u001b[2J"}'
    waiting = cli("call", "save_note", arguments, "--task", "t", "--json").document["approval_id"]
    ran = cli("approvals", "show", waiting)
    assert 'text: "pay⟨U+202E⟩⟨U+001B⟩[2J' in ran.out
