"""Asking: only a clear yes goes on, and whoever was not asked is told the same command with --yes, whole."""

import io
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from interlock.doors.cli.asking import again, heard, unconfirmed
from interlock.doors.cli.main import app
from tests.unit.doors.cli.conftest import Cli
from tests.unit.doors.cli.test_agents import versions

__all__ = ["versions"]


class Terminal(io.StringIO):
    """A keyboard with somebody at it."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("typed", "goes_on"), [("y\n", True), ("YES\n", True), ("n\n", False), ("\n", False), ("", False)]
)
def test_a_person_is_asked_and_only_a_clear_yes_goes_on(
    typed: str, goes_on: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    assert (unconfirmed("Sure?", yes=False) is None) is goes_on
    assert capsys.readouterr() == ("", "Sure? [y/N] ")


@pytest.mark.requirement("APR-3")
@pytest.mark.parametrize("piped", ["y\n", "n\n", ""])
def test_where_nobody_sits_nobody_is_asked_and_it_is_no_unless_yes_is_said(
    piped: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(piped))
    assert unconfirmed("Sure?", yes=False) is not None
    assert "Nobody sits here" in capsys.readouterr().err
    assert unconfirmed("Sure?", yes=True) is None
    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    assert unconfirmed("Sure?", yes=True) is None


WHY = ("--reason", "it's *over*; really")

ASKING = [
    ("tools", "retire", "read_note", "--version", "1", *WHY, "--drain-until", "2999-01-01"),
    ("--as", "alice", "tools", "retire", "read_note", *WHY),
    ("approvals", "approve", "{waiting}", "--as", "second", "--note", "looks good", "--run"),
    ("policy", "save", "--project", "."),
    ("audit", "purge", "--before", "90d"),
    ("compensate", "start", "--task", "t", *WHY),
    ("tools", "promote", "read_note", "1", *WHY, "--window-days", "2"),
    ("tools", "rollback", "read_note", *WHY),
]
FIRST = {
    "compensate start": [("approvals", "approve", "{waiting}", "--as", "second", "--run")],
    "tools rollback": [("tools", "promote", "read_note", "1", *WHY), ("tools", "promote", "read_note", "2", *WHY)],
}
"""What is done before, so that there is something to ask."""
ASKS_NOTHING = {("approvals", "edit")}
"""It takes --yes for scripts that say it to every verb."""


def taking_yes(command: Any, path: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    """The verbs that have the option --yes."""
    found = {path} if any("--yes" in each.opts for each in command.params) else set()
    for name, each in getattr(command, "commands", {}).items():
        found |= taking_yes(each, (*path, name))
    return found


@pytest.mark.requirement("APR-3")
@pytest.mark.parametrize("words", ASKING, ids=" ".join)
def test_whoever_was_not_asked_is_told_the_command_as_it_was_given_with_yes(
    cli: Cli, waiting: str, versions: Path, words: tuple[str, ...]
) -> None:
    for each in FIRST.get(" ".join(words[:2]), ()):
        assert cli(*(word.replace("{waiting}", waiting) for word in each), "--yes").code == 0
    given = [each.replace("{waiting}", waiting) for each in words]
    ran = cli(*given, "--json")
    assert (ran.code, ran.document["error"]["code"]) == (1, "NOT_CONFIRMED")
    step = ran.document["error"]["next"]
    assert shlex.split(step.split("`")[1]) == ["interlock", *given, "--json", "--yes"]


def test_every_verb_that_asks_is_walked_above() -> None:
    given = {tuple(each for each in words if each not in ("--as", "alice"))[:2] for words in ASKING}
    assert given == taking_yes(get_command(app)) - ASKS_NOTHING


def test_what_stands_behind_two_dashes_stays_there_and_what_cannot_be_seen_is_not_spelled_as_a_command() -> None:
    heard(["tools", "retire", "--reason", "x y", "--", "-odd"])
    assert again() == "`interlock tools retire --reason 'x y' --yes -- -odd`"
    heard(["tools", "retire", "read\x1bnote"])
    assert again() == "The same command with --yes"
