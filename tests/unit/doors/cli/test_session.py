"""Sessions: policies put in force the first time only, and ids that are given by their beginning."""

from pathlib import Path

import pytest

from interlock.core.call import Principal
from interlock.doors.cli.faults import IdAmbiguous
from interlock.doors.cli.session import not_operator, os_user, whole_id
from tests.unit.doors.cli.conftest import Cli


def test_an_id_may_be_given_by_its_beginning_if_that_names_one() -> None:
    known = ["abcd1", "abcd2", "abxx9"]
    assert whole_id("abxx", known) == "abxx9"
    assert whole_id("xyz", known) == "xyz"
    assert whole_id("", known) == ""
    assert whole_id("abcd2", known) == "abcd2"
    assert whole_id("nope", known) == "nope"
    with pytest.raises(IdAmbiguous, match=r"^2 ids begin with abcd: abcd1, abcd2$"):
        whole_id("abcd", known)
    with pytest.raises(IdAmbiguous, match=r"^1 id begins with abx: abxx9$"):
        whole_id("abx", known)
    with pytest.raises(IdAmbiguous, match=r"^5 ids begin with a: a0, a1, a2, and 2 more$"):
        whole_id("a", [f"a{each}" for each in range(5)])


def test_policies_are_put_in_force_where_there_are_none_and_changed_by_save_alone(cli: Cli, project: Path) -> None:
    assert "are now in force" in cli("tools", "list").err
    policy = project / "policies" / "starter.cedar"
    policy.write_text('@id("none") forbid (principal, action, resource);')
    assert "read_note" in cli("tools", "list").out
    assert cli("policy", "save", "--yes").code == 0
    assert "No policy lets this person call any tool" in cli("tools", "list").out


def test_a_folder_of_policies_that_is_not_there_is_said_where_everything_is_refused(cli: Cli, project: Path) -> None:
    settings = project / "interlock.toml"
    settings.write_text(settings.read_text().replace('policies = "policies"', 'policies = "polices"'))
    for command in (("tools", "list"), ("call", "read_note", '{"title": "hello"}')):
        assert "no .cedar file in" in cli(*command).err


def test_a_project_elsewhere_is_named_by_its_folder(cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert cli("tools", "list").code == 1
    assert "read_note" in cli("tools", "list", "--project", str(project)).out
    assert (project / "interlock.db").exists()


@pytest.mark.requirement("DOOR-6")
def test_only_those_whom_the_project_names_can_act(cli: Cli, project: Path) -> None:
    ran = cli("tools", "list", "--as", "secnd", "--json")
    assert ran.code == 1
    assert "nobody called 'secnd'; did you mean 'second'" in ran.document["error"]["message"]


def test_the_account_is_not_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    before = os_user()
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME", "SUDO_USER"):
        monkeypatch.setenv(name, "mallory")
    assert os_user() == before != "mallory"


def test_operators_and_others() -> None:
    assert not_operator(Principal("t", "a", groups=frozenset({"operator"})), "It") is None
    deny = not_operator(Principal("t", "a"), "It")
    assert deny is not None
    assert deny.message == "It takes the group operator; a does not have it."
