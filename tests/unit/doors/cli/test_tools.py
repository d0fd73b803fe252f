"""`interlock tools`: a listing by the same policy that decides, contracts, and the switches."""

from pathlib import Path

import pytest

from interlock.doors.cli.session import os_user
from tests.unit.doors.cli.conftest import Cli

READ = ("call", "read_note", '{"title": "hello"}', "--json")


@pytest.mark.requirement("POL-5")
def test_a_listing_hides_only_what_policy_never_allows(cli: Cli, project: Path) -> None:
    assert [each["name"] for each in cli("tools", "list", "--json").document["tools"]] == ["read_note", "save_note"]
    assert cli("tools", "list", "--as", "second", "--json").document["tools"] == []
    shown = cli("tools", "list", "--all", "--as", "second", "--json").document["tools"]
    assert [(each["name"], each["visible"]) for each in shown] == [("read_note", False), ("save_note", False)]


def test_a_contract_is_shown_whole(cli: Cli, project: Path) -> None:
    document = cli("tools", "show", "save_note", "--json").document
    assert document["spec"]["effect"] == "write"
    assert document["spec"]["idempotency"]["fields"] == ["title"]
    assert [each["digest"] for each in document["versions"]] == [document["digest"]]
    text = cli("tools", "show", "save_note").out
    assert "Same effect by" in text
    assert "Undone by:     nothing" in text
    assert '"maxLength": 10000' in text


@pytest.mark.requirement("REG-1")
def test_a_tool_that_is_not_there_is_said_with_where_to_look(cli: Cli, project: Path) -> None:
    ran = cli("tools", "show", "nope", "--json")
    assert (ran.code, ran.document["error"]["code"]) == (1, "TOOL_UNKNOWN")
    assert "tools list --all" in ran.document["error"]["next"]


@pytest.mark.requirement("REG-1")
def test_a_published_version_that_changed_is_refused_with_what_to_do(cli: Cli, project: Path) -> None:
    cli("tools", "list")
    tools = project / "tools.py"
    tools.write_text(tools.read_text().replace('return path.read_text(encoding="utf-8")', "return path.read_text()"))
    ran = cli(*READ)
    assert (ran.code, ran.document["error"]["code"]) == (1, "VERSION_EXISTS")
    assert 'version="2"' in ran.document["error"]["next"]


@pytest.fixture
def edited(cli: Cli, project: Path, waiting: str) -> Path:
    """The tools file with a changed description, after it was in use."""
    tools = project / "tools.py"
    tools.write_text(tools.read_text().replace("Read one note", "Read any note"))
    return tools


@pytest.mark.requirement("REG-1")
@pytest.mark.parametrize(
    "verb",
    [
        ("audit", "verify"),
        ("audit", "query"),
        ("approvals", "list"),
        ("usage",),
        ("calls", "unknown"),
        ("policy", "check"),
        ("tools", "list"),
        ("tools", "show", "save_note"),
        ("tools", "freeze", "read_note", "--reason", "why"),
    ],
)
def test_a_changed_tool_stands_only_in_its_own_way(cli: Cli, edited: Path, verb: tuple[str, ...]) -> None:
    assert cli(*verb).code == 0


@pytest.mark.requirement("REG-1")
def test_a_changed_tool_is_named_and_cannot_be_called_until_it_has_a_new_version(cli: Cli, edited: Path) -> None:
    assert "read_note has changed since its version 1 was published" in cli("tools", "list").err
    for verb in (
        ("call", "read_note", '{"title": "hello"}'),
        ("tools", "show", "read_note"),
        ("policy", "explain", "read_note"),
    ):
        error = cli(*verb, "--json").document["error"]
        assert error["code"] == "VERSION_EXISTS"
        assert "/description" in [each["field"] for each in error["details"]["changes"]]
        assert "put back what differs" in error["next"]
    assert "/description: " in cli("call", "read_note").err
    check = cli("tools", "check", "--json")
    assert (check.code, len(check.document["changed"])) == (1, 1)
    assert check.document["differs"]["read_note"] == error["details"]["changes"]
    assert "    /description: " in cli("tools", "check").out
    edited.write_text(edited.read_text().replace('effect="read",', 'effect="read", version="2",', 1))
    assert cli("tools", "check").code == 0
    called = cli(*READ)
    assert called.code == 0
    assert "read_note 2 is published now, beside 1: " in called.err
    assert "is published" not in cli(*READ).err


def test_a_tool_is_closed_also_where_the_code_cannot_be_loaded(cli: Cli, edited: Path) -> None:
    edited.write_text("def (")
    assert cli("tools", "freeze", "read_note", "--reason", "why").code == 0


