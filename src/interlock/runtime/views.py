"""Keeps this process's view of tools and policies, compiled anew when the store's epoch has moved on."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from interlock.core.catalogue import Catalogue, Tool
from interlock.core.documents import Document, DocumentKind
from interlock.core.policy import PolicySet, PolicySource
from interlock.core.stops import Stop
from interlock.core.tool import ToolSpec
from interlock.core.view import View
from interlock.ports import CatalogueStore, DocumentStore, Registered
from interlock.runtime.heard import Heard
from interlock.runtime.known import Known, Renewed
from interlock.runtime.saved import stop_in
from interlock.runtime.versions import Versions


class Views:
    """The current view. A tool is callable here only where this process has its code: `specs` are those it has."""

    def __init__(
        self,
        store: CatalogueStore,
        *,
        documents: DocumentStore,
        environment: str,
        facts: frozenset[str] = frozenset(),
    ) -> None:
        self._store = store
        self._documents = documents
        self._heard = Heard(documents)
        self._environment = environment
        self._facts = facts
        self._known = Known()
        self.current = View(Catalogue(), PolicySet((), ()), 0, environment)

    def add(self, specs: Iterable[ToolSpec], *, compiled: Collection[Tool] = ()) -> None:
        """Make code known to this process. `refresh` brings it into view once it is published.

        `compiled` are those of it that are compiled already, in the states that they are to be published in."""
        self._known.add(specs, compiled=compiled)

    async def refresh(self) -> View:
        """Read what has changed of catalogue, agents and policies, none of it older than the epoch.

        It costs what has changed: no look at any other tool, and policies are compiled anew only where they changed.
        """
        epoch = await self._learn()
        await self._heard.listen()
        sources, stops = await self.sources(), await self._stops()
        if epoch < self.current.epoch:  # another refresh has read something newer meanwhile
            return self.current
        routing = self._heard.routing()
        renewed = self._known.renewed(self.current.catalogue, routing)
        policies = self._compiled(sources, renewed)
        self._known.settled()
        self._heard.settled()
        catalogue = replace(renewed.catalogue, stops=stops)
        self.current = View(catalogue, policies, epoch, self._environment, self._known.versions.cached)
        return self.current

    async def versions(self) -> tuple[int, Versions]:
        """The epoch, and every version as of then; what is known here already is not read again."""
        await self._learn()
        return self._known.epoch, self._known.versions

    async def named(self, name: str, tenants: Iterable[str]) -> tuple[Registered, ...]:
        """The versions of a name that one of these tenants has, oldest first."""
        await self._learn()
        return self._known.versions.named(name, tenants)

    async def latest(self) -> View:
        """The view as the store has it now, read again only where it has changed."""
        return self.current if await self._store.epoch() == self.current.epoch else await self.refresh()

    async def proposed(
        self,
        sources: tuple[PolicySource, ...],
        *,
        new: tuple[Registered, ...] = (),
        saving: tuple[Document, ...] = (),
    ) -> tuple[Catalogue, PolicySet]:
        """The tools as the store has them now, with what is about to be published or saved, under these policies.

        Those are compiled anew only where they are not those in force. Raises `PolicyInvalid`.
        """
        renewed = await self._renewed(new, saving)
        return renewed.catalogue, self._compiled(sources, renewed)

    async def check(self, new: tuple[Registered, ...], *, under: tuple[PolicySource, ...] = ()) -> None:
        """Raise `PolicyInvalid` where versions that are about to be published do not fit the policies in force, or
        those that they would then be under."""
        sources = await self.sources(under)
        self._compiled(sources, await self._renewed(new, ()))

    async def _renewed(self, new: tuple[Registered, ...], saving: tuple[Document, ...]) -> Renewed:
        await self._learn()
        await self._heard.listen()
        return self._known.renewed(self.current.catalogue, self._heard.routing(saving), new=new)

    async def sources(self, wanted: tuple[PolicySource, ...] = ()) -> tuple[PolicySource, ...]:
        """The policies in force once `wanted` are saved, which replace those of the tenants that they name."""
        named = frozenset(each.tenant for each in wanted)
        return (*(each for each in (await self._store.policies())[1] if each.tenant not in named), *wanted)

    def compile(self, sources: Iterable[PolicySource], *, catalogue: Catalogue | None = None) -> PolicySet:
        """These policies against the tools in view. Raises `PolicyInvalid`."""
        return PolicySet(sources, (catalogue or self.current.catalogue).specs, facts=self._facts)

    def _compiled(self, sources: tuple[PolicySource, ...], renewed: Renewed) -> PolicySet:
        """These policies against a catalogue that follows on the one in view."""
        held = self.current.policies
        if sources == held.sources and self.current.epoch:
            return held.with_tools(renewed.changes) if renewed.changes else held
        return self.compile(sources, catalogue=renewed.catalogue)

    async def _learn(self) -> int:
        """Hear of the versions that changed since they were read last; up to which epoch."""
        epoch, versions = await self._store.changes(self._known.epoch)
        self._known.learn(epoch, versions)
        return epoch

    async def _stops(self) -> tuple[Stop, ...]:
        """The stops that stand. One that cannot be read stops everything that it can have meant."""
        _, documents = await self._documents.documents(DocumentKind.STOP)
        return tuple(map(stop_in, documents))
