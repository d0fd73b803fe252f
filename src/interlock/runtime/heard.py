"""What a process has heard of agents and default versions: read again only where somebody has changed it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from interlock.core.agents import AgentTools
from interlock.core.default_versions import DefaultVersion
from interlock.core.documents import Document, DocumentKind, Place
from interlock.core.layers import Layers
from interlock.ports import DocumentStore
from interlock.runtime.known import Routing
from interlock.runtime.saved import Saved
from interlock.runtime.versions import Named

KINDS: Final = (DocumentKind.AGENT, DocumentKind.DEFAULT)


class Heard:
    """There are few agents, and there may be a default version of every tool: these are never gone through."""

    def __init__(self, documents: DocumentStore) -> None:
        self._documents = documents
        self._saved = Saved()
        self._epochs = dict.fromkeys(KINDS, -1)
        self._revisions: dict[Place, int] = {}
        self._agents: Layers[Place, AgentTools] = Layers()
        self._defaults: Layers[Named, DefaultVersion] = Layers()
        self._moved: set[Named] = set()

    async def listen(self) -> None:
        """Read what has changed since this was asked last."""
        for kind in KINDS:
            epoch, found = await self._documents.changed_documents(kind, self._epochs[kind])
            self._epochs[kind] = max(epoch, self._epochs[kind])
            # Two who listen at once may hear in any order: what is older than what was heard is left.
            new = [each for each in found if each.revision > self._revisions.get(each.place, 0)]
            self._revisions |= {each.place: each.revision for each in new}
            self._agents, self._defaults = self._with(new)
            self._moved |= _moved(new)

    def routing(self, saving: Iterable[Document] = ()) -> Routing:
        """What names mean by that, as if `saving` were saved too."""
        saving = tuple(saving)
        agents, defaults = self._with(saving)
        ordered = tuple(agents[place] for place in sorted(agents))
        return Routing(ordered, defaults, frozenset(self._moved | _moved(saving)))

    def settled(self) -> None:
        """What was said last is in view."""
        self._moved.clear()

    def _with(self, documents: Iterable[Document]) -> tuple[Layers[Place, AgentTools], Layers[Named, DefaultVersion]]:
        agents: dict[Place, AgentTools | None] = {}
        defaults: dict[Named, DefaultVersion | None] = {}
        for each in documents:
            if each.kind is DocumentKind.AGENT:
                agents[each.place] = None if each.is_removed else self._saved.agent(each)
            elif each.kind is DocumentKind.DEFAULT:
                defaults[each.tenant, each.name] = None if each.is_removed else self._saved.default(each)
        return self._agents.changed(agents), self._defaults.changed(defaults)


def _moved(documents: Iterable[Document]) -> set[Named]:
    """The names whose default was set or taken away."""
    return {(each.tenant, each.name) for each in documents if each.kind is DocumentKind.DEFAULT}
