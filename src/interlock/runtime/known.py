"""The published versions that a process knows, by name, and the catalogue that they make: worked out name by name.

Only names whose versions, code or default changed are worked out anew. The rest of a catalogue is taken over from the
one before it, at no look at any of its tools.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

from interlock.core.agents import AgentTools, Routes
from interlock.core.catalogue import Catalogue, Tool
from interlock.core.default_versions import DefaultVersion
from interlock.core.errors import SpecInvalid
from interlock.core.layers import Changing
from interlock.core.lifecycle import Lifecycle, precedence
from interlock.core.listed import Contract, Listed
from interlock.core.order import Order
from interlock.core.policy_index import Change
from interlock.core.tool import ToolSpec, spec_digest
from interlock.ports import Registered
from interlock.runtime.versions import Named, Versions, going_of, spec_of

log = logging.getLogger("interlock.catalogue")


@dataclass(frozen=True, slots=True)
class Routing:
    """Agents that are published, and default versions that operators have set, by tenant and name.

    `moved` are the names whose default may be another than when a catalogue was `settled` last.
    """

    agents: tuple[AgentTools, ...] = ()
    defaults: Mapping[Named, DefaultVersion] = field(default_factory=dict)
    moved: frozenset[Named] = frozenset()


@dataclass(frozen=True, slots=True)
class Renewed:
    """A catalogue, and what policies have to be held against since the one before it."""

    catalogue: Catalogue
    changes: tuple[Change, ...]


class Known:
    """Versions as the store had them at `epoch`, and the code of those that is here."""

    def __init__(self) -> None:
        self.epoch = -1
        self.versions = Versions()
        self._specs: dict[str, ToolSpec] = {}
        self._stale: set[Named] = set()
        self._tools: dict[tuple[str, Lifecycle, str], Tool] = {}

    def add(self, specs: Iterable[ToolSpec], *, compiled: Collection[Tool] = ()) -> None:
        """Make code known to this process; some of it may be compiled already, with nothing said of its retirement."""
        done = {id(tool.spec): tool for tool in compiled}
        for spec in specs:
            tool = done.get(id(spec))
            digest = spec_digest(spec) if tool is None else tool.digest
            self._specs[digest] = spec
            self._stale.add((spec.tenant, spec.name))
            if tool is not None:
                self._tools[digest, tool.state, ""] = tool

    def learn(self, epoch: int, versions: Iterable[Registered]) -> None:
        """Versions that changed up to an epoch. What was read before something newer is left."""
        if epoch < self.epoch:
            return
        self.epoch = epoch
        for each in versions:
            self.versions.put(each, spec=self._specs.get(each.digest))
            self._stale.add((each.tenant, each.name))

    def renewed(self, base: Catalogue, routing: Routing, *, new: tuple[Registered, ...] = ()) -> Renewed:
        """The catalogue as it follows on one that this gave before, with versions that are about to be published."""
        coming: dict[Named, list[Registered]] = {}
        for each in new:
            coming.setdefault((each.tenant, each.name), []).append(each)
        parts = _Parts(base)
        for place in sorted(self._stale | routing.moved | coming.keys()):
            rows = self.versions.of(*place)
            if place in coming:
                moving = {_which(each): each for each in (*rows, *coming[place])}
                rows = tuple(moving.values())
            self._put(parts, place, rows=rows, default=routing.defaults.get(place))
        return Renewed(parts.catalogue(self.epoch, routing), tuple(parts.changes))

    def settled(self) -> None:
        """What was worked out last is in view: names are stale again only once something changes."""
        self._stale.clear()

    def _put(
        self, parts: _Parts, place: Named, *, rows: tuple[Registered, ...], default: DefaultVersion | None
    ) -> None:
        """Work out what one name means, and put that in place of what it meant."""
        for each in rows:
            spec = self._specs.get(each.digest)
            if spec is not None:
                parts.here(each, self._tool(spec, each))
        tool = self._default(rows, default)
        meant = _meant(rows, default) if tool is None and rows else None
        gone = tool is None and bool(rows) and all(each.state is Lifecycle.RETIRED for each in rows)
        retired = partial(self._late, rows[-1]) if gone else None
        parts.put(place, tool, elsewhere=None if meant is None else self.versions.listed(meant), retired=retired)

    def _default(self, rows: Iterable[Registered], default: DefaultVersion | None) -> Tool | None:
        """The version that an operator has set, where its code is here, and none else.

        Where nobody has set one it is the version published last whose code is here, of those that the name alone may
        mean; else of the others.
        """
        found: tuple[ToolSpec, Registered] | None = None
        for each in rows:
            spec = self._specs.get(each.digest)
            if spec is None or not _may_be(each, default):
                continue
            if found is None or precedence(each.state) >= precedence(found[1].state):
                found = spec, each
        return None if found is None else self._tool(*found)

    def _late(self, row: Registered) -> Tool | None:
        """The tool that a retired version was, for those who call it late."""
        try:
            tool = self._tool(self._specs.get(row.digest) or spec_of(row), row)
            tool.work_out()
            return tool
        except SpecInvalid as fault:
            log.error("late calls of %s are told nothing: %s", row.name, fault)  # noqa: TRY400
            return None

    def _tool(self, spec: ToolSpec, found: Registered) -> Tool:
        place = (found.digest, found.state, found.retirement)
        tool = self._tools.get(place)
        if tool is None:
            going = going_of(found) if found.retirement else None
            tool = self._tools[place] = Tool(spec, found.digest, found.state, going)
        return tool


class _Parts:
    """The parts of a catalogue that is being made of another, with which they share what does not change."""

    def __init__(self, base: Catalogue) -> None:
        self._base = base
        self._tools = Changing(base.tools)
        self._elsewhere = Changing(base.elsewhere)
        self._versions = Changing(base.versions)
        self._retired = Changing(base.retired)
        self._by_version = Changing(base.by_version)
        self._touched: list[Named] = []
        self._falling = set[Named]()
        self._fell = set[Named]()
        self.changes: list[Change] = []

    def here(self, row: Registered, tool: Tool) -> None:
        """A version whose code is here."""
        self._versions.put(row.digest, tool)
        self._by_version.put((row.tenant, row.name, row.version), tool)

    def put(
        self, place: Named, tool: Tool | None, *, elsewhere: Listed | None, retired: Callable[[], Tool | None] | None
    ) -> None:
        """What a name means now: a tool here, else one that another process has, and whether all of it is retired."""
        self._touched.append(place)
        before = self._tools.get(place)
        old: Contract | None = before.spec if before is not None else self._elsewhere.get(place)
        new: Contract | None = tool.spec if tool is not None else elsewhere
        if new is not None and new is not old and new != old:
            self.changes.append((old, new))
        self._tools.put(place, tool)
        if tool is not None and tool.spec.fallback:
            self._falling.add(place)
        elif place in self._base.falling:
            self._fell.add(place)
        self._elsewhere.put(place, elsewhere)
        self._retired.put(place, retired)

    def catalogue(self, epoch: int, routing: Routing) -> Catalogue:
        """The catalogue that they make."""
        base, tools = self._base, self._tools.finish()
        return Catalogue(
            tools,
            epoch,
            self._elsewhere.finish(),
            self._versions.finish(),
            self._retired.finish(),
            {(each.tenant, each.name): Routes.of(each) for each in routing.agents},
            self._by_version.finish(),
            frozenset(use.tool for each in routing.agents for use in each.tools if use.shadow is not None),
            self._order(tools),
            (base.falling | self._falling) - self._fell if self._falling or self._fell else base.falling,
        )

    def _order(self, tools: Mapping[Named, Tool]) -> Order:
        """The order of the names, which few changes change."""
        base = self._base
        if base.order is None:
            return Order(tools)
        appeared = [each for each in self._touched if each in tools and each not in base.tools]
        gone = [each for each in self._touched if each not in tools and each in base.tools]
        return base.order.changed(appeared=appeared, gone=gone) if appeared or gone else base.order


def _which(each: Registered) -> tuple[str, str]:
    return each.source, each.version


def _may_be(row: Registered, default: DefaultVersion | None) -> bool:
    """Whether a name may mean this version: any where nobody has set one, else that alone."""
    return default is None or default.version in ("", row.version)


def _meant(rows: tuple[Registered, ...], default: DefaultVersion | None) -> Registered:
    """The version that a name means where its code is in other processes alone."""
    return next((each for each in reversed(rows) if _may_be(each, default)), rows[-1])
