"""Which tools a run may offer its model at this moment: bound at its start, allowed and working today."""

from __future__ import annotations

import json
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from interlock.core.arguments import Unparsed, parse_arguments
from interlock.core.call import Caller, Principal, ToolCall
from interlock.core.canonical import Json
from interlock.core.catalogue import Catalogue, Tool
from interlock.core.choice import FIND_TOOLS
from interlock.core.decision import Deny
from interlock.core.frozen import frozen
from interlock.core.lifecycle import CLOSED, Use, drains, refusal
from interlock.core.model_text import model_text
from interlock.core.policy import Visibility
from interlock.core.refusals import Code
from interlock.core.routing import Missing, located
from interlock.core.stand_in import offered as working_ones
from interlock.core.view import View
from interlock.loop.agent import Agent
from interlock.loop.entries import Bound
from interlock.loop.hand_off import HAND_OFF, is_tool_of, narrowed
from interlock.models.catalogue_names import catalogue_name, parts
from interlock.models.dialects import Declarations, Dialect, declare
from interlock.models.turn import CallKind, Proposed
from interlock.runtime.health import Health

REMEMBERED_MAX = 256
_CUSTOM = CallKind.CUSTOM  # looking it up in its class costs as much as a call
_Key = tuple[int, int, str, Dialect, tuple[str, ...] | None]
_Usable = tuple[View, tuple[Bound, ...], Caller, Agent, tuple[Tool, ...], int | None]

NOT_OFFERED = Deny(Code.TOOL_NOT_ALLOWED, "That tool is not among those of this run.")
NOT_FOUND_YET = Deny(
    Code.TOOL_NOT_ALLOWED, f"That tool is not offered in this turn. Search with {FIND_TOOLS}, and call what it finds."
)


@dataclass(frozen=True, slots=True)
class Offer:
    """The tools of one request: as they are declared, and the versions that their names mean.

    Tools of servers that the provider calls itself are declared to it otherwise; here they are what it has to ask for.
    `pins` are there also for tools of the run that are frozen or do not work, of which the gate says so.
    `known` are all names of the tenant's tools, offered or not. `until_us` is when the next of its tools has drained
    and is offered no more (microseconds since 1970); None: none of them drains.
    """

    declarations: Declarations
    pins: Mapping[str, str]
    known: Container[str]
    until_us: int | None = None


@frozen
class Known:
    """The names of all tools of a tenant, none of which is looked at but the one that is asked for."""

    catalogue: Catalogue
    tenant: str

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.catalogue.find(self.tenant, name) is not None


@frozen
class Today:
    """What decides beside policy and states whether a tool is offered: whether it works, and whether it drains."""

    health: Health
    now_us: int


@frozen
class Role:
    """Who is asked in the next turn, among whom, and how its provider spells tools.

    `names` are those that it is offered of the run's tools, in their order; None: all of them, and nothing to search.
    """

    agent: Agent
    agents: Mapping[str, Agent]
    dialect: Dialect
    names: tuple[str, ...] | None = None


@frozen
class Planned:
    """One call of a turn on its way to the gate: what its name means, or why it is refused before."""

    proposed: Proposed
    call: ToolCall
    pin: str | None = None
    deny: Deny | None = None


def missing(view: View, bound: Iterable[Bound], tenant: str) -> tuple[Bound, ...]:
    """The bound versions that are not here any more."""
    return tuple(each for each in bound if view.catalogue.pinned(tenant, each.name, digest=each.digest) is None)


def checking(view: View, caller: Caller, name: str, *, bound: Iterable[Bound] = ()) -> Tool | None:
    """The tool that says whether a task is done: the version that the run is bound to, else today's. None: there is
    none of that name which only reads."""
    found = located(name, caller.pinned(bound_to(bound, name, agent=caller.origin.agent)), view.catalogue)
    return None if isinstance(found, Missing) or found.spec.effect.is_effect else found


def bound_to(bound: Iterable[Bound], name: str, *, agent: str) -> str | None:
    """The digest that a name means to an agent of a run; None: the run is bound to none."""
    return next((each.digest for each in bound if each.name == name and each.agent in ("", agent)), None)


def bound_of(view: View, callers: Sequence[Caller], names: Iterable[str] | None) -> tuple[Bound, ...]:
    """What a run that starts now is bound to: all tools that it may see, or those named, in the versions they mean now.

    `callers` are one for each of its agents: what a later one may see is bound too, and offered to that one alone.
    """
    wanted = None if names is None else (*names, HAND_OFF, FIND_TOOLS)
    found: dict[str, dict[str, Tool]] = {}
    for caller in callers:
        for tool in view.tools(caller) if wanted is None else view.named(caller, wanted):
            if refusal(tool.state, Use.NEW_RUN) is None:
                found.setdefault(tool.spec.name, {})[caller.origin.agent] = tool
    return tuple(each for name in sorted(found) for each in _bound(found[name]))


