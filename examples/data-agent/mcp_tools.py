"""The same query through an MCP server: declared here in words of our own, its tenant filled in by the gate."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from data_tools import HOUSE, MEASURED, OWNER, REFUSED
from sales_server import SCHEMA

from interlock import Declaration, McpServer, Parameter, ParameterSource, mcp_tool

HERE: Final = Path(__file__).resolve().parent


def mcp_tools(database: Path) -> tuple[Declaration, ...]:
    """`query_sales_mcp`: the tool `query` of a server that is started beside the gate, and ends with it."""
    server = McpServer(
        command=(sys.executable, "sales_server.py", str(database)),
        folder=str(HERE),
        files=("safe_sql.py", "sales_data.py"),
    )
    query = mcp_tool(
        name="query_sales_mcp",
        description="Run one SELECT over the sales, at the server of the sales team.",
        effect="read",
        owner=OWNER,
        server=server,
        tool="query",
        input_schema=SCHEMA,
        parameters=[Parameter("tenant_id", source=ParameterSource.CONTEXT, inject="tenant")],
        evidence=MEASURED,
        labels=HOUSE,
        errors={"SQL_REFUSED": REFUSED},
        error_at="/code",
    )
    return (query,)