@pytest.mark.requirement("TOOL-5")
def test_a_handler_that_does_not_fit_its_schema_is_refused_by_check(cli: Cli, project: Path) -> None:
    text = (
        "from interlock import tool\n"
        "@tool(effect='read', input_schema={'type': 'object', 'properties': {'b': {'type': 'string'}}})\n"
        "def read_it(a: str) -> str:\n    'Read it.'\n    return a\n"
    )
    (project / "tools.py").write_text(text)
    ran = cli("tools", "check", "--json")
    assert (ran.code, ran.document["error"]["code"]) == (1, "SPEC_INVALID")
    assert not (project / "interlock.db").exists()


@pytest.mark.requirement("TOOL-5")
@pytest.mark.requirement("IDEM-6")
@pytest.mark.parametrize("compensate", ["nobody", "read_note"])
def test_a_tool_that_nothing_can_undo_as_it_says_is_refused_by_check(cli: Cli, project: Path, compensate: str) -> None:
    tools = project / "tools.py"
    tools.write_text(tools.read_text().replace('effect="write"', f'effect="write", compensate="{compensate}"'))
    ran = cli("tools", "check", "--json")
    assert (ran.code, ran.document["error"]["code"]) == (1, "SPEC_INVALID")
    assert f"compensate names '{compensate}'" in ran.document["error"]["message"]


def test_check_advises_and_fails_only_when_strict(cli: Cli, project: Path) -> None:
    (project / "tools.py").write_text(
        "from interlock import tool\n@tool(effect='write')\ndef run(x: str) -> str:\n    'Do it.'\n    return x\n"
    )
    ran = cli("tools", "check")
    assert ran.code == 0
    assert "run: run says nothing" in ran.out
    assert "(unbounded-write)" in ran.out
    assert cli("tools", "check", "--strict").code == 1


def test_a_frozen_tool_takes_no_calls_until_it_is_released(cli: Cli, project: Path) -> None:
    assert cli("tools", "freeze", "read_note", "--reason", "trouble").code == 0
    ran = cli(*READ)
    assert (ran.code, ran.document["error"]["code"]) == (3, "TOOL_FROZEN")
    assert "tools release read_note" in ran.document["error"]["next"]
    assert cli("tools", "release", "read_note", "--reason", "why").code == 0
    assert cli(*READ).code == 0
    moved = cli("audit", "query", "--kind", "tool.moved", "--json").document["records"][0]["record"]
    assert (moved["reason"], moved["actor"]) == ("trouble", os_user())


def test_a_retired_tool_stays_retired(cli: Cli, project: Path) -> None:
    assert (
        cli("tools", "retire", "read_note", "--reason", "why", "--yes", "--json").document["versions"][0]["state"]
        == "retired"
    )
    assert cli("tools", "release", "read_note", "--reason", "why").code == 1
    assert cli(*READ).document["error"]["code"] == "TOOL_RETIRED"


@pytest.mark.parametrize("verb", ["freeze", "release", "retire"])
def test_only_operators_turn_the_switches(cli: Cli, project: Path, verb: str) -> None:
    ran = cli("tools", verb, "read_note", "--reason", "why", "--as", "second", "--json")
    assert (ran.code, ran.document["error"]["code"]) == (3, "PERMISSION_DENIED")
    assert cli(*READ).code == 0


def test_a_misspelled_name_is_told_the_nearest_that_this_person_may_see(cli: Cli, project: Path) -> None:
    error = cli("tools", "show", "reed_note", "--json").document["error"]
    assert error["message"] == "there is no tool named 'reed_note'; did you mean read_note or save_note?"
    assert error["next"].startswith("`interlock tools show read_note` shows the nearest")
    hidden = cli("tools", "show", "reed_note", "--as", "second", "--json").document["error"]
    absent = cli("tools", "show", "zzzz", "--as", "second", "--json").document["error"]
    assert "read_note" not in str(hidden)
    assert {**hidden, "message": absent["message"]} == absent


def test_the_list_of_all_shows_every_version_and_which_one_a_name_means(cli: Cli, project: Path) -> None:
    cli("tools", "list")
    tools = project / "tools.py"
    text = (
        tools.read_text().replace('effect="read",', 'effect="read", version="2",').replace("Read one note", "Read it")
    )
    tools.write_text(text)
    listed = [(each["version"], each["default"]) for each in cli("tools", "list", "--json").document["tools"]]
    assert listed == [("2", True), ("1", True)]
    cli("tools", "freeze", "read_note", "--version", "1", "--reason", "old")
    found = cli("tools", "list", "--all", "--json").document["tools"]
    assert [(each["name"], each["version"], each["default"], each["state"]) for each in found] == [
        ("read_note", "2", True, "available"),
        ("read_note", "1", False, "frozen"),
        ("save_note", "1", True, "available"),
    ]
    assert "(1)" in cli("tools", "list", "--all").out
