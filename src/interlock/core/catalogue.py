"""The catalogue at one moment: compiled tools by tenant and name, immutable, for a decision to read without I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from heapq import nlargest
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from interlock.core.agents import Routes
from interlock.core.evidence import Evidence
from interlock.core.layers import Layers
from interlock.core.lifecycle import OPEN, Lifecycle
from interlock.core.listed import Contract
from interlock.core.order import Order
from interlock.core.retirement import Retirement, notice
from interlock.core.schema import CompiledSchema
from interlock.core.stops import Stop, stopping
from interlock.core.tool import SHARED, Parameter, ToolSpec
from interlock.core.tool_parts import Parts, parts_of

NAME_CHARS_MAX = 128
"""As much of a name that is no tool as is looked at or repeated."""

STOPPED_MAX = 262_144
"""How many tools are remembered as they stand for tenants under the stops of the moment."""

FOUND_MAX = 4_096
"""Of how many names it is remembered what they mean, before all are looked up anew."""

COMPARED_MAX = 128
"""How many names one unknown name is compared with."""


@dataclass(frozen=True, slots=True, eq=False)
class Tool:
    """A spec with everything derived from it that a call needs; that is worked out when it is first asked for.

    `sensitive` are JSON pointers into arguments that are never shown; `model_schema` is what a model sees: the input
    schema without injected parameters. `users` are parameters that only a user's explicit request may set. `evidence`
    is what a result without sources of its own is evidence of. `retirement` is what was announced or done about it,
    `notice` what callers are told of that beside results.
    """

    spec: ToolSpec
    digest: str
    state: Lifecycle = Lifecycle.AVAILABLE
    retirement: Retirement | None = None
    input: CompiledSchema = field(init=False, repr=False)
    output: CompiledSchema | None = field(init=False, repr=False)
    sensitive: frozenset[str] = field(init=False, repr=False)
    injected: tuple[Parameter, ...] = field(init=False, repr=False)
    model_schema: bytes = field(init=False, repr=False)
    users: frozenset[str] = field(init=False, repr=False)
    evidence: Evidence = field(init=False, repr=False)
    notice: str = field(init=False, repr=False)

    def work_out(self) -> None:
        """Fill in all that is derived. Raises `SchemaInvalid` or `SpecInvalid` where the spec describes no tool."""
        parts, put = parts_of(self.spec), object.__setattr__
        for name in _DERIVED:
            put(self, name, getattr(parts, name))
        put(self, "evidence", self.spec.evidence.plain)
        said = self.retirement
        put(self, "notice", "" if said is None or self.state not in OPEN else notice(self.spec, said))
        put(self, "__class__", Tool)

    if not TYPE_CHECKING:

        def __new__(cls, *fields: object, **named: object) -> Tool:
            """Each begins as one that was not asked yet."""
            return object.__new__(_Unasked)


class _Unasked(Tool):
    """A tool of which nothing derived was asked for before; from then on it is a plain `Tool`.

    Of a class with a `__getattr__` Python looks up every attribute the slow way, and a call reads two dozen of them.
    """

    __slots__ = ()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """A slot that is filled never comes here."""
            if name not in Tool.__slots__:
                raise AttributeError(name)
            self.work_out()
            return getattr(self, name)


_DERIVED: Final = tuple(Parts.__dataclass_fields__)


@dataclass(frozen=True, slots=True, eq=False)
class Catalogue:
    """The default version of each tool. `epoch` rises with every change of a tool or policy in this process's view.

    `versions` are all that are published and whose code is here, by digest: what pins of runs lead to. `retired` are
    names of which nothing but retired versions is left, and whose code is not here either: late calls are told so, and
    only then the version is read; None: it cannot be.
    `order` is that of the names of `tools`, `falling` are those of them that fall back on another tool.
    `agents` are those that are published, by tenant and name; `by_version`, where there are any, what they lead to.
    `shadowed` are names of tools of which some agent has another version tried.
    `stops` stand beside the states of versions; `stopped` are tools as they stand for a tenant under them, once found.
    `found` remembers what names mean to tenants; it begins anew with each catalogue.
    """

    tools: Mapping[tuple[str, str], Tool] = field(default_factory=Layers)
    epoch: int = 0
    elsewhere: Mapping[tuple[str, str], Contract] = field(default_factory=Layers)
    versions: Mapping[str, Tool] = field(default_factory=Layers)
    retired: Mapping[tuple[str, str], Callable[[], Tool | None]] = field(default_factory=Layers)
    agents: Mapping[tuple[str, str], Routes] = field(default_factory=dict)
    by_version: Mapping[tuple[str, str, str], Tool] = field(default_factory=Layers)
    shadowed: frozenset[str] = frozenset()
    order: Order | None = None
    falling: frozenset[tuple[str, str]] = frozenset()
    stops: tuple[Stop, ...] = ()
    stopped: dict[tuple[int, str], Tool] = field(default_factory=dict)
    found: dict[tuple[str, str], Tool] = field(default_factory=dict, init=False)

    @property
    def specs(self) -> tuple[Contract, ...]:
        """Everything that policies may be about, callable in this process or not; always in the same order."""
        found = (*(tool.spec for tool in self.tools.values()), *self.elsewhere.values())
        return tuple(sorted(found, key=attrgetter("identity")))

    @property
    def routed(self) -> tuple[ToolSpec, ...]:
        """The versions here that agents name, which policies have to fit too."""
        named = {
            (tenant, use.tool, version)
            for (tenant, _), routes in self.agents.items()
            for use in routes.agent.tools
            for version in use.versions
        }
        found = (self.numbered(*each) for each in sorted(named))
        return tuple(tool.spec for tool in found if tool is not None)

    def find(self, tenant: str, name: str) -> Tool | None:
        """The tenant's own tool of exactly this name, else the shared one."""
        found = self.found.get((tenant, name))
        if found is None and (found := self._meant(tenant, name)) is not None:
            if len(self.found) >= FOUND_MAX:
                self.found.clear()
            self.found[tenant, name] = found
        return found

    def _meant(self, tenant: str, name: str) -> Tool | None:
        """The same, for who looks at many: nothing is remembered."""
        tool = self.tools.get((tenant, name)) or self.tools.get((SHARED, name))
        return self._standing(tool, tenant) if self.stops else tool

    def absent(self, tenant: str, name: str) -> Contract | None:
        """What a name means of which no code is here, though other processes may have it."""
        return self.elsewhere.get((tenant, name)) or self.elsewhere.get((SHARED, name))

    def late(self, tenant: str, name: str) -> Tool | None:
        """The retired tool of exactly this name, where none of that name is callable here any more."""
        found = self.retired.get((tenant, name)) or self.retired.get((SHARED, name))
        return None if found is None else found()

    def pinned(self, tenant: str, name: str, *, digest: str) -> Tool | None:
        """The version of this digest, where it is one of that name and the tenant may have it."""
        tool = self.versions.get(digest)
        if tool is None or tool.spec.name != name or tool.spec.tenant not in (tenant, SHARED):
            return None
        return self._standing(tool, tenant)

    def routes(self, tenant: str, agent: str) -> Routes | None:
        """The tenant's own agent of this name, else the shared one; None: none is published."""
        return self.agents.get((tenant, agent)) or self.agents.get((SHARED, agent))

    def numbered(self, tenant: str, name: str, version: str) -> Tool | None:
        """This version of the tenant's own tool, else of the shared one, where it is here."""
        found = self.by_version.get((tenant, name, version)) or self.by_version.get((SHARED, name, version))
        return self._standing(found, tenant)

    def of(self, tenant: str) -> Iterable[Tool]:
        """Every tool that the tenant might be allowed to use, ordered by name; its own stand before shared ones."""
        return list(self.after(tenant, ""))

    def after(self, tenant: str, name: str) -> Iterator[Tool]:
        """The same from one name on, which is left out."""
        found = (self._meant(tenant, each) for each in self._order.after(tenant, name))
        return (tool for tool in found if tool is not None)

    def near(self, tenant: str, name: str) -> list[str]:
        """Names that the tenant sees and that begin or end like one; of many not all."""
        return self._order.near(tenant, name)

    @property
    def _order(self) -> Order:
        return Order(self.tools) if self.order is None else self.order

    def _standing(self, tool: Tool | None, tenant: str) -> Tool | None:
        """The tool as it stands for callers of a tenant: where a stop covers it, it takes no calls at all."""
        if tool is None or not self.stops:
            return tool
        place = id(tool), tenant
        if place not in self.stopped:
            if len(self.stopped) >= STOPPED_MAX:
                self.stopped.clear()
            self.stopped[place] = _stopped(tool) if stopping(self.stops, tool.spec, tenant=tenant) else tool
        return self.stopped[place]


def _stopped(tool: Tool) -> Tool:
    """The same tool while a stop stands: what was open is frozen, and what drained does so no more."""
    if tool.state in OPEN:
        return replace(tool, state=Lifecycle.FROZEN)
    going = tool.retirement
    return tool if going is None else replace(tool, retirement=replace(going, drains_until_us=None))


def nearest(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """At most 16 names that a misspelled one may have meant, best first.

    Comparing is slow, and anyone may invent names: among many, those that share words or a beginning are compared.
    """
    name = name[:NAME_CHARS_MAX]
    words = frozenset(name.split("_"))

    def likeness(other: str) -> tuple[int, bool]:
        return len(words.intersection(other.split("_"))), other[:3] == name[:3]

    pool = nlargest(COMPARED_MAX, names, key=likeness)
    return tuple(get_close_matches(name, pool, n=16, cutoff=0.6))
