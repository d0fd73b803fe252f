"""What an MCP server lists, read once so that a person can declare tools from it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping

from interlock.core.canonical import Json
from interlock.core.errors import SpecInvalid
from interlock.core.http_address import read_allowed
from interlock.core.http_build import Unbuildable
from interlock.core.mcp_call import MESSAGE_BYTES_MAX
from interlock.core.mcp_listed import Listed, Unlisted, read_listed
from interlock.core.redaction import Redactor
from interlock.core.text import clean, visible
from interlock.core.tool import Document
from interlock.declare.mcp_server import McpListed, McpListing, McpServer, server_of
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

WORDS_MAX = 4_096
_HINTS = {
    "readOnlyHint": "read_only_hint",
    "destructiveHint": "destructive_hint",
    "idempotentHint": "idempotent_hint",
    "openWorldHint": "open_world_hint",
}
_log = logging.getLogger(__name__)


async def mcp_listing(
    server: McpServer,
    *,
    secrets: Mapping[str, str] | None = None,
    egress_allow: Iterable[str] = (),
    timeout_s: float = 30.0,
) -> tuple[McpListed, ...]:
    """The tools that a server lists, for a person to declare from: `mcp_tool(listed=...)`. All of it is its own word.

    `secrets` are the values of its credentials by name, `egress_allow` is as in `Settings`. Entries that are no tools
    are logged and left out. Raises `SpecInvalid` where the server cannot be asked.
    """
    found = await mcp_server_listing(server, secrets=secrets, egress_allow=egress_allow, timeout_s=timeout_s)
    read = [read_listed(each) for each in found.entries]
    for each in read:
        if isinstance(each, Unlisted):
            _log.warning("%s is no tool: %s", visible(each.name) or "an entry without a name", each.reason)
    return tuple(_listed(each) for each in read if isinstance(each, Listed))


async def mcp_server_listing(
    server: McpServer,
    *,
    secrets: Mapping[str, str] | None = None,
    egress_allow: Iterable[str] = (),
    timeout_s: float = 30.0,
) -> McpListing:
    """All that a server says of itself and lists, every page of it, for a snapshot. The arguments are the same.

    Raises `SpecInvalid` where the server cannot be asked, or its list does not end.
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
            about = session.about
    except NotStarted as fault:
        found = fault.why
    except TimeoutError:
        found = NoAnswer("it did not answer in time")
    finally:
        await session.close()
        await ways.close()
    if isinstance(found, NoAnswer):
        raise SpecInvalid(f"the server cannot be asked: {found.reason}")
    return McpListing(
        found.entries, found.pages, about.name, about.title, about.version, about.protocol, about.instructions
    )


def _listed(tool: Listed) -> McpListed:
    members = tool.members
    output = members.get("outputSchema")
    return McpListed(
        tool.name,
        Document.of(members["inputSchema"]),
        None if output is None else Document.of(output),
        _words(members.get("title")),
        _words(members.get("description")),
        _hints(members.get("annotations")),
    )


def _hints(annotations: Json) -> dict[str, bool]:
    given = annotations if isinstance(annotations, dict) else {}
    found = {name: given.get(wire) for wire, name in _HINTS.items()}
    return {name: value for name, value in found.items() if isinstance(value, bool)}


def _words(text: Json) -> str:
    return clean(text).text[:WORDS_MAX] if isinstance(text, str) else ""
