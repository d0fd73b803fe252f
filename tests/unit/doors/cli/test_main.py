"""The whole command: its tree of verbs, and one answer for whatever happens."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer.main

import interlock
from interlock.doors.cli import main, session
from tests.golden import check_golden
from tests.unit.doors.cli.conftest import Cli


@pytest.mark.requirement("DOOR-6")
def test_the_tree_of_verbs_is_what_its_golden_file_holds() -> None:
    check_golden("cli_help.txt", "\n".join(_tree(typer.main.get_command(main.app), "interlock")) + "\n")


def test_a_verb_is_the_same_where_the_others_are_not_made() -> None:
    whole: Any = typer.main.get_command(main.app)
    words = list(whole.commands)
    assert len(words) > 15
    for word in words:
        part = main.tree_for(word)
        alone, beside = ({word: each.commands[word]} for each in (part, whole))
        assert len(part.commands) < len(words)
        assert [*_tree(SimpleNamespace(commands=alone), "")] == [*_tree(SimpleNamespace(commands=beside), "")] != []
    for word in ("", "--help", "lst"):
        assert list(main.tree_for(word).commands) == words


@pytest.mark.requirement("DOOR-6")
def test_every_verb_takes_json_project_and_as() -> None:
    verbs = list(_verbs(typer.main.get_command(main.app), "interlock"))
    assert len(verbs) > 30
    for path, verb in verbs:
        options = {each for parameter in verb.params for each in parameter.opts}
        assert {"--json", "--project", "--as"} <= options, path


@pytest.mark.requirement("DOOR-6")
@pytest.mark.parametrize(
    "arguments", [("tools", "lst"), ("call",), ("call", "x", "--nope"), ("audit", "query", "--limit", "0")]
)
def test_a_misunderstood_command_line_says_where_help_is(cli: Cli, arguments: tuple[str, ...]) -> None:
    ran = cli(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert "--help` shows what it takes." in ran.err
    as_json = cli(*arguments, "--json")
    assert as_json.code == 2
    assert as_json.document["error"]["code"] == "USAGE"
    assert as_json.err == ""


@pytest.mark.requirement("DOOR-6")
def test_without_a_project_the_answer_says_how_to_make_one(cli: Cli) -> None:
    ran = cli("tools", "list", "--json")
    assert ran.code == 1
    assert ran.document["error"]["code"] == "PROJECT_MISSING"
    assert "`interlock init` makes one" in ran.document["error"]["next"]
    assert cli("tools", "list").err.startswith("PROJECT_MISSING: there is no interlock.toml")


def test_json_behind_two_dashes_is_an_argument(cli: Cli) -> None:
    ran = cli("call", "--", "x", "--json")
    with pytest.raises(json.JSONDecodeError):
        json.loads(ran.out or ran.err)


@pytest.mark.parametrize("fault", [RuntimeError("boom"), OSError("no space"), KeyboardInterrupt()])
def test_whatever_happens_there_is_one_document(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, fault: BaseException
) -> None:
    def broken() -> str:
        raise fault

    monkeypatch.setattr(session, "os_user", broken)
    ran = cli("init", "--json")
    assert ran.code == (130 if isinstance(fault, KeyboardInterrupt) else 1)
    assert set(ran.document["error"]) == {"code", "message", "next"}


@pytest.mark.requirement("DOOR-6")
@pytest.mark.parametrize(("arguments", "shows"), [((), "approvals"), (("tools",), "freeze"), (("--json",), "doctor")])
def test_a_group_of_verbs_alone_shows_its_help(cli: Cli, arguments: tuple[str, ...], shows: str) -> None:
    ran = cli(*arguments)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("Usage: interlock")
    assert shows in ran.out


def test_the_version_is_told(cli: Cli) -> None:
    assert cli("--version").out == f"{interlock.__version__}\n"


@pytest.mark.requirement("DOOR-6")
@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (["--json", "tools", "list"], ["tools", "list", "--json"]),
        (
            ["--project", "d", "--as=b", "call", "x", "--", "--json"],
            ["call", "x", "--project", "d", "--as=b", "--", "--json"],
        ),
        (["call", "x", "--as", "b"], ["call", "x", "--as", "b"]),
        (["--project"], []),
        ([], []),
    ],
)
def test_options_of_every_verb_may_stand_in_front_of_it(given: list[str], meant: list[str]) -> None:
    assert main.in_order(given) == meant


def test_a_project_may_be_named_first(cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert cli("--project", str(project), "--json", "tools", "list").document["tools"]


def test_help_is_no_answer_and_no_error(cli: Cli) -> None:
    ran = cli("audit", "verify", "--help")
    assert ran.code == 0
    assert "--fingerprint" in ran.out


def _verbs(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    for name, each in getattr(command, "commands", {}).items():
        if hasattr(each, "commands"):
            yield from _verbs(each, f"{path} {name}")
        else:
            yield f"{path} {name}", each


def _tree(command: Any, path: str) -> Iterator[str]:
    for place, verb in _verbs(command, path):
        yield f"{place}: {verb.help.splitlines()[0]}"
        for parameter in verb.params:
            names = [*parameter.opts, *parameter.secondary_opts]
            if not {"--json", "--project", "--as"} & set(names):
                yield f"    {' '.join(names)}{' (required)' if parameter.required else ''}: {parameter.help or '-'}"
