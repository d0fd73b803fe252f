"""Reads which tools an MCP server lists: page by page, within bounds, as its own word."""

from __future__ import annotations

import json
from collections.abc import Mapping

from mcp.shared.inbound import find_invalid_x_mcp_header, mcp_param_headers, x_mcp_header_map

from interlock.core.canonical import Json
from interlock.core.errors import SpecInvalid
from interlock.core.frozen import frozen
from interlock.core.mcp_answer import Unheard
from interlock.core.schema import compile_schema
from interlock.runners.exchange import NoAnswer
from interlock.runners.mcp_exchange import McpExchange
from interlock.runners.mcp_session import Session

PAGES_MAX = 100
TOOLS_MAX = 2_000
LIST_BYTES_MAX = 32 * 1024 * 1024


@frozen
class Whole:
    """Every entry of a list, as it came, and on how many pages."""

    entries: tuple[Json, ...]
    pages: int


async def listed(session: Session, *, bytes_max: int) -> Whole | NoAnswer:
    """All that it lists. A list that does not end is none."""
    found: list[Json] = []
    seen: set[str] = set()
    cursor: str | None = None
    left = LIST_BYTES_MAX
    for number in range(1, PAGES_MAX + 1):
        page = await session.page(cursor, exchange=McpExchange(bytes_max, is_call=False))
        if isinstance(page, NoAnswer):
            return page
        found += page.entries
        left -= len(json.dumps(page.entries))
        if len(found) > TOOLS_MAX or left < 0:
            return NoAnswer(f"it lists more than {TOOLS_MAX} tools, or {LIST_BYTES_MAX} bytes", passes=False)
        cursor = page.next_cursor
        if cursor is None:
            return Whole(tuple(found), number)
        if cursor in seen:
            return NoAnswer(f"its list of tools does not end: page {number} leads back to an earlier one", passes=False)
        seen.add(cursor)
    return NoAnswer(f"its list of tools does not end within {PAGES_MAX} pages", passes=False)


async def repeated(session: Session, tool: str, arguments: Mapping[str, Json], *, bytes_max: int) -> dict[str, str]:
    """The headers that repeat arguments of a tool whose schema nobody declared: as its server lists it."""
    found = await listed(session, bytes_max=bytes_max)
    entries = () if isinstance(found, NoAnswer) else found.entries
    schemas = [each.get("inputSchema") for each in entries if isinstance(each, dict) and each.get("name") == tool]
    fitting = [schema for schema in schemas if find_invalid_x_mcp_header(schema) is None]
    return mcp_param_headers(x_mcp_header_map(fitting[0]), arguments) if fitting else {}


async def unheard(session: Session, tool: str, arguments: Mapping[str, Json], *, bytes_max: int) -> Unheard | None:
    """Why a server that answered "invalid params" cannot have called its tool; None where it may have.

    A tool may answer that itself, after it did something. So its list is asked: there is no such tool, or it takes
    other arguments than these. Anything else proves nothing.
    """
    found = await listed(session, bytes_max=bytes_max)
    if isinstance(found, NoAnswer):
        return None
    schemas = [each.get("inputSchema") for each in found.entries if isinstance(each, dict) and each.get("name") == tool]
    if not schemas:
        return Unheard.NO_TOOL
    if not all(isinstance(schema, dict) for schema in schemas):
        return None
    try:
        is_other = all(
            bool(compile_schema(schema).violations({**arguments})) for schema in schemas if isinstance(schema, dict)
        )
    except SpecInvalid:
        return None
    return Unheard.OTHER_ARGUMENTS if is_other else None
