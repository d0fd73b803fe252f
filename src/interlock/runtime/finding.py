"""Finds tools by words, among those alone that a caller may see, and says of a choice why it is as it is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final

from interlock.core.call import Caller, Principal
from interlock.core.catalogue import Tool
from interlock.core.choice import ALWAYS, FIND_TOOLS, FoundTool, ToolChoice, Withheld, is_over, kept, one_line
from interlock.core.lifecycle import CLOSED
from interlock.core.routing import tools_of
from interlock.core.stand_in import offered
from interlock.core.view import View
from interlock.ports.finding import Ranked, Ranker
from interlock.runtime.acts import AUDITORS
from interlock.runtime.health import Health
from interlock.runtime.views import Views

FOUND_MAX: Final = 50
"""The most that one search gives."""

CALLERS_MAX: Final = 8
"""Of how many callers it is remembered what they may use; among many tools each is a long list."""


class Finding:
    """Searches and choices of one gate. The ranker is opened when something is first searched for."""

    def __init__(self, views: Views, *, health: Health, tools_max: int, opens: Callable[[], Ranker]) -> None:
        self._views = views
        self._health = health
        self._opens = opens
        self._ranker: Ranker | None = None
        self._seen: tuple[View, list[tuple[tuple[Principal, str, str], tuple[Tool, ...]]]] | None = None
        self.tools_max = tools_max

    async def search(self, query: str, caller: Caller, *, most: int) -> tuple[FoundTool, ...]:
        """The tools that fit the words best, of those that this caller may see and that take calls at present."""
        return await self.among(query, self.usable(caller), most=most)

    async def among(self, query: str, tools: tuple[Tool, ...], *, most: int) -> tuple[FoundTool, ...]:
        """Of these tools, which the caller may all see, those that fit best."""
        known = {tool.digest: tool.spec for tool in tools}
        ranked = await self._ranked(query, tools, most=min(most, FOUND_MAX))
        return tuple(
            FoundTool(spec.name, spec.version, one_line(spec.description), each.score, each.parts)
            for each, spec in ((each, known[each.digest]) for each in ranked)
        )

    async def kept(self, task: str, tools: tuple[Tool, ...], *, pinned: Sequence[str], most: int) -> tuple[str, ...]:
        """The names of those that a model is offered from the beginning, in their order."""
        names = {tool.digest: tool.spec.name for tool in tools}
        ranked = await self._ranked(task, tools, most=most + len(ALWAYS) + len(pinned))
        return kept([*names.values()], pinned=pinned, ranked=[names[each.digest] for each in ranked], most=most)

    def usable(self, caller: Caller) -> tuple[Tool, ...]:
        """All that this caller may see and that takes calls at present, by name."""
        view, who = self._views.current, (caller.principal, caller.origin.agent, caller.origin.door)
        if self._seen is None or self._seen[0] is not view or len(self._seen[1]) >= CALLERS_MAX:
            self._seen = view, []
        keeps, seen = caller.pin is None and self._health.is_quiet, self._seen[1]
        known = next((tools for one, tools in seen if one == who), None) if keeps else None
        if known is not None:
            return known
        tools = tuple(tools_of(caller, view.catalogue))
        withheld = dict(self._withheld(view, caller, None, among=tools))
        found = tuple(tool for tool in tools if tool.digest not in withheld)
        if keeps:
            seen.append((who, found))
        return found

    async def explained(
        self, caller: Caller, task: str, *, names: Sequence[str] | None, most: int, by: Principal | None
    ) -> tuple[ToolChoice, ...]:
        """What becomes of each tool, by name. Who is neither auditor nor operator hears of none that policy withholds
        from the caller. `names` are the agent's own list; where it has none, all that the caller may see are its."""
        view = self._views.current
        every = _every(view, caller)
        withheld = dict(self._withheld(view, caller, names, among=every))
        hears_all = by is not None and by.tenant == caller.principal.tenant and not by.groups.isdisjoint(AUDITORS)
        tools = [each for each in every if hears_all or withheld.get(each.digest) is not Withheld.POLICY]
        able = {tool.digest: tool for tool in tools if tool.digest not in withheld}
        ranked = await self._ranked(task, tuple(able.values()), most=len(able))
        places = {each.digest: (at, each) for at, each in enumerate(ranked, 1)}
        usable = [tool.spec.name for tool in able.values()]
        order = [able[each.digest].spec.name for each in ranked]
        shown = kept(usable, pinned=(*(names or ()), *listed(view, caller)), ranked=order, most=most)
        offer = frozenset(shown) if is_over(usable, most) else frozenset(usable) - {FIND_TOOLS}
        return tuple(_chosen(tool, withheld, places, offer=offer) for tool in tools)

    async def _ranked(self, query: str, tools: tuple[Tool, ...], *, most: int) -> tuple[Ranked, ...]:
        if self._ranker is None:
            self._ranker = self._opens()
        return await self._ranker.rank(query, tools, most=most)

    def _withheld(
        self, view: View, caller: Caller, names: Collection[str] | None, *, among: Sequence[Tool]
    ) -> Iterator[tuple[str, Withheld]]:
        """The tools that are not the caller's to use now, each with the first reason."""
        mine, sees = {tool.digest for tool in tools_of(caller, view.catalogue)}, view.sees(caller)
        open_ = []
        for tool in among:
            if not sees(tool):
                yield tool.digest, Withheld.POLICY
            elif tool.digest not in mine:
                yield tool.digest, Withheld.AGENT
            elif tool.state in CLOSED:
                yield tool.digest, Withheld.LIFECYCLE
            else:
                open_.append(tool)
        specs = [tool.spec for tool in open_]
        working = {each.name for each in offered(specs, working=[s for s in specs if not self._health.withheld(s)])}
        for tool in open_:
            if tool.spec.name not in working:
                yield tool.digest, Withheld.HEALTH
            elif names is not None and tool.spec.name not in names and tool.spec.name not in ALWAYS:
                yield tool.digest, Withheld.AGENT


