"""Keeps this process's view of tools and policies, compiled anew when the store's epoch has moved on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from interlock.core.agents import AgentTools, Routes
from interlock.core.cache import types_read_by_any
from interlock.core.canonical import decode
from interlock.core.catalogue import Catalogue, Tool
from interlock.core.documents import Document, DocumentKind, Place
from interlock.core.lifecycle import Lifecycle, precedence
from interlock.core.policy import PolicySet, PolicySource
from interlock.core.retirement import read
from interlock.core.rollouts import Rollout
from interlock.core.tool import ToolSpec, spec_digest
from interlock.core.tool_compile import compile_tool
from interlock.core.typed import from_json
from interlock.core.view import View
from interlock.ports import CatalogueStore, DocumentStore, Registered
from interlock.runtime.saved import Saved

_CACHES = b'"cache":{'
"""What stands in the spec of every tool that caches; in few others, which cost a look."""


Routing = tuple[list[AgentTools], Mapping[tuple[str, str], Rollout]]
"""Agents that are published, and default versions that operators have set, by tenant and name."""


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
        self._saved = Saved()
        self._environment = environment
        self._facts = facts
        self._specs: dict[str, ToolSpec] = {}
        self._compiled: dict[tuple[str, Lifecycle, str], Tool] = {}
        self._foreign: dict[str, ToolSpec] = {}
        self.current = View(Catalogue(), PolicySet((), ()), 0, environment)

    def add(self, specs: Iterable[ToolSpec]) -> None:
        """Make code known to this process. `refresh` brings it into view once it is published."""
        self._specs.update({spec_digest(spec): spec for spec in specs})

    async def refresh(self) -> View:
        """Read catalogue, agents and policies as they are now, none of it older than the epoch."""
        epoch, versions = await self._store.versions()
        catalogue = self._catalogue(epoch, versions, await self._routing())
        policies = self.compile(await self.sources(), catalogue=catalogue)
        self.current = View(catalogue, policies, epoch, self._environment, self._cached(versions))
        return self.current

    async def latest(self) -> View:
        """The view as the store has it now, read again only where it has changed."""
        return self.current if await self._store.epoch() == self.current.epoch else await self.refresh()

    async def catalogue(self, new: tuple[Registered, ...] = (), *, saving: tuple[Document, ...] = ()) -> Catalogue:
        """The tools as the store has them now, with what is about to be published or saved."""
        epoch, versions = await self._store.versions()
        return self._catalogue(epoch, (*versions, *new), await self._routing(saving))

    async def sources(self, wanted: tuple[PolicySource, ...] = ()) -> tuple[PolicySource, ...]:
        """The policies in force once `wanted` are saved, which replace those of the tenants that they name."""
        named = frozenset(each.tenant for each in wanted)
        return (*(each for each in (await self._store.policies())[1] if each.tenant not in named), *wanted)

    def compile(self, sources: Iterable[PolicySource], *, catalogue: Catalogue | None = None) -> PolicySet:
        """These policies against the tools in view. Raises `PolicyInvalid`."""
        return PolicySet(sources, (catalogue or self.current.catalogue).specs, facts=self._facts)

    async def _routing(self, saving: tuple[Document, ...] = ()) -> Routing:
        """What is saved of agents and default versions, as if `saving` were too."""
        found: dict[Place, Document] = {}
        for kind in (DocumentKind.AGENT, DocumentKind.ROLLOUT):
            found |= {each.place: each for each in (await self._documents.documents(kind))[1]}
        found |= {each.place: each for each in saving}
        kept = [each for each in found.values() if not each.is_removed]
        agents = [self._saved.agent(each) for each in kept if each.kind is DocumentKind.AGENT]
        rollouts = {
            (each.tenant, each.name): self._saved.rollout(each) for each in kept if each.kind is not DocumentKind.AGENT
        }
        return agents, rollouts

    def _catalogue(self, epoch: int, versions: tuple[Registered, ...], routing: Routing) -> Catalogue:
        agents, rollouts = routing
        tools = self._defaults(versions, rollouts)
        here = ((self._specs.get(each.digest), each) for each in versions)
        all_here = {each.digest: self._tool(spec, each) for spec, each in here if spec is not None}
        elsewhere = {place: self._read(each) for place, each in self._elsewhere(versions, tools).items()}
        retired = self._retired(versions, tools)
        if not agents:
            return Catalogue(tools, epoch, elsewhere, all_here, retired)
        routes = {(each.tenant, each.name): Routes.of(each) for each in agents}
        by_version = {(tool.spec.tenant, tool.spec.name, tool.spec.version): tool for tool in all_here.values()}
        return Catalogue(tools, epoch, elsewhere, all_here, retired, routes, by_version)

    def _cached(self, versions: Iterable[Registered]) -> frozenset[str]:
        """What cached reads of any version read: one that is closed, or not the default here, may run elsewhere."""
        return types_read_by_any(self._read(each) for each in versions if _CACHES in each.spec)

    def _defaults(
        self, versions: Iterable[Registered], rollouts: Mapping[tuple[str, str], Rollout]
    ) -> dict[tuple[str, str], Tool]:
        """For each name the version that an operator has set, where its code is here, and none else.

        Where nobody has set one it is the version published last whose code is here, of those that the name alone may
        mean; else of the others.
        """
        tools: dict[tuple[str, str], Tool] = {}
        for each in versions:
            set_ = rollouts.get((each.tenant, each.name)) if rollouts else None
            if set_ is not None and set_.version != each.version:
                continue
            spec = self._specs.get(each.digest)
            held = tools.get((each.tenant, each.name))
            if spec is None or (held is not None and precedence(each.state) < precedence(held.state)):
                continue
            tools[each.tenant, each.name] = self._tool(spec, each)
        return tools

    def _elsewhere(
        self, versions: Iterable[Registered], tools: dict[tuple[str, str], Tool]
    ) -> dict[tuple[str, str], Registered]:
        """The newest version of each name that is published but whose code another process has."""
        return {(each.tenant, each.name): each for each in versions if (each.tenant, each.name) not in tools}

    def _retired(
        self, versions: Iterable[Registered], tools: dict[tuple[str, str], Tool]
    ) -> dict[tuple[str, str], Tool]:
        """Of names that are retired in every version, the one retired last, where no code of theirs is here."""
        newest = {(each.tenant, each.name): each for each in versions if each.state is Lifecycle.RETIRED}
        others = {(each.tenant, each.name) for each in versions if each.state is not Lifecycle.RETIRED}
        gone = newest.keys() - others - tools.keys()
        return {place: self._tool(self._read(newest[place]), newest[place]) for place in gone}

    def _read(self, found: Registered) -> ToolSpec:
        spec = self._foreign.get(found.digest)
        if spec is None:
            spec = self._foreign[found.digest] = from_json(ToolSpec, decode(found.spec))
        return spec

    def _tool(self, spec: ToolSpec, found: Registered) -> Tool:
        place = (found.digest, found.state, found.retirement)
        tool = self._compiled.get(place)
        if tool is None:
            tool = self._compiled[place] = compile_tool(spec, state=found.state, retirement=read(found.retirement))
        return tool
