"""`interlock tools review` tells in the terminal, as a document and as a page what tools are worth. It does nothing."""

from pathlib import Path

import pytest

from tests.unit.doors.cli.conftest import Cli

pytestmark = pytest.mark.requirement("REG-11")


@pytest.fixture
def used(cli: Cli, project: Path) -> Path:
    """A project in which tools were called, refused and made up."""
    cli("call", "save_note", '{"title": "hello", "text": "Good morning."}', "--task", "t")
    for title in ("hello", "bye"):
        cli("call", "read_note", f'{{"title": "{title}"}}')
    cli("call", "read_notes", "{}")
    return project


def test_a_review_counts_what_was_called_and_says_what_is_missing(cli: Cli, used: Path) -> None:
    document = cli("tools", "review", "--json").document
    read, save = document["tools"]
    assert (read["name"], read["numbers"]["counts"]["started"], save["numbers"]["counts"]["asked"]) == (
        "read_note",
        2,
        1,
    )
    (invented,) = document["coverage"]["invented"]
    assert (invented["text"], invented["times"], invented["nearest"][0]) == ("read_notes", 1, "read_note")
    ran = cli("tools", "review")
    assert ran.code == 0
    for word in ("read_note", "read_notes", "add_owner", "interlock tools check", "business_owner"):
        assert word in ran.out
    assert cli("audit", "query", "--kind", "tools.reviewed", "--json").document["records"][0]["record"]["actor"]


def test_a_page_is_written_once_and_never_over_another_file(cli: Cli, used: Path) -> None:
    ran = cli("tools", "review", "--html", "review.html", "--language", "zh")
    assert (ran.code, "review.html" in ran.out) == (0, True)
    assert "read_note" in (used / "review.html").read_text(encoding="utf-8")
    assert cli("tools", "review", "--html", "review.html", "--json").document["error"]["code"] == "NOT_WRITTEN"
    assert cli("tools", "review", "--language", "fr").code == 2


def test_a_review_takes_an_auditor_and_is_of_the_own_tenant(cli: Cli, used: Path) -> None:
    settings = used / "interlock.toml"
    settings.write_text(settings.read_text() + '\n[[people]]\nid = "visitor"\ngroups = ["notes"]\n')
    for given in (("--as", "visitor"), ("--tenant", "globex")):
        ran = cli("tools", "review", "--json", *given)
        assert (ran.code, ran.document["error"]["code"]) == (3, "PERMISSION_DENIED")


def test_thresholds_are_those_of_the_project(cli: Cli, used: Path) -> None:
    settings = used / "interlock.toml"
    before = settings.read_text()
    settings.write_text(before + "\n[review]\ncalls_min = 2\nroomy_times = 1\nroomy_ms = 1\n")
    document = cli("tools", "review", "--json").document
    assert ("lower_timeout", "read_note") in [(each["kind"], each["tool"]) for each in document["proposals"]]
    settings.write_text(before + "\n[review]\nidle_days = 0\n")
    assert "idle_days must be a whole number from 1" in cli("tools", "review").err


def test_since_narrows_what_is_counted(cli: Cli, used: Path) -> None:
    document = cli("tools", "review", "--since", "2099-01-01", "--json").document
    assert document["whole"]["counts"]["started"] == 0
