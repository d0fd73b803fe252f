"""The published versions that a process knows, by name, and the catalogue that they make: worked out name by name.

Only names whose versions, code or default changed are worked out anew. The rest of a catalogue is taken over from the
one before it, at no look at any of its tools.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from interlock.core.agents import AgentTools, Routes
from interlock.core.cache import types_read_by_any
from interlock.core.canonical import decode
from interlock.core.catalogue import Catalogue, Tool
from interlock.core.default_versions import DefaultVersion
from interlock.core.lifecycle import Lifecycle, precedence
from interlock.core.order import Order
from interlock.core.policy_index import Change
from interlock.core.retirement import read
from interlock.core.tool import ToolSpec, spec_digest
from interlock.core.tool_compile import compile_tool
from interlock.core.typed import from_json
from interlock.ports import Registered

_CACHES = b'"cache":{'
"""What stands in the spec of every tool that caches; in few others, which cost a look."""

Named = tuple[str, str]
"""A tenant and a name."""

Identity = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Routing:
    """Agents that are published, and default versions that operators have set, by tenant and name."""

    agents: tuple[AgentTools, ...] = ()
    defaults: Mapping[Named, DefaultVersion] = field(default_factory=dict)


V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Renewed:
    """A catalogue, and what policies have to be held against since the one before it."""

    catalogue: Catalogue
    changes: tuple[Change, ...]


class Known:
    """Versions as the store had them at `epoch`, and the code of those that is here."""

    def __init__(self) -> None:
        self.epoch = -1
        self._specs: dict[str, ToolSpec] = {}
        self._rows: dict[Identity, Registered] = {}
        self._by_name: dict[Named, dict[Identity, Registered]] = {}
        self._stale: set[Named] = set()
        self._defaults: Mapping[Named, DefaultVersion] = {}
        self._caching: dict[str, ToolSpec] = {}
        self._compiled: dict[tuple[str, Lifecycle, str], Tool] = {}
        self._foreign: dict[str, ToolSpec] = {}

    def add(self, specs: Iterable[ToolSpec], *, compiled: Collection[Tool] = ()) -> None:
        """Make code known to this process; some of it may be compiled already, with nothing said of its retirement."""
        done = {id(tool.spec): tool for tool in compiled}
        for spec in specs:
            tool = done.get(id(spec))
            digest = spec_digest(spec) if tool is None else tool.digest
            self._specs[digest] = spec
            self._stale.add((spec.tenant, spec.name))
            if tool is not None:
                self._compiled[digest, tool.state, ""] = tool

    def learn(self, epoch: int, versions: Iterable[Registered]) -> None:
        """Versions that changed up to an epoch. What was read before something newer is left."""
        if epoch < self.epoch:
            return
        self.epoch = epoch
        for each in versions:
            self._rows[_identity(each)] = each
            self._by_name.setdefault((each.tenant, each.name), {})[_identity(each)] = each
            self._stale.add((each.tenant, each.name))
            if _CACHES in each.spec:
                self._caching[each.digest] = self._read(each)

    @property
    def versions(self) -> tuple[Registered, ...]:
        """Every version, oldest first."""
        return tuple(self._rows.values())

    def of_name(self, name: str, tenants: Iterable[str]) -> tuple[Registered, ...]:
        """The versions of a name that one of these tenants has, oldest first."""
        return tuple(row for tenant in tenants for row in self._by_name.get((tenant, name), {}).values())

    @property
    def cached(self) -> frozenset[str]:
        """What cached reads of any version read: one that is closed, or not the default here, may run elsewhere."""
        return types_read_by_any(self._caching.values())

    def renewed(self, base: Catalogue, routing: Routing, *, new: tuple[Registered, ...] = ()) -> Renewed:
        """The catalogue as it follows on one that this gave before, with versions that are about to be published."""
        moved = {each for each, default in routing.defaults.items() if self._defaults.get(each) != default}
        moved |= self._defaults.keys() - routing.defaults.keys()
        coming: dict[Named, list[Registered]] = {}
        for each in new:
            coming.setdefault((each.tenant, each.name), []).append(each)
        parts = _Parts(base)
        for place in sorted(self._stale | moved | coming.keys()):
            rows = {**self._by_name.get(place, {}), **{_identity(each): each for each in coming.get(place, ())}}
            self._put(parts, place, rows=[*rows.values()], default=routing.defaults.get(place))
        return Renewed(parts.catalogue(self.epoch, routing), tuple(parts.changes))

    def settled(self, routing: Routing) -> None:
        """What was worked out last is in view: names are stale again only once something changes."""
        self._stale.clear()
        self._defaults = routing.defaults

    def _put(self, parts: _Parts, place: Named, *, rows: list[Registered], default: DefaultVersion | None) -> None:
        """Work out what one name means, and put that in place of what it meant."""
        for each in rows:
            spec = self._specs.get(each.digest)
            if spec is not None:
                parts.here(each, self._tool(spec, each))
        tool = self._default(rows, default)
        gone = tool is None and bool(rows) and all(each.state is Lifecycle.RETIRED for each in rows)
        retired = self._tool(self._read(rows[-1]), rows[-1]) if gone else None
        elsewhere = self._read(_meant(rows, default)) if tool is None and rows else None
        parts.put(place, tool, elsewhere=elsewhere, retired=retired)

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


class _Parts:
    """The parts of a catalogue that is being made of another. A part that nothing changes in is not copied."""

    def __init__(self, base: Catalogue) -> None:
        self._base = base
        self._tools = dict(base.tools)
        self._elsewhere = dict(base.elsewhere)
        self._versions = dict(base.versions)
        self._retired = dict(base.retired)
        self._by_version = dict(base.by_version)
        self._touched: list[Named] = []
        self._falling = set[Named]()
        self._fell = set[Named]()
        self.changes: list[Change] = []

    def here(self, row: Registered, tool: Tool) -> None:
        """A version whose code is here."""
        self._versions[row.digest] = tool
        self._by_version[row.tenant, row.name, row.version] = tool

    def put(self, place: Named, tool: Tool | None, *, elsewhere: ToolSpec | None, retired: Tool | None) -> None:
        """What a name means now: a tool here, else one that another process has, and whether all of it is retired."""
        self._touched.append(place)
        before = self._tools.get(place)
        old = before.spec if before is not None else self._elsewhere.get(place)
        new = tool.spec if tool is not None else elsewhere
        if new is not None and new is not old and new != old:
            self.changes.append((old, new))
        _set(self._tools, place, tool)
        if tool is not None and tool.spec.fallback:
            self._falling.add(place)
        elif place in self._base.falling:
            self._fell.add(place)
        _set(self._elsewhere, place, elsewhere)
        _set(self._retired, place, retired)

    def catalogue(self, epoch: int, routing: Routing) -> Catalogue:
        """The catalogue that they make."""
        base = self._base
        return Catalogue(
            self._tools,
            epoch,
            self._elsewhere,
            self._versions,
            self._retired,
            {(each.tenant, each.name): Routes.of(each) for each in routing.agents},
            self._by_version,
            frozenset(use.tool for each in routing.agents for use in each.tools if use.shadow is not None),
            self._order(),
            (base.falling | self._falling) - self._fell if self._falling or self._fell else base.falling,
        )

    def _order(self) -> Order:
        """The order of the names, which few changes change."""
        base = self._base
        if base.order is None:
            return Order(self._tools)
        appeared = [each for each in self._touched if each in self._tools and each not in base.tools]
        gone = [each for each in self._touched if each not in self._tools and each in base.tools]
        return base.order.changed(appeared=appeared, gone=gone) if appeared or gone else base.order


def _identity(each: Registered) -> Identity:
    return each.tenant, each.source, each.name, each.version


def _may_be(row: Registered, default: DefaultVersion | None) -> bool:
    """Whether a name may mean this version: any where nobody has set one, else that alone."""
    return default is None or default.version in ("", row.version)


def _meant(rows: list[Registered], default: DefaultVersion | None) -> Registered:
    """The version that a name means where its code is in other processes alone."""
    return next((each for each in reversed(rows) if _may_be(each, default)), rows[-1])


def _set(part: dict[Named, V], place: Named, value: V | None) -> None:
    if value is None:
        part.pop(place, None)
    else:
        part[place] = value
