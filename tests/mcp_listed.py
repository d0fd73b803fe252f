"""A program that is an MCP server on stdio and lists what a file says, and what tests of imported servers share.

`python mcp_listed.py STATE`. STATE is JSON: `pages` of tools, and what it calls itself. It is read at every request,
so a test changes the server by writing it. What it was asked is in STATE.log. A call of `change` says first that the
list has changed, and what became of one of `lose` nobody knows. It is written without any library: it starts at once,
and lists what no library would let it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def answer(request: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
    """The result or error of one request."""
    method, params = request["method"], request.get("params") or {}
    if method == "initialize":
        info = {"name": state.get("name", "listed"), "version": state.get("version", "1")}
        found = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": True}}, "serverInfo": info}
        return {"result": {**found, "instructions": state.get("instructions", "")}}
    if method == "tools/list":
        if state.get("is_dead"):
            return {"error": {"code": -32603, "message": "no list today"}}
        cursor = params.get("cursor") or "0"
        at = int(cursor) if cursor.isdecimal() else 0
        more = {"nextCursor": str(at + 1)} if at + 1 < len(state["pages"]) else {}
        if "cursor" in state:
            more = {"nextCursor": state["cursor"]}
        return {"result": {"tools": state["pages"][min(at, len(state["pages"]) - 1)], **more}}
    if method == "tools/call" and params.get("name") == "lose":
        return {"error": {"code": -32603, "message": "what became of it nobody says"}}
    if method == "tools/call":
        return {"result": {"content": [{"type": "text", "text": json.dumps(params.get("arguments"))}]}}
    return {"error": {"code": -32601, "message": "no such method"}}


def write(message: dict[str, Any]) -> None:
    """One line."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Serve until stdin ends."""
    path = Path(sys.argv[1])
    with Path(f"{path}.log").open("a") as log:
        for line in sys.stdin:
            request = json.loads(line)
            if "id" not in request:
                continue
            name = (request.get("params") or {}).get("name", "")
            log.write(f"{request['method']} {name}".strip() + "\n")
            log.flush()
            if name == "change":
                write({"method": "notifications/tools/list_changed"})
            write({"id": request["id"], **answer(request, json.loads(path.read_text()))})


def entry(name: str = "send", **more: Any) -> dict[str, Any]:
    """A tool as a server lists it."""
    schema = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
    return {"name": name, "description": "Send a letter.", "inputSchema": schema, **more}


class Listing:
    """Such a server, and what it lists from now on."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "state.json"
        self.log = folder / "state.json.log"
        self.command = (sys.executable, str(Path(__file__)), str(self.state))
        self.says(entry())

    def says(self, *entries: Any, **more: Any) -> None:
        """List these on one page."""
        self.pages([*entries], **more)

    def pages(self, *pages: list[Any], **more: Any) -> None:
        """List these pages."""
        beside = self.state.with_suffix(".new")
        beside.write_text(json.dumps({"pages": pages, **more}))
        beside.replace(self.state)

    def asked(self, what: str) -> int:
        """How often it was asked that."""
        return self.log.read_text().splitlines().count(what) if self.log.exists() else 0


if __name__ == "__main__":
    main()
