"""The tools that a reviewed snapshot of an MCP server allows.

listing = await mcp_server_listing(McpServer(url="https://tools.example.com/mcp"))
snapshot = take_mcp_snapshot(listing, server=..., owner="research")     # written, reviewed, committed, and later
snapshot = read_mcp_snapshot(Path("tools.snapshot.yaml").read_bytes())
async with Gate.open("interlock.db", tools=mcp_tools(snapshot)) as gate: ...

The server is not asked for this. Whether it still lists what was reviewed is looked at before the first call of a
connection, and whenever it says that its list has changed.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from pathlib import Path

from interlock.core.errors import SpecInvalid
from interlock.core.text import visible
from interlock.declare.mcp import McpTool
from interlock.declare.mcp_server import McpServer, server_of
from interlock.importers.mcp_decisions import McpDecision, Surroundings, decided
from interlock.importers.mcp_snapshot import (
    McpSnapshot,
    made_of,
    mcp_renewed,
    read_mcp_snapshot,
    take_mcp_snapshot,
    write_mcp_snapshot,
)
from interlock.importers.mcp_tools import read_tool
from interlock.importers.snapshots import read_at

__all__ = [
    "McpLoaded",
    "McpRefused",
    "McpSnapshot",
    "load_mcp",
    "load_mcp_snapshot",
    "mcp_instructions",
    "mcp_renewed",
    "mcp_tools",
    "read_mcp_snapshot",
    "take_mcp_snapshot",
    "write_mcp_snapshot",
]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class McpRefused:
    """A tool that is allowed and cannot be one now."""

    key: str
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class McpLoaded:
    """What came of a snapshot."""

    tools: tuple[McpTool, ...] = ()
    refused: tuple[McpRefused, ...] = ()


def mcp_tools(snapshot: McpSnapshot) -> tuple[McpTool, ...]:
    """The tools, to be given to a gate. What is refused is logged; `load_mcp` gives it."""
    loaded = load_mcp(snapshot)
    for each in loaded.refused:
        _log.warning("%s is no tool: %s", visible(each.key), visible(each.reason))
    return loaded.tools


def load_mcp(snapshot: McpSnapshot) -> McpLoaded:
    """Every tool that is allowed, or the reason why it is none. One harms no other."""
    allowed = {key: each for key, each in snapshot.tools.items() if each.allow}
    reason = _is_other(snapshot)
    if reason:
        return McpLoaded((), tuple(McpRefused(key, each.name, reason) for key, each in allowed.items()))
    listed = {key: each.listed for key, each in snapshot.tools.items()}
    around = Surroundings(server=snapshot.server, owner=snapshot.owner, passes=snapshot.passes, others=listed)
    found = [_loaded(key, each, around) for key, each in allowed.items()]
    return McpLoaded(
        tuple(each for each in found if isinstance(each, McpTool)),
        tuple(each for each in found if isinstance(each, McpRefused)),
    )


def load_mcp_snapshot(path: Path) -> McpLoaded:
    """The same for a snapshot's file; a command is started in its folder. Raises `SpecInvalid` or `OSError`."""
    return load_mcp(snapshot_at(path))


def snapshot_at(path: Path) -> McpSnapshot:
    """The snapshot of a file, its server's folder as it is from here. Raises `SpecInvalid` or `OSError`."""
    snapshot = read_at(path, read_mcp_snapshot)
    return replace(snapshot, server=placed(snapshot.server, path.parent))


def placed(server: McpServer, folder: Path) -> McpServer:
    """The server with its folder, which a file says from where it lies."""
    return replace(server, folder=str(folder / server.folder)) if server.command else server


def mcp_instructions(snapshot: McpSnapshot) -> str:
    """What the server wants models to be told, cleaned and bounded, where a person allowed that; else nothing."""
    return snapshot.instructions.text if snapshot.instructions.allow else ""


def _is_other(snapshot: McpSnapshot) -> str:
    """Why this is not the server that was reviewed; empty where it is."""
    try:
        now = made_of(server_of(snapshot.server))
    except SpecInvalid as fault:
        return str(fault)
    for path in sorted({*now, *snapshot.made_of}):
        if now.get(path) != snapshot.made_of.get(path):
            return f"the server is another: {path} has changed since it was reviewed"
    return ""


def _loaded(key: str, decision: McpDecision, around: Surroundings) -> McpTool | McpRefused:
    try:
        read = read_tool(decision.listed)
        return decided(read, decision, around)
    except SpecInvalid as fault:
        return McpRefused(key, decision.name, str(fault))
