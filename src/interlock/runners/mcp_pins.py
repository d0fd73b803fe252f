"""Holds tools that were pinned to what their server lists now, before a call of them goes out.

A list is read once for a connection, and again after its server said that it has changed. Where a server does not say
that, or another one may stand behind its address from one request to the next, a list is believed for a minute.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from interlock.core.canonical import Json
from interlock.core.drift import Drift, Grade
from interlock.core.mcp_drift import drifted, passes
from interlock.core.mcp_listed import Listed, Unlisted, read_listed
from interlock.core.tool import Document
from interlock.runners.exchange import NoAnswer
from interlock.runners.mcp_listing import listed
from interlock.runners.mcp_session import Session

BELIEVED_S = 60.0
_log = logging.getLogger("interlock.tools")


class Pins:
    """What one session's server lists, as far as pinned tools are held to it; for `believed_s`, or as it lasts."""

    def __init__(self, session: Session, *, bytes_max: int, believed_s: float) -> None:
        self._session = session
        self._bytes_max = bytes_max
        self._believed_s = believed_s
        self._reading = asyncio.Lock()
        self._version = -1
        self._until_s = 0.0
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
        believed_s = self._believed_s if is_told else min(self._believed_s, BELIEVED_S)
        self._tools, self._version, self._until_s = _by_name(found.entries), version, now_s + believed_s
        self._known.clear()
        return None

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


def _by_name(entries: Iterable[Json]) -> dict[str, Listed | Unlisted]:
    """What is listed under each name. Two that are not the same under one name are none."""
    found: dict[str, Listed | Unlisted] = {}
    for entry in entries:
        read = read_listed(entry)
        if found.setdefault(read.name, read) != read:
            found[read.name] = Unlisted(read.name, "two tools that are not the same have this name")
    return found
