"""MCP servers of others, imported: each tool reviewed once is the same when it is listed again, and is called."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="MCP tools need an extra: pip install 'interlock[mcp]'")

from interlock import ToolCall
from interlock.importers.mcp import mcp_tools, read_mcp_snapshot, take_mcp_snapshot, write_mcp_snapshot
from interlock.importers.mcp_sync import mcp_changes
from interlock.upstream import mcp_server_listing
from tests.gates import ALICE, ALL, code, opened
from tests.mcp_snapshots import allowed
from tests.upstreams.real import REAL

pytestmark = [pytest.mark.requirement("REG-9"), pytest.mark.timeout(180), pytest.mark.slow]

CALLED = sorted(REAL.keys() - {"fetch", "playwright"})
"""Those whose calls need no page and no browser."""


@pytest.mark.parametrize("name", sorted(REAL))
async def test_a_server_is_imported_whole_and_called_as_it_was_reviewed(name: str, tmp_path: Path) -> None:
    if name == "git" and shutil.which("git") is None:
        pytest.skip("git is not installed: the server that reads repositories needs it.")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=name == "git", capture_output=True)  # noqa: ASYNC221
    server = replace(REAL[name].server(tmp_path), folder=str(tmp_path))
    taken = take_mcp_snapshot(await mcp_server_listing(server, timeout_s=60), server=server, owner="office")
    snapshot = read_mcp_snapshot(write_mcp_snapshot(taken).encode())
    assert len(snapshot.tools) >= REAL[name].tools - 1
    again = take_mcp_snapshot(await mcp_server_listing(server, timeout_s=60), server=server, owner="office")
    assert not mcp_changes(snapshot, again).any
    if name not in CALLED:
        return
    tool, arguments = REAL[name].acts if name != "git" else ("git_status", {"repo_path": "."})
    async with opened(":memory:", mcp_tools(allowed(snapshot)), ALL) as gate:
        call = ToolCall("c", snapshot.tools[tool].name, dict(arguments))
        assert code(await gate.call(call, principal=ALICE, task="t")) == "ok"