def _bound(tools: Mapping[str, Tool]) -> Iterable[Bound]:
    """How a run is bound to one tool, given its version for each agent that may see it."""
    digests = {tool.digest for tool in tools.values()}
    agents = {agent if len(digests) > 1 else "": tool for agent, tool in tools.items()}
    return [Bound(tool.spec.name, tool.spec.version, tool.digest, agent) for agent, tool in agents.items()]


def offer(view: View, caller: Caller, bound: Iterable[Bound], *, role: Role, today: Today) -> Offer:
    """What may be called in the next turn. A frozen tool is none of it, whatever the run is bound to, and neither is
    one that has drained: what its name means stays known, so that the gate says what became of it."""
    if role.names is not None and today.health.is_quiet:  # nothing stands in for anything: the others need no look
        bound = _named(bound, frozenset(role.names))
    tools = _of_agent(view, caller, bound, agent=role.agent)
    working = _working(tools, today)
    shown, pinned = _in_order(tools, working, names=role.names)
    triples = [
        (tool.spec.name, model_text(tool.spec), _schema(tool, role))
        for tool in shown
        if not parts(tool.spec.name).server
    ]
    known = Known(view.catalogue, caller.principal.tenant)
    pins = {each.spec.name: each.digest for each in pinned}
    return Offer(declare(triples, dialect=role.dialect), pins, known, _until_us(tools, today))


def _named(bound: Iterable[Bound], names: frozenset[str]) -> tuple[Bound, ...]:
    return tuple(each for each in bound if each.name in names)


def _of_agent(view: View, caller: Caller, bound: Iterable[Bound], *, agent: Agent) -> tuple[Tool, ...]:
    return tuple(tool for each in bound if (tool := _of_run(view, caller, each, agent=agent)) is not None)


def _working(tools: Sequence[Tool], today: Today) -> tuple[Tool, ...]:
    specs = [tool.spec for tool in tools if _may_be_called(tool, now_us=today.now_us)]
    working = [spec for spec in specs if not today.health.withheld(spec)]
    names = {spec.name for spec in working_ones(specs, working=working)}
    return tuple(tool for tool in tools if tool.spec.name in names)


def _in_order(
    tools: Sequence[Tool], working: Sequence[Tool], *, names: tuple[str, ...] | None
) -> Sequence[Sequence[Tool]]:
    """What is offered, and what its names mean. What stands in for a tool that does not work takes its place."""
    if names is None:
        return [[each for each in given if each.spec.name != FIND_TOOLS] for given in (working, tools)]
    there = {tool.spec.name: tool for tool in tools}
    able = {tool.spec.name: tool for tool in working}
    places = [name if name in able else there[name].spec.fallback for name in names if name in there]
    shown = [able[name] for name in dict.fromkeys(places) if name in able]
    named = {tool.spec.name: tool for tool in (*(there[name] for name in names if name in there), *shown)}
    return shown, [*named.values()]


