"""Agents as their operators use them: save, list, pin, canary, shadow, roll back, explain; each act is on record."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from interlock.core.agent_changes import Moment, evaluated, pinned, revised, rolled_back
from interlock.core.agents import (
    AgentTools,
    Canary,
    ShadowRule,
    ToolUse,
    Upgrade,
    agent_to_bytes,
    is_name,
    refuse_invalid,
    refuse_unnamed,
)
from interlock.core.call import Caller, Origin, Principal
from interlock.core.canonical import Json
from interlock.core.documents import Document, DocumentKind
from interlock.core.errors import ActRefused, AgentUnknown, DocumentChanged, MoveRefused, ToolUnknown
from interlock.core.journal import EventKind
from interlock.core.lifecycle import Lifecycle, Use, refusal
from interlock.core.routing import Why
from interlock.core.routing_words import Explained, explain, explain_to_oneself
from interlock.core.tool import SHARED, spec_to_json
from interlock.ports import Registered
from interlock.runtime.acts import AUDITORS, OPERATORS, only_operators, signed_by
from interlock.runtime.changes import Planned, carry_out
from interlock.runtime.records import Records
from interlock.runtime.saved import Saved
from interlock.runtime.versions import Versions, spec_of
from interlock.runtime.views import Views
from interlock.runtime.world import World

Change = Callable[[AgentTools], AgentTools]


class AgentDesk:
    """What people do with agents. Every method acts on the agent of the tenant of `by`, else on the shared one.

    Shared agents, and those of other tenants, take an operator of the installation's own tenant, `home`. A change is
    made to the revision that was read: who is overtaken hears so (`DocumentChanged`), and nothing is written.
    """

    def __init__(self, world: World, *, views: Views, records: Records, home: str) -> None:
        self._world = world
        self._views = views
        self._records = records
        self._home = home
        self._saved = Saved()

    async def list(self, *, by: Principal) -> tuple[AgentTools, ...]:
        """The agents of the tenant of `by`, and the shared ones; of all tenants for operators of `home`.

        Those who may not read the log see of each agent the tools that policy lets them know of, and no others.
        """
        every = by.tenant == self._home and bool(by.groups & OPERATORS)
        _, documents = await self._world.documents.documents(DocumentKind.AGENT)
        found = [self._saved.agent(each) for each in documents if every or each.tenant in (by.tenant, SHARED)]
        return tuple([await self._seen(each, by) for each in found])

    async def get(self, name: str, *, by: Principal) -> AgentTools:
        """One agent as `list` shows it, with the revision that a change of it follows on. Raises `AgentUnknown`."""
        return await self._seen(await self._agent(name, by), by)

    async def _agent(self, name: str, by: Principal) -> AgentTools:
        for tenant in (by.tenant, SHARED) if is_name(name) else ():
            found = await self._document(tenant, name)
            if found is not None and not found.is_removed:
                return self._saved.agent(found)
        raise AgentUnknown(f"there is no agent named {name[:128]!r}")

    async def _seen(self, agent: AgentTools, by: Principal) -> AgentTools:
        """An agent without the tools that are hidden from `by`: what policy never lets them call is no name to them."""
        if by.groups & AUDITORS:
            return agent
        view, caller = await self._views.latest(), Caller(by, origin=Origin(agent=agent.name))
        means = ((each, explain_to_oneself(each.tool, caller, view)) for each in agent.tools)
        return replace(agent, tools=tuple(each for each, found in means if found.why is not Why.UNKNOWN))

    async def save(self, agent: AgentTools, *, by: Principal, reason: str) -> AgentTools:
        """Publish an agent, or what is new of it; as it is kept. It takes hold with the next call, in every process.

        Raises `ActRefused`, `AgentInvalid`, `ToolUnknown` for a tool or version that there is not, `MoveRefused` for a
        version that takes no calls, `PolicyInvalid` where policies do not fit it, and `DocumentChanged` where it was
        saved by somebody else since it was read. Then nothing changes.
        """
        only_operators(by, "Saving an agent", tenants={agent.tenant}, home=self._home)
        return await self._write(agent, by=by, record={"what": "saved", "reason": reason})

    async def remove(self, name: str, *, by: Principal, reason: str) -> None:
        """Take an agent back: its name has the default version of every tool again, as policy rules."""
        agent = await self._agent(name, by)
        only_operators(by, "Removing an agent", tenants={agent.tenant}, home=self._home)
        document = Document(agent.tenant, DocumentKind.AGENT, agent.name, agent.revision + 1, b"")
        record = {"subject": name, **signed_by(by), "tenant": agent.tenant, "what": "removed", "reason": reason}
        event = self._records.act(EventKind.AGENT_SAVED, by.tenant, record)
        await self._world.documents.save_documents((document,), event)
        await self._views.refresh()

    async def pin(self, name: str, tool: str, *, version: str = "", by: Principal, reason: str) -> AgentTools:
        """Hold a tool at an exact version: the default of today, where none is named. A canary on it ends.

        A tool that the agent did not list is listed from now on.
        """

        def change(agent: AgentTools) -> AgentTools:
            return agent.using(pinned(agent.use(tool) or ToolUse(tool), version, Upgrade.HELD))

        return await self._change(name, change, by=by, record=_said("pinned", tool, reason, version=version))

    async def upgrade(self, name: str, tool: str, *, mode: Upgrade, by: Principal, reason: str) -> AgentTools:
        """Say how a listed tool comes to its next version."""

        def change(agent: AgentTools) -> AgentTools:
            use = _listed(agent, tool)
            return agent.using(replace(use, upgrade=mode, version="" if mode is Upgrade.AUTOMATIC else use.version))

        return await self._change(name, change, by=by, record=_said("upgrade", tool, reason, mode=mode.value))

    async def canary(self, name: str, tool: str, *, canary: Canary | None, by: Principal, reason: str) -> AgentTools:
        """Give some another version of a listed tool, or more or fewer of them; None ends it.

        Who has it keeps it while its share grows.
        """

        def change(agent: AgentTools) -> AgentTools:
            return agent.using(replace(_listed(agent, tool), canary=canary))

        told: dict[str, Json] = {"version": "", "per_mille": 0}
        if canary is not None:
            told = {"version": canary.version, "per_mille": canary.per_mille, "tenants": [*sorted(canary.tenants)]}
        return await self._change(name, change, by=by, record=_said("canary", tool, reason, **told))

    async def shadow(
        self, name: str, tool: str, *, shadow: ShadowRule | None, by: Principal, reason: str
    ) -> AgentTools:
        """Try a version beside the one in use of a listed tool; None ends it."""

        def change(agent: AgentTools) -> AgentTools:
            return agent.using(replace(_listed(agent, tool), shadow=shadow))

        told: dict[str, Json] = {} if shadow is None else {"version": shadow.version, "compare": shadow.compare}
        return await self._change(name, change, by=by, record=_said("shadow", tool, reason, **told))

    async def evaluated(self, name: str, tool: str, *, version: str, by: Principal, reason: str) -> AgentTools:
        """An evaluation of that version has passed: a tool that waits for one (`after_evaluation`) moves to it."""

        def change(agent: AgentTools) -> AgentTools:
            return agent.using(evaluated(_listed(agent, tool), version))

        return await self._change(name, change, by=by, record=_said("evaluated", tool, reason, version=version))

    async def roll_back(self, name: str, tool: str, *, by: Principal, reason: str) -> AgentTools:
        """End a canary that stands; else go back to the version before the last change, while its window lasts."""

        def change(agent: AgentTools) -> AgentTools:
            return agent.using(rolled_back(_listed(agent, tool), now_us=self._world.clock.now_us()))

        return await self._change(name, change, by=by, record=_said("rolled_back", tool, reason))

    async def explain(self, name: str, tool: str, *, principal: Principal, by: Principal | None = None) -> Explained:
        """Which version a tool's name means to this principal in that agent now, and why. Nothing is recorded.

        An empty `name` is no agent. Without `by` principals ask about themselves, and of a tool that policy never lets
        them call they hear what they would of one that there is not. About others, and of all tools, auditors and
        operators of their tenant may ask, and of every tenant those of `home`. Raises `ActRefused` for anybody else.
        """
        view, caller = await self._views.latest(), Caller(principal, origin=Origin(agent=name))
        if by is not None and by.groups & AUDITORS and by.tenant in (principal.tenant, self._home):
            return explain(tool, caller, view)
        if by is not None and (by.tenant, by.id) != (principal.tenant, principal.id):
            raise ActRefused(
                f"Asking what a name means to somebody else takes an auditor or operator; {by.id} is none."
            )
        return explain_to_oneself(tool, caller, view)

    # --- how it is written --------------------------------------------------------------------------------------------

    async def _change(self, name: str, change: Change, *, by: Principal, record: dict[str, Json]) -> AgentTools:
        agent = await self._agent(name, by)
        only_operators(by, "Changing an agent", tenants={agent.tenant}, home=self._home)
        return await self._write(change(agent), by=by, record=record)

    async def _write(self, wanted: AgentTools, *, by: Principal, record: dict[str, Json]) -> AgentTools:
        refuse_unnamed(wanted)
        agent = await carry_out(self._world, self._views, partial(self._planned, wanted, by=by, record=record))
        await self._views.refresh()
        return agent

    async def _planned(
        self, wanted: AgentTools, versions: Versions, *, by: Principal, record: dict[str, Json]
    ) -> Planned[AgentTools]:
        """What is to be written, with the versions as they stand: one that is closed meanwhile is looked at again."""
        stored, revision = await self._stored(wanted)
        view = await self._views.latest()
        found_here = ((each.tool, view.catalogue.find(wanted.tenant, each.tool)) for each in wanted.tools)
        defaults = {name: tool.spec.version for name, tool in found_here if tool is not None}
        moment = Moment(defaults, self._world.clock.now_us(), lambda: self._world.entropy.bytes(16).hex())
        gone_back = str(record["tool"]) if record["what"] == "rolled_back" else None
        agent = replace(revised(wanted, stored=stored, at=moment, gone_back=gone_back), revision=revision + 1)
        known = _versions_for(agent, versions)
        _refuse_unknown_tools(agent, known)
        refuse_invalid(agent)
        for found in _newly_named(agent, stored, known):
            view.policies.check(spec_of(found))
        document = Document(agent.tenant, DocumentKind.AGENT, agent.name, agent.revision, agent_to_bytes(agent))
        said = {"subject": agent.name, **signed_by(by), "tenant": agent.tenant, "revision": agent.revision, **record}
        event = self._records.act(EventKind.AGENT_SAVED, by.tenant, {**said, "tools": spec_to_json(_shown(agent))})
        return Planned(agent, documents=(document,), event=event)

    async def _stored(self, wanted: AgentTools) -> tuple[AgentTools | None, int]:
        """What there is of the agent, and its revision: a removed one leaves its own, which a new one follows on."""
        found = await self._document(wanted.tenant, wanted.name)
        if found is None or found.is_removed:
            revision = 0 if found is None else found.revision
            if wanted.revision not in (0, revision):
                raise DocumentChanged(f"the agent {wanted.name!r} has been removed meanwhile; look at it again")
            return None, revision
        if wanted.revision != found.revision:
            raise DocumentChanged(
                f"the agent {wanted.name!r} has been changed meanwhile: it is at revision {found.revision}, and this "
                f"change was made to revision {wanted.revision}; look at it again"
            )
        return self._saved.agent(found), found.revision

    async def _document(self, tenant: str, name: str) -> Document | None:
        return await self._world.documents.document(DocumentKind.AGENT, tenant=tenant, name=name)


def _versions_for(agent: AgentTools, versions: Versions) -> dict[tuple[str, str], Registered]:
    """The published versions that an agent can have, by name and version."""
    found = [each for use in agent.tools for each in versions.named(use.tool, (agent.tenant, SHARED))]
    return {(each.name, each.version): each for each in found}


def _said(what: str, tool: str, reason: str, **more: Json) -> dict[str, Json]:
    return {"what": what, "tool": tool, "reason": reason, **more}


def _listed(agent: AgentTools, tool: str) -> ToolUse:
    found = agent.use(tool)
    if found is None:
        raise ToolUnknown(f"the agent {agent.name} does not list {tool[:128]!r}: pin it first")
    return found


def _shown(agent: AgentTools) -> tuple[ToolUse, ...]:
    """Its tools for the record: who is in the share of a canary is nobody's business."""
    return tuple(
        each if each.canary is None else replace(each, canary=replace(each.canary, salt="")) for each in agent.tools
    )


