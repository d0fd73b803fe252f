"""What tests of imported MCP servers share: snapshots of what a server lists, and the tools that come of them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from interlock.declare.mcp import McpTool
from interlock.declare.mcp_server import McpListing, McpServer
from interlock.importers.mcp import McpLoaded, McpSnapshot, load_mcp, take_mcp_snapshot

SERVER = McpServer(url="https://tools.example.com/mcp")
SCHEMA: Mapping[str, Any] = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}


def entry(name: Any = "send", **more: Any) -> dict[str, Any]:
    """A tool as a server lists it."""
    return {"name": name, "description": "Send a letter.", "inputSchema": dict(SCHEMA), **more}


def of_schema(**properties: Any) -> dict[str, Any]:
    """One whose arguments are these."""
    return entry(inputSchema={"type": "object", "properties": properties})


def taken(*entries: Any, server: McpServer = SERVER, **about: Any) -> McpSnapshot:
    """The snapshot of a server that lists these."""
    said = {"name": "post", "version": "1", "protocol": "2025-11-25", **about}
    return take_mcp_snapshot(McpListing(tuple(entries), **said), server=server, owner="office")


def allowed(snapshot: McpSnapshot, **decided: Any) -> McpSnapshot:
    """The snapshot with every tool allowed, and decided so."""
    tools = {key: replace(each, allow=True, **decided) for key, each in snapshot.tools.items()}
    return replace(snapshot, tools=tools)


def loaded(*entries: Any, **decided: Any) -> McpLoaded:
    """All that a server's list makes, every tool allowed."""
    return load_mcp(allowed(taken(*entries), **decided))


def tool(*entries: Any, **decided: Any) -> McpTool:
    """The one tool that it makes."""
    found = loaded(*entries or (entry(),), **decided)
    assert not found.refused, found.refused
    (only,) = found.tools
    return only
