"""A list of tools is read page by page, to an end, and says whether a call can have been heard."""

from typing import Any, cast

import pytest

pytest.importorskip("mcp", reason="MCP tools need an extra: pip install 'interlock[mcp]'")

from interlock.core.mcp_answer import Unheard
from interlock.runners.exchange import NoAnswer
from interlock.runners.mcp_exchange import McpExchange
from interlock.runners.mcp_listing import listed, unheard
from interlock.runners.mcp_pages import Page
from interlock.runners.mcp_session import Session

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


class Pages:
    """A session whose pages are these."""

    def __init__(self, *pages: Page | NoAnswer) -> None:
        self._pages = [*pages]
        self.cursors: list[str | None] = []

    async def page(self, cursor: str | None, *, exchange: McpExchange) -> Page | NoAnswer:
        self.cursors.append(cursor)
        return self._pages.pop(0) if len(self._pages) > 1 else self._pages[0]


def page(*names: str, more: str | None = None, schema: dict[str, Any] | None = None) -> Page:
    tools = [{"name": each, "inputSchema": SCHEMA if schema is None else schema} for each in names]
    return Page(tuple(tools), more)


async def names(session: Pages) -> tuple[list[Any], int] | str:
    found = await listed(cast(Session, session), bytes_max=1_000)
    if isinstance(found, NoAnswer):
        return found.reason
    return [each["name"] for each in cast(Any, found.entries)], found.pages


async def test_all_pages_are_read() -> None:
    session = Pages(page("a", more="2"), page("b", "c"))
    assert await names(session) == (["a", "b", "c"], 2)
    assert session.cursors == [None, "2"]


async def test_a_list_that_does_not_end_is_none() -> None:
    onward = [page("a", more=str(number)) for number in range(200)]
    assert "page 2 leads back" in await names(Pages(page("a", more="2")))
    assert "within 100 pages" in await names(Pages(*onward))
    assert "more than 2000 tools" in await names(Pages(page(*["a"] * 1_500, more="2"), page(*["a"] * 501)))
    large = [Page(({"name": "a", "description": "x" * 4_000_000},), str(number)) for number in range(20)]
    assert "33554432 bytes" in await names(Pages(*large))
    assert await names(Pages(NoAnswer("gone"))) == "gone"


@pytest.mark.requirement("IDEM-3")
@pytest.mark.parametrize(
    ("session", "expected"),
    [
        (Pages(page("other")), Unheard.NO_TOOL),
        (Pages(page("act", schema={"type": "object", "required": ["b"]})), Unheard.OTHER_ARGUMENTS),
        (Pages(page("act")), None),
        (Pages(page("act", schema={"type": "object", "properties": {"a": {"$ref": "#/none"}}})), None),
        (Pages(NoAnswer("gone")), None),
    ],
)
async def test_a_call_was_not_heard_where_no_such_tool_or_arguments_are_listed(
    session: Pages, expected: Unheard | None
) -> None:
    assert await unheard(cast(Session, session), "act", {"a": 1}, bytes_max=1_000) is expected
