"""`interlock tools diff` and what `tools check` says of versions that are not published yet."""

import re
from pathlib import Path

import pytest

from tests.unit.doors.cli.conftest import Cli

pytestmark = pytest.mark.requirement("REG-5")

READ = 'effect="read", owner="notes"'


@pytest.fixture
def published(cli: Cli, project: Path) -> Path:
    """The tools file, with a semantic version of `read_note` in the store."""
    tools = project / "tools.py"
    tools.write_text(versioned(tools.read_text(), "1.0.0"))
    assert cli("tools", "list").code == 0
    return tools


def test_two_versions_are_told_apart_with_what_shows_it(cli: Cli, published: Path) -> None:
    rewrite(published, "2.0.0", narrowed=True)
    cli("tools", "list")
    document = cli("tools", "diff", "read_note", "1.0.0", "2.0.0", "--json").document
    assert (document["from"]["version"], document["to"]["version"]) == ("1.0.0", "2.0.0")
    assert (document["verdict"], document["promised"]) == ("breaking", False)
    worst = document["findings"][0]
    assert worst["verdict"] == "breaking"
    assert worst["witness"] is not None
    text = cli("tools", "diff", "read_note", "1.0.0", "2.0.0").out
    assert "read_note 2.0.0 after 1.0.0: breaking" in text
    assert "bound-tightened" in text


def test_versions_that_are_the_same_differ_in_nothing(cli: Cli, published: Path) -> None:
    assert "Nothing differs." in cli("tools", "diff", "read_note", "1.0.0", "1.0.0").out


def test_a_version_that_is_not_there_is_said_with_those_that_are(cli: Cli, published: Path) -> None:
    ran = cli("tools", "diff", "read_note", "1.0.0", "7", "--json")
    assert (ran.code, ran.document["error"]["code"]) == (1, "TOOL_UNKNOWN")
    assert "there are 1.0.0" in ran.document["error"]["message"]
    assert "`interlock tools check`" in ran.document["error"]["next"]


def test_a_check_says_what_breaks_before_it_is_published(cli: Cli, published: Path) -> None:
    assert cli("tools", "check", "--json").document["versions"] == []
    rewrite(published, "1.1.0", narrowed=True)
    ran = cli("tools", "check")
    assert ran.code == 1
    assert "read_note 1.1.0 after 1.0.0: breaking" in ran.out
    assert "    breaking: input/title: " in ran.out
    assert "Such as {" in ran.out
    assert "its number promises that it is compatible" in ran.out
    assert "new major version" in ran.out
    rewrite(published, "2.0.0", narrowed=True)
    assert cli("tools", "check").code == 0
    assert cli("tools", "check", "--json").document["versions"][0]["verdict"] == "breaking"


def rewrite(tools: Path, version: str, *, narrowed: bool) -> None:
    text = versioned(tools.read_text(), version)
    short = 'Annotated[str, Arg(pattern="^[a-z0-9]{1,40}$", max_length=8, description="Small letters and digits.")]'
    tools.write_text(
        text.replace("def read_note(title: Title)", f"def read_note(title: {short})") if narrowed else text
    )


def versioned(text: str, version: str) -> str:
    return re.sub(
        r'@tool\(effect="read", owner="notes"(, version="[^"]*")?', f'@tool({READ}, version="{version}"', text
    )
