"""Reads which tools an MCP server lists: page by page, within bounds, as its own word."""

from __future__ import annotations

from collections.abc import Mapping

from mcp_types import Tool

from interlock.core.canonical import Json
from interlock.core.errors import SpecInvalid
from interlock.core.mcp_answer import Unheard
from interlock.core.schema import compile_schema
from interlock.runners.exchange import NoAnswer
from interlock.runners.mcp_exchange import McpExchange
from interlock.runners.mcp_session import Session

PAGES_MAX = 100
TOOLS_MAX = 2_000


async def listed(session: Session, *, bytes_max: int) -> tuple[Tool, ...] | NoAnswer:
    """All of its tools. A list that does not end is none."""
    found: list[Tool] = []
    seen: set[str] = set()
    cursor: str | None = None
    for _ in range(PAGES_MAX):
        page = await session.page(cursor, exchange=McpExchange(bytes_max, is_call=False))
        if isinstance(page, NoAnswer):
            return page
        found += page.tools
        cursor = page.next_cursor
        if cursor is None:
            return tuple(found)
        if cursor in seen or len(found) > TOOLS_MAX:
            break
        seen.add(cursor)
    return NoAnswer("its list of tools does not end", passes=False)


async def unheard(session: Session, tool: str, arguments: Mapping[str, Json], *, bytes_max: int) -> Unheard | None:
    """Why a server that answered "invalid params" cannot have called its tool; None where it may have.

    A tool may answer that itself, after it did something. So its list is asked: there is no such tool, or it takes
    other arguments than these. Anything else proves nothing.
    """
    found = await listed(session, bytes_max=bytes_max)
    if isinstance(found, NoAnswer):
        return None
    schemas = [each.input_schema for each in found if each.name == tool]
    if not schemas:
        return Unheard.NO_TOOL
    try:
        is_other = all(bool(compile_schema(schema).violations({**arguments})) for schema in schemas)
    except SpecInvalid:
        return None
    return Unheard.OTHER_ARGUMENTS if is_other else None
