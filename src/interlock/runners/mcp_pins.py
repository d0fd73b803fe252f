"""Holds tools that were pinned to what their server lists now, before a call of them goes out.

A list is read once for a connection, and again after its server said that it has changed. Whoever promises to say that
is believed for some minutes; one that does not, that was found to have kept silent, or in whose place another may
answer from one request to the next, for a minute. A list that is what it was costs its bytes and a digest.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterable
from hashlib import sha256

from interlock.core.canonical import Json
from interlock.core.drift import Drift, Grade
from interlock.core.mcp_drift import drifted, passes
from interlock.core.mcp_listed import Listed, Unlisted, read_listed
from interlock.core.tool import Document
from interlock.runners.exchange import NoAnswer
from interlock.runners.mcp_listing import listed
from interlock.runners.mcp_session import Session

BELIEVED_S = 60.0
"""How long a list is believed of whose changes nobody is told."""

_log = logging.getLogger("interlock.tools")


class Pins:
    """What one session's server lists, as far as pinned tools are held to it; for `believed_s` at the most."""

    def __init__(self, session: Session, *, bytes_max: int, believed_s: float) -> None:
        self._session = session
        self._bytes_max = bytes_max
        self._believed_s = believed_s
        self._reading = asyncio.Lock()
        self._version = -1
        self._until_s = 0.0
        self._digest = b""
        self._kept_silent = False
        self._tools: dict[str, Listed | Unlisted] = {}
        self._known: dict[tuple[str, bytes], Drift] = {}

    async def held(self, tool: str, reviewed: Document, *, passing: tuple[str, ...] = ()) -> Drift | NoAnswer:
        """How the tool has drifted, `SAME` where it may be called; why nobody knows where it cannot be asked."""
        async with self._reading:
            if self._session.list_version != self._version or asyncio.get_running_loop().time() > self._until_s:
                why = await self._read()
                if why is not None:
                    return why
        found = self._drift(tool, reviewed)
        return Drift(tool, Grade.SAME) if passes(found, passing) else found

    async def _read(self) -> NoAnswer | None:
        """Read the list; who says when it changes is asked to say it before."""
        is_told = await self._session.is_told()
        version, now_s = self._session.list_version, asyncio.get_running_loop().time()
        found = await listed(self._session, bytes_max=self._bytes_max)
        if isinstance(found, NoAnswer):
            return found
        if (digest := _digest(found.entries)) != self._digest:
            self._replace(_by_name(found.entries), is_told=is_told and version == self._version)
            self._digest = digest
        believed_s = self._believed_s if is_told and not self._kept_silent else min(self._believed_s, BELIEVED_S)
        self._version, self._until_s = version, now_s + believed_s
        return None

    def _replace(self, tools: dict[str, Listed | Unlisted], *, is_told: bool) -> None:
        """What it lists now. A server that promised a word and changed it without one is not believed for long."""
        if is_told and self._digest and tools != self._tools and self._session.list_version == self._version:
            self._kept_silent = True
            _log.warning("a server that promised to say when its list changes has changed it without a word")
        self._tools = tools
        self._known.clear()

    def _drift(self, tool: str, reviewed: Document) -> Drift:
        known = self._known.get((tool, reviewed.text))
        if known is None:
            read = read_listed(reviewed.value)
            known = drifted(read if isinstance(read, Listed) else None, self._tools.get(tool))
            self._known[tool, reviewed.text] = known
            if known.grade is not Grade.SAME:
                reasons = "; ".join(f"{each.part}{each.path}: {each.reason}" for each in known.findings)
                _log.warning("%s is not listed as it was reviewed (%s): %r", tool, known.grade.name.lower(), reasons)
        return known


def _digest(entries: Iterable[Json]) -> bytes:
    return sha256(json.dumps([*entries], sort_keys=True).encode("utf-8", "surrogatepass")).digest()


def _by_name(entries: Iterable[Json]) -> dict[str, Listed | Unlisted]:
    """What is listed under each name. Two that are not the same under one name are none."""
    found: dict[str, Listed | Unlisted] = {}
    for entry in entries:
        read = read_listed(entry)
        if found.setdefault(read.name, read) != read:
            found[read.name] = Unlisted(read.name, "two tools that are not the same have this name")
    return found
