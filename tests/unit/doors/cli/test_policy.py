"""`interlock policy`: a change is shown before it is made, and a decision says which policies made it."""

from pathlib import Path

import pytest

from tests.unit.doors.cli.conftest import Cli

READ = ("read_note", '{"title": "hello"}')
FORBID = '\n@id("closed") @reason("Closed today.") forbid (principal, action == Action::"read_note", resource);\n'
NEW = '''
@tool(effect="read", owner="notes")
def read_more() -> str:
    """Read more."""
    return ""
'''


@pytest.fixture
def changed(project: Path, cli: Cli, waiting: str) -> Path:
    """The starter policy with a change that is not saved yet, and an approval waiting under the old one."""
    policy = project / "policies" / "starter.cedar"
    policy.write_text(policy.read_text().replace('@lifetime("8h")', '@lifetime("4h")') + FORBID)
    return policy


@pytest.mark.requirement("POL-4")
def test_an_explanation_names_the_policies_and_their_slice(cli: Cli, project: Path) -> None:
    verdict = cli("policy", "explain", *READ, "--json").document["verdict"]
    assert (verdict["answer"], verdict["policies"]) == ("allow", ["starter/owners-read"])
    assert len(verdict["slice_digest"]) == 64
    text = cli("policy", "explain", *READ).out
    assert "starter/owners-read" in text
    assert verdict["slice_digest"] in text
    audited = cli("audit", "query", "--json").document["records"]
    assert not [each for each in audited if each["kind"].startswith("call.")]


@pytest.mark.requirement("POL-7")
def test_a_change_is_shown_with_tools_and_approvals_and_changes_nothing(cli: Cli, changed: Path, waiting: str) -> None:
    document = cli("policy", "check", "--json").document
    assert {each["tool"] for each in document["tools"]} == {"read_note", "save_note"}
    assert document["approvals"] == [waiting]
    assert cli("policy", "explain", *READ, "--json").document["verdict"]["answer"] == "allow"


@pytest.mark.requirement("POL-7")
def test_saving_shows_the_change_first_and_then_it_decides(cli: Cli, changed: Path, waiting: str) -> None:
    assert cli("policy", "save").code == 1
    assert cli("policy", "explain", *READ, "--json").document["verdict"]["answer"] == "allow"
    ran = cli("policy", "save", "--yes")
    assert ran.code == 0
    assert "It changes the rules of: read_note, save_note." in ran.err
    assert f"It voids these approvals, which wait or were not used yet: {waiting}." in ran.err
    assert cli("approvals", "list").out == "Nothing waits.\n"
    assert cli("approvals", "show", waiting, "--json").document["state"] == "void"
    assert cli("policy", "explain", *READ, "--json").document["verdict"]["answer"] == "deny"


def test_a_tool_that_there_is_not_cannot_be_explained_and_the_next_step_is_another_verb(
    cli: Cli, project: Path
) -> None:
    ran = cli("policy", "explain", "nope", "--json")
    assert (ran.code, ran.document["error"]["code"]) == (3, "TOOL_NOT_FOUND")
    assert "policy explain" not in ran.document["error"]["next"]


@pytest.mark.requirement("POL-7")
def test_whoever_asks_hears_that_the_files_are_not_what_is_in_force_until_they_are_saved(
    cli: Cli, changed: Path
) -> None:
    says = "the files in policies/ differ from what is in force: `interlock policy save`"
    explained = cli("policy", "explain", *READ, "--json").document
    assert explained["attention"] == [f"By what is in force; {says}."]
    assert says in cli("policy", "explain", *READ).out
    assert cli("policy", "explain", *READ, "--unsaved", "--json").document["attention"] == []
    ran = cli("doctor", "--json")
    found = {each["name"]: each["found"] for each in ran.document["checks"]}
    assert (ran.code, found["policies"]) == (1, says)
    assert cli("policy", "save", "--yes").code == 0
    assert cli("policy", "explain", *READ, "--json").document["attention"] == []
    assert cli("doctor", "--json").code == 0
    more = changed.with_name("more.cedar")
    more.write_text("forbid (principal, action, resource);")
    assert cli("doctor", "--json").code == 1
    more.unlink()
    assert cli("doctor", "--json").code == 0


def test_files_that_are_not_saved_can_be_explained(cli: Cli, changed: Path) -> None:
    verdict = cli("policy", "explain", *READ, "--unsaved", "--json").document["verdict"]
    assert (verdict["answer"], verdict["policies"]) == ("deny", ["starter/closed"])
    assert "Closed today." in verdict["reason"]


def test_a_policy_that_does_not_fit_is_named_and_not_saved(cli: Cli, project: Path) -> None:
    cli("tools", "list")
    (project / "policies" / "more.cedar").write_text('permit (principal, action == Action::"raed_note", resource);')
    for verb in ("check", "save"):
        ran = cli("policy", verb, "--json")
        assert (ran.code, ran.document["error"]["code"]) == (1, "POLICY_INVALID")
        assert "did you mean 'read_note'" in ran.document["error"]["message"]
    assert cli("policy", "explain", *READ).code == 0


def test_only_operators_save(cli: Cli, changed: Path) -> None:
    assert cli("policy", "save", "--as", "second").code == 3
    assert cli("policy", "explain", *READ, "--json").document["verdict"]["answer"] == "allow"


def test_checking_counts_tools_that_are_new_and_publishes_none(cli: Cli, project: Path) -> None:
    cli("tools", "list")
    tools = project / "tools.py"
    tools.write_text(tools.read_text() + NEW)
    (project / "policies" / "more.cedar").write_text('permit (principal, action == Action::"read_more", resource);')
    ran = cli("policy", "check", "--json")
    assert ran.code == 0
    assert "read_more" in {each["tool"] for each in ran.document["tools"]}
    registered = cli("audit", "query", "--kind", "tool.registered", "--json").document["records"]
    assert len(registered) == 1


def test_checking_makes_no_store(cli: Cli, project: Path) -> None:
    ran = cli("policy", "check")
    assert ran.code == 0
    assert "no store yet" in ran.out
    assert not list(project.glob("interlock.db*"))


def test_a_call_that_cannot_be_proposed_is_refused(cli: Cli, project: Path) -> None:
    assert cli("policy", "explain", "read_note", "{}").code == 3


def test_cases_that_are_decided_otherwise_end_with_1(cli: Cli, changed: Path) -> None:
    ran = cli("policy", "test", "--json")
    assert (ran.code, ran.document["failed"]) == (1, 1)
    wrong = [each for each in ran.document["cases"] if each["expect"] != each["answer"]]
    assert [each["answer"] for each in wrong] == ["deny"]
    assert "Closed today." in cli("policy", "test").out
