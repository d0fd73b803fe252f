"""Keeps the entries of an MCP server's list as they came, so that one that is no tool harms no other.

The library checks a page as a whole: one entry that is no tool of the protocol, and none of the page would be had.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.shared.dispatcher import CallOptions
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp_types import ListToolsResult, Tool
from mcp_types.methods import validate_server_result
from pydantic import ValidationError

from interlock.core.canonical import Json
from interlock.core.frozen import frozen
from interlock.runners.mcp_exchange import McpExchange, current

_LIST = "tools/list"
_ERAS: Mapping[str, Mapping[str, Any]] = {
    "2025-11-25": {},
    "2026-07-28": {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"},
}
"""Revisions whose tools differ, with what a page of each has to say beside them."""


@frozen
class Page:
    """One page of a list: its entries as they came, and where the next one is."""

    entries: tuple[Json, ...]
    next_cursor: str | None


class PagesApart(JSONRPCDispatcher[Any]):
    """The library's dispatcher, which gives it of a page what it takes for tools; all of it stands on the exchange."""

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None, **own: Any
    ) -> dict[str, Any]:
        """The result of a request."""
        found = await super().send_raw_request(method, params, opts, **own)
        exchange = current()
        if method != _LIST or exchange is None or not isinstance(found.get("tools"), list):
            return found
        exchange.entries = found["tools"]
        return {**found, "tools": [each for each in found["tools"] if _is_tool(each)]}


def _is_tool(entry: object) -> bool:
    """Whether the library takes it for a tool in every era; it learns from those which headers repeat arguments."""
    try:
        Tool.model_validate(entry, by_name=False)
        for version, more in _ERAS.items():
            validate_server_result(_LIST, version, {"tools": [entry], **more})
    except (ValidationError, RecursionError):
        return False
    return True


def page_of(said: ListToolsResult, exchange: McpExchange) -> Page:
    """The page that a result is, with its entries as they came."""
    return Page(tuple(exchange.entries), said.next_cursor)
