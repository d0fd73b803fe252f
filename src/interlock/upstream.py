"""What an MCP server lists, read once so that a person can declare tools from it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, cast

from interlock.core.canonical import Json
from interlock.core.errors import SpecInvalid
from interlock.core.http_address import read_allowed
from interlock.core.http_build import Unbuildable
from interlock.core.mcp_call import MESSAGE_BYTES_MAX
from interlock.core.redaction import Redactor
from interlock.core.text import clean
from interlock.core.tool import Document
from interlock.declare.mcp_server import McpListed, McpServer, server_of
from interlock.runners.exchange import NoAnswer

try:
    from interlock.runners.egress import GuardedNetwork
    from interlock.runners.mcp_http import HttpWays
    from interlock.runners.mcp_listing import listed
    from interlock.runners.mcp_session import Session
    from interlock.runners.mcp_stdio import NotStarted, Processes
    from interlock.runners.mcp_ways import Waits, Ways
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError("MCP tools need an extra: pip install 'interlock[mcp]'", name=missing.name) from missing

if TYPE_CHECKING:
    from mcp_types import Tool

WORDS_MAX = 4_096
_HINTS = ("read_only_hint", "destructive_hint", "idempotent_hint", "open_world_hint")


async def mcp_listing(
    server: McpServer,
    *,
    secrets: Mapping[str, str] | None = None,
    egress_allow: Iterable[str] = (),
    timeout_s: float = 30.0,
) -> tuple[McpListed, ...]:
    """The tools that a server lists, for a person to declare from: `mcp_tool(listed=...)`. All of it is its own word.

    `secrets` are the values of its credentials by name, `egress_allow` is as in `Settings`. Raises `SpecInvalid` where
    the server cannot be asked, or lists what is no tool.
    """
    known = server_of(server)
    waits = Waits(timeout_s, MESSAGE_BYTES_MAX)
    network = GuardedNetwork(allowed=read_allowed(tuple(egress_allow)))
    ways = Ways(http=HttpWays(network), processes=Processes(Redactor()))
    missing = [name for name in known.secrets if name not in (secrets or {})]
    opening = (
        Unbuildable(f"the secret {missing[0]} is missing")
        if missing
        else ways.opening(known, secrets or {}, waits=waits)
    )
    if isinstance(opening, Unbuildable):
        raise SpecInvalid(f"the server cannot be asked: {opening.reason}")
    session = Session(opening, bytes_max=waits.bytes_max)
    try:
        async with asyncio.timeout(timeout_s):
            await session.there()
            found = await listed(session, bytes_max=waits.bytes_max)
    except NotStarted as fault:
        found = fault.why
    except TimeoutError:
        found = NoAnswer("it did not answer in time")
    finally:
        await session.close()
        await ways.close()
    if isinstance(found, NoAnswer):
        raise SpecInvalid(f"the server cannot be asked: {found.reason}")
    return tuple(map(_listed, found))


def _listed(tool: Tool) -> McpListed:
    hints = {name: getattr(tool.annotations, name, None) for name in _HINTS}
    return McpListed(
        tool.name,
        Document.of(cast("Json", tool.input_schema)),
        None if tool.output_schema is None else Document.of(cast("Json", tool.output_schema)),
        _words(tool.title),
        _words(tool.description),
        {name: value for name, value in hints.items() if isinstance(value, bool)},
    )


def _words(text: str | None) -> str:
    return clean(text or "").text[:WORDS_MAX]
