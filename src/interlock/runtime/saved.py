"""Reads agents, default versions and stops back from their documents; what cannot be read allows nothing."""

from __future__ import annotations

import logging
from typing import Final

from interlock.core.agents import AgentTools, agent_from_bytes
from interlock.core.default_versions import DefaultVersion, default_from_bytes
from interlock.core.documents import Document
from interlock.core.stops import Stop, StopScope, stop_from_bytes

log = logging.getLogger("interlock.catalogue")

REMEMBERED_MAX: Final = 65_536

NO_VERSION: Final = DefaultVersion("\x00")
"""In place of one that cannot be read: a version that there never is."""


class Saved:
    """Remembers what it has read: most of it is the same at the next look. Dropped when full."""

    def __init__(self) -> None:
        self._agents: dict[Document, AgentTools] = {}
        self._defaults: dict[Document, DefaultVersion] = {}

    def agent(self, document: Document) -> AgentTools:
        """The agent in a document; one without tools where it holds none."""
        found = self._agents.get(document)
        if found is None:
            if len(self._agents) >= REMEMBERED_MAX:
                self._agents.clear()
            found = self._agents[document] = _agent(document)
        return found

    def default(self, document: Document) -> DefaultVersion:
        """The default version in a document; one that there is not where it holds none."""
        found = self._defaults.get(document)
        if found is None:
            if len(self._defaults) >= REMEMBERED_MAX:
                self._defaults.clear()
            found = self._defaults[document] = _default(document)
        return found


def stop_in(document: Document) -> Stop:
    """The stop in a document; one of everything that it can have meant where it holds none."""
    try:
        return stop_from_bytes(document.body)
    except ValueError:
        log.error("the stop %s cannot be read: it stops everything of %s", document.name, document.tenant)  # noqa: TRY400
        return Stop(
            id=document.name, scope=StopScope(tenant=document.tenant), reason="it cannot be read", by="", at_us=0
        )


def _agent(document: Document) -> AgentTools:
    name, tenant, revision = document.name, document.tenant, document.revision
    try:
        return agent_from_bytes(document.body, tenant=tenant, name=name, revision=revision)
    except ValueError:
        log.error("the agent %s of %s cannot be read, and may use no tool until it is saved anew", name, tenant)  # noqa: TRY400
        return AgentTools(name, tenant, revision=revision)


def _default(document: Document) -> DefaultVersion:
    try:
        return default_from_bytes(document.body)
    except ValueError:
        log.error(  # noqa: TRY400
            "the default version of %s of %s cannot be read: it takes no calls until one is promoted",
            document.name,
            document.tenant,
        )
        return NO_VERSION