def listed(view: View, caller: Caller) -> tuple[str, ...]:
    """What a published agent names itself that may use all others too: these go first."""
    routes = view.catalogue.routes(caller.principal.tenant, caller.origin.agent)
    return tuple(routes.uses) if routes is not None and routes.agent.others else ()


def _every(view: View, caller: Caller) -> tuple[Tool, ...]:
    """All tools of the tenant by name, each in the version that its name means to the caller, or to others."""
    tools = {tool.spec.name: tool for tool in view.catalogue.of(caller.principal.tenant)}
    tools |= {tool.spec.name: tool for tool in tools_of(caller, view.catalogue)}
    return tuple(tools[name] for name in sorted(tools))


def _chosen(
    tool: Tool, withheld: Mapping[str, Withheld], places: Mapping[str, tuple[int, Ranked]], *, offer: frozenset[str]
) -> ToolChoice:
    spec, why = tool.spec, withheld.get(tool.digest)
    if why is None and spec.name not in offer:
        why = Withheld.LIMIT
    rank, found = places.get(tool.digest, (None, None))
    parts = {} if found is None else found.parts
    return ToolChoice(
        spec.name, spec.version, why, _why(tool, why, rank), rank, 0.0 if found is None else found.score, parts
    )


def _why(tool: Tool, withheld: Withheld | None, rank: int | None) -> str:
    fits = "it shares nothing with the task" if rank is None else f"it comes in place {rank} for the task"
    match withheld:
        case None:
            return f"It is offered; {fits}."
        case Withheld.POLICY:
            return "No policy lets this caller call it."
        case Withheld.LIFECYCLE:
            return f"It is {tool.state.value} and takes no calls."
        case Withheld.HEALTH:
            return "It does not work at present, or only stands in for one that does."
        case Withheld.AGENT:
            return "It is not among the tools of the agent."
        case Withheld.LIMIT if tool.spec.name == FIND_TOOLS:
            return "All tools are offered: there is nothing to search for."
        case Withheld.LIMIT:
            return f"There are more than are offered at once, and {fits}: it is found by searching."
