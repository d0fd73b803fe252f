"""An MCP server on stdio with the same query: what another team would run beside its own data.

`sales_server.py DATABASE`. It trusts whoever starts it to say for which tenant it is asked: the gate does, and the
model cannot.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from safe_sql import SqlRefused, query

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "sql": {"type": "string", "maxLength": 2000},
        "tenant_id": {"type": "string", "maxLength": 41},
    },
    "required": ["sql", "tenant_id"],
    "additionalProperties": False,
}


async def list_tools(_: Any, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    """The one tool."""
    tool = types.Tool(name="query", description="Run one SELECT over the sales of a tenant.", input_schema=SCHEMA)
    return types.ListToolsResult(tools=[tool])


async def call_tool(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    """Rows as structured content, or why not."""
    given = params.arguments or {}
    try:
        found = query(Path(sys.argv[1]), str(given["sql"]), tenant_id=str(given["tenant_id"]))
    except SqlRefused as refused:
        said = types.TextContent(type="text", text=str(refused))
        return types.CallToolResult(content=[said], structured_content={"code": "SQL_REFUSED"}, is_error=True)
    shown = {"sql": given["sql"], "columns": found.columns, "rows": found.rows, "more": found.more}
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=json.dumps(shown))], structured_content=shown
    )


async def main() -> None:
    """Serve until stdin ends."""
    server: Server[Any] = Server("sales", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
