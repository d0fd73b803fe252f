"""The nine MCP servers of others: how many tools each lists, and a read and an effect that it answers."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interlock import Gate, McpServer, McpTool, RetryRule, ToolCall, mcp_listing, mcp_tool
from interlock.core.observation import Observation
from tests.gates import ALICE, ALL, opened
from tests.upstreams.servers import of_node, of_python

SCOPED = "@modelcontextprotocol"

Call = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Real:
    """A server, how many tools it lists, and two calls that it answers: one is declared a read, one an effect."""

    server: Callable[[Path], McpServer]
    tools: int
    reads: Call
    acts: Call
    environment: Mapping[str, str] = field(default_factory=dict)


def _thought(number: int) -> Call:
    return "sequentialthinking", {
        "thought": "One thing.",
        "thoughtNumber": number,
        "totalThoughts": 9,
        "nextThoughtNeeded": True,
    }


_ENTITY = {"name": "Ada", "entityType": "person", "observations": ["counts"]}
_CONVERTED = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}

REAL: Mapping[str, Real] = {
    "time": Real(
        lambda _: of_python("mcp-server-time"),
        2,
        ("get_current_time", {"timezone": "UTC"}),
        ("convert_time", _CONVERTED),
    ),
    "git": Real(
        lambda folder: of_python("mcp-server-git", "--repository", str(folder)),
        12,
        ("git_log", {"repo_path": "."}),
        ("git_create_branch", {"repo_path": ".", "branch_name": "topic"}),
    ),
    "fetch": Real(
        lambda _: of_python("mcp-server-fetch", "--ignore-robots-txt", "--allow-private-ips"),
        1,
        ("fetch", {}),
        ("fetch", {}),
    ),
    "sqlite": Real(
        lambda folder: of_python("mcp-server-sqlite", "--db-path", str(folder / "one.db")),
        6,
        ("list_tables", {}),
        ("create_table", {"query": "CREATE TABLE notes (text)"}),
    ),
    "filesystem": Real(
        lambda folder: of_node(f"{SCOPED}/server-filesystem/dist/index.js", str(folder)),
        14,
        ("list_allowed_directories", {}),
        ("create_directory", {"path": "one"}),
    ),
    "memory": Real(
        lambda folder: of_node(
            f"{SCOPED}/server-memory/dist/index.js", environment={"MEMORY_FILE_PATH": str(folder / "memory.jsonl")}
        ),
        9,
        ("read_graph", {}),
        ("create_entities", {"entities": [_ENTITY]}),
    ),
    "everything": Real(
        lambda _: of_node(f"{SCOPED}/server-everything/dist/index.js"),
        13,
        ("get-sum", {"a": 1, "b": 2}),
        ("echo", {"message": "once"}),
    ),
    "sequential-thinking": Real(
        lambda _: of_node(f"{SCOPED}/server-sequential-thinking/dist/index.js"), 1, _thought(1), _thought(2)
    ),
    "playwright": Real(
        lambda folder: of_node("@playwright/mcp/cli.js", *BROWSER, folder=str(folder)),
        25,
        ("browser_close", {}),
        ("browser_resize", {"width": 100, "height": 100}),
    ),
}
BROWSER = ("--headless", "--isolated", "--no-sandbox", "--executable-path", "/usr/bin/chromium")
"""Debian's browser, where it is there; no test needs to download one."""


async def declared(server: McpServer, **effects: str) -> list[McpTool]:
    """All that it lists, each declared; a read unless another effect is said of it, by its name with `-` as `_`."""
    return [
        mcp_tool(
            name=each.name,
            description="Do what the server does.",
            effect=effects.get(each.name.replace("-", "_"), "read"),
            server=server,
            listed=each,
            retry=RetryRule(2, backoff_ms=1, backoff_max_ms=2),
            timeout_ms=60_000,
        )
        for each in await mcp_listing(server, timeout_s=60)
    ]


@asynccontextmanager
async def gate_to(server: McpServer, *acts: str, path: str = ":memory:") -> AsyncIterator[Gate]:
    """A gate to all tools of a server, of which these are effects."""
    tools = await declared(server, **dict.fromkeys((each.replace("-", "_") for each in acts), "write"))
    async with opened(path, tools, ALL, deadline_ms=60_000) as gate:
        yield gate


async def called(gate: Gate, tool: str, *, task: str = "t", **arguments: Any) -> Observation:
    """One call, by whoever is logged in."""
    seen = await gate.call(ToolCall("c", tool, arguments), principal=ALICE, task=task)
    assert isinstance(seen, Observation)
    return seen


async def data(gate: Gate, tool: str, **arguments: Any) -> Any:
    """What a call that ends well gives back."""
    seen = await called(gate, tool, **arguments)
    assert seen.error is None, seen.error
    return seen.data