def _refuse_unknown_tools(agent: AgentTools, known: dict[tuple[str, str], Registered]) -> None:
    names = {name for name, _ in known}
    for each in agent.tools:
        if each.tool not in names:
            raise ToolUnknown(f"agent {agent.name}: there is no tool named {each.tool[:128]!r}")
        for version in sorted(each.versions):
            if (each.tool, version) not in known:
                there = ", ".join(has for name, has in known if name == each.tool)
                raise ToolUnknown(
                    f"agent {agent.name}: {each.tool} has no version {version[:128]!r}; there are {there}"
                )


def _newly_named(
    agent: AgentTools, stored: AgentTools | None, known: dict[tuple[str, str], Registered]
) -> Iterable[Registered]:
    """The versions that it did not name before. Raises `MoveRefused` where one of them takes no new pins."""
    for each in agent.tools:
        before = None if stored is None else stored.use(each.tool)
        for version in sorted(each.versions - (frozenset() if before is None else before.versions)):
            found = known[each.tool, version]
            is_tried = each.shadow is not None and version == each.shadow.version and version not in _in_use(each)
            if refusal(found.state, Use.NEW_PIN) is not None and not (is_tried and found.state is Lifecycle.CANDIDATE):
                raise MoveRefused(
                    f"agent {agent.name}: {each.tool} {version} is {found.state.value} and takes no new pins"
                )
            yield found


def _in_use(use: ToolUse) -> frozenset[str]:
    return frozenset({use.version, "" if use.canary is None else use.canary.version})
