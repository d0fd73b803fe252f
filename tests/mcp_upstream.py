"""Starts `tests/mcp_server.py` over either transport, and reads what it was really asked and did."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlock import McpServer, McpTool, RetryRule, mcp_tool
from tests import forked

PROGRAM = Path(__file__).with_name("mcp_server.py")
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"thing": {"type": "string", "x-mcp-header": "Thing"}},
    "required": ["thing"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Upstream:
    """A server that is there, or is started when it is called; and its log."""

    server: McpServer
    log: Path

    def lines(self, what: str, tool: str = "", thing: str = "7") -> int:
        """How often it was `sent` or `done`, by the log."""
        return sum(1 for each in self.noted(what) if each[1:3] == [tool, thing] or not tool)

    def noted(self, what: str) -> list[list[str]]:
        text = self.log.read_text() if self.log.exists() else ""
        return [line.split("\t") for line in text.splitlines() if line.startswith(f"{what}\t")]


def over_stdio(folder: Path, *more: str, **server: Any) -> Upstream:
    """A server that a gate starts."""
    log = folder / "stdio.log"
    return Upstream(McpServer(command=(sys.executable, str(PROGRAM), "stdio", str(log), *more), **server), log)


@asynccontextmanager
async def over_http(folder: Path, *more: str, **server: Any) -> AsyncIterator[Upstream]:
    """A server on loopback."""
    log = folder / "http.log"
    reading, writing = os.pipe()
    with os.fdopen(reading) as said:
        with os.fdopen(writing, "w") as says:
            process = forked.start([PROGRAM, "http", log, *more], folder=folder, streams=(says,))
        try:
            port = int(await asyncio.to_thread(said.readline))
            yield Upstream(McpServer(url=f"http://127.0.0.1:{port}/mcp", **server), log)
        finally:
            process.terminate()
            await asyncio.to_thread(process.join)


def declared(server: McpServer, tool: str = "does_it", effect: str = "write", **more: Any) -> McpTool:
    """One of its tools."""
    options = {
        "name": tool,
        "description": "Act on a thing.",
        "effect": effect,
        "server": server,
        "tool": tool,
        "input_schema": SCHEMA,
        "key": ["thing"],
        "retry": RetryRule(2, backoff_ms=1, backoff_max_ms=2),
    }
    return mcp_tool(**{**options, **more})
