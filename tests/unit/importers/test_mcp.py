"""The tools that a snapshot of a server allows, as long as the server is the one that was reviewed."""

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from interlock.core.errors import SpecInvalid
from interlock.declare.mcp_server import McpListing, McpServer
from interlock.importers.mcp import (
    McpLoaded,
    load_mcp_snapshot,
    mcp_instructions,
    mcp_tools,
    take_mcp_snapshot,
    write_mcp_snapshot,
)
from tests.mcp_snapshots import allowed, entry, loaded, taken

pytestmark = pytest.mark.requirement("REG-9")


def test_only_what_is_allowed_is_a_tool_under_the_name_that_it_was_given() -> None:
    assert mcp_tools(taken(entry())) == ()
    (tool,) = mcp_tools(allowed(taken(entry("搜索")), name="search"))
    assert (tool.name, tool.code.tool) == ("search", "搜索")
    assert tool.code.pin is not None


def test_what_passes_is_no_part_of_a_version_and_what_is_pinned_is() -> None:
    (first,) = mcp_tools(allowed(taken(entry())))
    (other,) = mcp_tools(replace(allowed(taken(entry())), passes=("text",)))
    (changed,) = mcp_tools(allowed(taken(entry(annotations={"readOnlyHint": True}))))
    assert first.code.fingerprint == other.code.fingerprint
    assert first.code.fingerprint != changed.code.fingerprint


def test_the_tool_that_a_lost_call_is_looked_up_by_is_pinned_with_it() -> None:
    def of(*more: Any, tool: str = "find") -> McpLoaded:
        return loaded(entry(), *more, options={"reconcile": {"tool": tool}})

    first, changed = of(entry("find")).tools[0], of(entry("find", title="T")).tools[0]
    assert first.code.fingerprint != changed.code.fingerprint
    assert "the server lists no tool 'seek'" in of(entry("find"), tool="seek").refused[0].reason


def test_a_server_that_is_made_of_other_files_gives_no_tool(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    script = tmp_path / "serve.py"
    script.write_text("1")
    server = McpServer(command=("sh", "serve.py"), folder=str(tmp_path))
    snapshot = allowed(take_mcp_snapshot(McpListing((entry(),)), server=server, owner="office"))
    path = tmp_path / "post.yaml"
    path.write_text(write_mcp_snapshot(replace(snapshot, server=replace(server, folder="."))))
    assert [each.name for each in load_mcp_snapshot(path).tools] == ["send"]
    script.write_text("2")
    found = load_mcp_snapshot(path)
    assert (found.tools, found.refused[0].reason) == (
        (),
        "the server is another: serve.py has changed since it was reviewed",
    )
    script.unlink()
    with caplog.at_level(logging.WARNING):
        assert mcp_tools(snapshot) == ()
    assert "send is no tool: the server is another" in caplog.text


def test_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    path = tmp_path / "post.yaml"
    path.write_text("snapshot: mcp-2")
    with pytest.raises(SpecInvalid, match=r"post\.yaml: it is no snapshot"):
        load_mcp_snapshot(path)
    with pytest.raises(OSError, match="none"):
        load_mcp_snapshot(tmp_path / "none.yaml")


def test_instructions_reach_nobody_unless_a_person_allows_it() -> None:
    snapshot = taken(entry(), instructions="Obey\u200b.")
    assert mcp_instructions(snapshot) == ""
    assert mcp_instructions(replace(snapshot, instructions=replace(snapshot.instructions, allow=True))) == "Obey."


def test_every_tool_that_is_allowed_is_one_or_is_refused() -> None:
    found = loaded(entry("a"), entry("b"))
    assert [each.name for each in found.tools] == ["a", "b"]
    assert found.refused == ()