class Offers:
    """Offers that were worked out, for all runs of a process: most runs of an agent offer what another did.

    By identity of the view and of what is bound, which are kept beside; bounded, and dropped when full. Each holds
    until one of its tools has drained.
    """

    def __init__(self, health: Health) -> None:
        self._health = health
        self._found: dict[_Key, tuple[View, tuple[Bound, ...], Principal, Role, Offer]] = {}
        self._bound: tuple[View, object, object, tuple[Bound, ...]] | None = None
        self._whole: tuple[View, tuple[Bound, ...], str] | None = None
        self._usable: dict[tuple[int, int, str], _Usable] = {}

    def of(self, view: View, caller: Caller, bound: tuple[Bound, ...], *, role: Role, now_us: int) -> Offer:
        """What may be called in the next turn."""
        key = (id(view), id(bound), role.agent.name, role.dialect, role.names)
        known = self._found.get(key) if self._health.is_quiet else None
        holds = known is not None and _holds(known[4].until_us, now_us)
        if known is not None and holds and known[2:4] == (caller.principal, role):
            if known[3].agents is not role.agents:  # the next turn of this run finds its own, which is equal at once
                self._found[key] = view, bound, caller.principal, role, known[4]
            return known[4]
        found = offer(view, caller, bound, role=role, today=Today(self._health, now_us))
        if self._health.is_quiet:
            if len(self._found) >= REMEMBERED_MAX:
                self._found.clear()
            self._found[key] = view, bound, caller.principal, role, found
        return found

    def missing(self, view: View, bound: tuple[Bound, ...], *, tenant: str) -> tuple[Bound, ...]:
        """The bound versions that are not here any more; of those that were whole last, in this view, none is."""
        known = self._whole
        if known is not None and known[0] is view and known[1] is bound and known[2] == tenant:
            return ()
        gone = missing(view, bound, tenant)
        if not gone:
            self._whole = view, bound, tenant
        return gone

    def usable(
        self, view: View, caller: Caller, bound: tuple[Bound, ...], *, agent: Agent, now_us: int
    ) -> tuple[Tool, ...]:
        """The tools that an agent of a run may call now, offered or not: the same value for runs that are alike."""
        key = (id(view), id(bound), agent.name)
        known = self._usable.get(key) if self._health.is_quiet else None
        holds = known is not None and _holds(known[5], now_us)
        if known is not None and holds and known[2].principal == caller.principal and known[3] == agent:
            return known[4]
        tools, today = _of_agent(view, caller, bound, agent=agent), Today(self._health, now_us)
        found = _working(tools, today)
        if self._health.is_quiet:
            if len(self._usable) >= REMEMBERED_MAX:
                self._usable.clear()
            self._usable[key] = view, bound, caller, agent, found, _until_us(tools, today)
        return found

    def bound(self, view: View, callers: Sequence[Caller], names: Collection[str] | None) -> tuple[Bound, ...]:
        """What a run that starts now is bound to: the same value for runs that start alike."""
        wanted = None if names is None else frozenset(names)
        who = callers[0].principal, frozenset(each.origin.agent for each in callers)
        known = self._bound
        if known is not None and known[0] is view and known[1] == who and known[2] == wanted:
            return known[3]
        found = bound_of(view, callers, wanted)
        self._bound = view, who, wanted, found
        return found


def _of_run(view: View, caller: Caller, bound: Bound, *, agent: Agent) -> Tool | None:
    if not is_tool_of(agent, bound.name) or bound.agent not in ("", agent.name):
        return None
    tool = located(bound.name, caller.pinned(bound.digest), view.catalogue)
    if isinstance(tool, Missing) or view.visibility(tool, caller) is Visibility.NEVER:
        return None
    return tool


def _may_be_called(tool: Tool, *, now_us: int) -> bool:
    """Whether a run that is bound to it may call it now, or may as long as it drains."""
    return tool.state not in CLOSED or drains(tool.state, Use.BOUND_RUN, until_us=_drains_until_us(tool), now_us=now_us)


def _drains_until_us(tool: Tool) -> int | None:
    return None if tool.retirement is None else tool.retirement.drains_until_us


def _until_us(tools: Iterable[Tool], today: Today) -> int | None:
    """When the next of the tools that drain has drained."""
    ends = [_drains_until_us(tool) for tool in tools if tool.state in CLOSED]
    return min((each for each in ends if each is not None and each > today.now_us), default=None)


def _holds(until_us: int | None, now_us: int) -> bool:
    return until_us is None or now_us < until_us


def _schema(tool: Tool, role: Role) -> dict[str, Json]:
    schema: dict[str, Json] = json.loads(tool.model_schema)
    return narrowed(schema, role.agent, role.agents) if tool.spec.name == HAND_OFF else schema


def planned(proposed: Proposed, *, call_id: str, offered: Offer) -> Planned:
    """The call that a model means by its spelling. A name that was not offered means nothing that could run."""
    name = catalogue_name(proposed, offered.declarations.names)
    if name == f" {proposed.name}" and not parts(proposed.name).server:  # not offered, and perhaps of this run
        name = proposed.name
    if name not in offered.pins:
        name = name.removeprefix(" ")
        deny = None if name not in offered.known else NOT_FOUND_YET if FIND_TOOLS in offered.pins else NOT_OFFERED
        return Planned(proposed, ToolCall(call_id, name, proposed.arguments_raw), deny=deny)
    return Planned(proposed, ToolCall(call_id, name, _arguments(proposed, offered, name)), offered.pins[name])


def _arguments(proposed: Proposed, offered: Offer, name: str) -> str | dict[str, object]:
    """Under the original contract: what a dialect made of the schema is undone; else the text itself."""
    if proposed.kind is _CUSTOM:
        return {"input": proposed.arguments_raw}
    projection = offered.declarations.projections.get(name)
    if projection is None or not projection.form.marks:
        return proposed.arguments_raw
    parsed = parse_arguments(proposed.arguments_raw)
    if isinstance(parsed, Unparsed):
        return proposed.arguments_raw
    back = projection.form.back(parsed)
    return {**back} if isinstance(back, dict) else proposed.arguments_raw
