"""Keeps the entries of an MCP server's list as they came, so that one that is no tool harms no other.

The library checks a page as a whole: one entry that is no tool of the protocol, and none of the page would be had.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.shared.dispatcher import CallOptions
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher

from interlock.core.canonical import Json
from interlock.core.frozen import frozen
from interlock.runners.exchange import NoAnswer
from interlock.runners.mcp_exchange import McpExchange, current

_LIST = "tools/list"
_NO_PAGE = NoAnswer("its list of tools is no list of the protocol", passes=False)


@frozen
class Page:
    """One page of a list: its entries as they came, and where the next one is."""

    entries: tuple[Json, ...]
    next_cursor: str | None


class PagesApart(JSONRPCDispatcher[Any]):
    """The library's dispatcher, which gives it pages without their entries; those stand on the exchange."""

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None, **own: Any
    ) -> dict[str, Any]:
        """The result of a request."""
        found = await super().send_raw_request(method, params, opts, **own)
        exchange = current()
        if method != _LIST or exchange is None or not isinstance(found.get("tools"), list):
            return found
        exchange.entries = found["tools"]
        return {**found, "tools": []}


def page_of(said: Mapping[str, Any], exchange: McpExchange) -> Page | NoAnswer:
    """The page that a result is, with the entries that were kept apart."""
    cursor = said.get("nextCursor")
    if not isinstance(said.get("tools"), list) or not isinstance(cursor, str | None):
        return _NO_PAGE
    return Page(tuple(exchange.entries), cursor)
