"""A name that leads to no tool: operators are told what it is and what to do, others nothing that they may not see."""

from pathlib import Path
from typing import Any

import pytest

from tests.mcp_listed import Listing, entry
from tests.unit.doors.cli.conftest import Cli

CALL = ("call", "read_note", '{"title": "x"}', "--json")


@pytest.fixture
def gated(project: Path) -> Path:
    """A project whose versions begin as candidates, and somebody in the group of its tools who is no operator."""
    settings = project / "interlock.toml"
    text = settings.read_text().replace("[interlock]", '[interlock]\nlifecycle = "gated"', 1)
    settings.write_text(f'{text}\n[[people]]\nid = "nora"\ngroups = ["notes"]\n')
    return project


def step(cli: Cli, *said: str) -> str:
    return str(cli(*said).document["error"]["next"])


@pytest.mark.requirement("DOOR-6")
def test_a_candidate_is_told_to_an_operator_with_what_opens_it_and_to_nobody_else(cli: Cli, gated: Path) -> None:
    opens = "`interlock tools move read_note available --version 1 --reason WHY`"
    assert step(cli, *CALL).startswith("read_note 1 is a candidate, and takes no calls before it has passed its gate")
    assert opens in step(cli, *CALL)
    (attention,) = cli("tools", "show", "read_note", "--json").document["attention"]
    assert opens in attention
    told = cli(*CALL, "--as", "nora").document
    absent = cli("call", "zzzz_zzz", "{}", "--json", "--as", "nora").document
    assert "candidate" not in str(told)
    same = ("status", "retryable", "user_text", "hint", "details")
    assert [told.get(each) for each in same] == [absent.get(each) for each in same]
    assert told["error"]["next"] == absent["error"]["next"].replace("zzzz_zzz", "read_note")


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (("freeze",), "read_note 1 is frozen. `interlock tools release read_note"),
        (("move", "quarantined"), "read_note 1 is quarantined. `interlock import sync`"),
        (("retire", "--yes"), "read_note 1 is retired. Call what takes its place"),
    ],
)
def test_what_takes_no_calls_is_shown_with_what_to_do(cli: Cli, project: Path, act: tuple[str, ...], says: str) -> None:
    verb, *more = act
    cli("tools", verb, "read_note", *more, "--reason", "why")
    (attention,) = cli("tools", "show", "read_note", "--json").document["attention"]
    assert attention.startswith(says)


def test_what_policy_hides_from_an_operator_is_said_to_be_there(cli: Cli, project: Path) -> None:
    settings = project / "interlock.toml"
    settings.write_text(f'{settings.read_text()}\n[[people]]\nid = "olga"\ngroups = ["operator"]\n')
    assert "read_note is there, but not for olga: `interlock policy explain read_note`" in step(
        cli, *CALL, "--as", "olga"
    )


@pytest.fixture
def imports(cli: Cli, tmp_path: Path, project: Any) -> Path:
    """A project with the snapshot of a server whose one entry is closed, and another that can be no tool."""
    pytest.importorskip("mcp", reason="MCP tools need an extra: pip install 'interlock[mcp]'")
    server = Listing(tmp_path)
    server.says(entry("send"), entry("broken", inputSchema=7))
    assert cli("import", "mcp", "--owner", "notes", "-o", "post.yaml", "--", *server.command).code == 0
    settings = tmp_path / "interlock.toml"
    settings.write_text(settings.read_text().replace("tools = ", 'mcp = ["post.yaml"]\ntools = ', 1))
    return tmp_path / "post.yaml"


@pytest.mark.requirement("REG-9")
def test_a_closed_import_is_told_as_what_it_is_and_an_invented_name_is_not(cli: Cli, imports: Path) -> None:
    says = "send is the entry send of post.yaml, and is closed: review it there, set allow: true"
    assert step(cli, "call", "send", "{}", "--json").startswith(says)
    assert step(cli, "tools", "show", "send", "--json").startswith(says)
    broken = step(cli, "call", "broken", "{}", "--json")
    assert broken.startswith("broken is listed in post.yaml and can be no tool: ")
    assert "post.yaml" not in step(cli, "call", "sendd", "{}", "--json")
    assert "post.yaml" not in step(cli, "call", "send", "{}", "--json", "--as", "second")
    imports.write_text("nonsense: [")
    assert cli("audit", "verify").code == 0
