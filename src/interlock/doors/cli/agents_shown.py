"""How agents are shown on the command line, and as documents for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock.doors.cli.answer import note
from interlock.doors.cli.shown import fields, moment, rows, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from interlock.core.agents import AgentTools, Canary, ToolUse
    from interlock.core.canonical import Json
    from interlock.core.routing_words import Explained
    from interlock.doors.cli.session import Session


def document_of(agent: AgentTools) -> dict[str, Json]:
    """An agent for programs; without the salts, which decide who is in a share."""
    return {
        "name": agent.name,
        "tenant": agent.tenant,
        "revision": agent.revision,
        "owner": agent.owner,
        "others": agent.others,
        "window_s": agent.window_s,
        "tools": [_use(each) for each in agent.tools],
    }


def listed(agents: Iterable[AgentTools]) -> str:
    """Agents, one a line."""
    values = [
        (each.name, each.tenant, each.revision, each.owner, len(each.tools), "yes" if each.others else "no")
        for each in agents
    ]
    empty = "No agent is published: every agent's name has the default version of every tool, as policy rules."
    return rows(("Agent", "Tenant", "Revision", "Owner", "Tools", "Others too"), values, empty=empty)


def text_of(agent: AgentTools) -> str:
    """An agent for people: what it may use."""
    values = [
        (each.tool, each.version or "the default", each.upgrade.value, _canary(each.canary), *_rest(each))
        for each in agent.tools
    ]
    head = fields(
        [
            ("Agent", f"{agent.name} of {agent.tenant}, revision {agent.revision}"),
            ("Owner", agent.owner),
            ("Other tools", "by default" if agent.others else "none"),
        ]
    )
    header = ("Tool", "Version", "Upgrade", "Canary", "Shadow", "Way back")
    return f"{head}\n{rows(header, values, empty='It lists no tool.')}"


async def meaning(session: Session, agent: str, tool: str) -> Explained:
    """What the name means to the person whom the command line acts as, all of it where the project's operator may."""
    from interlock.runtime.acts import AUDITORS

    operator = session.project.operator
    hears_all = operator.groups & AUDITORS and operator.tenant == session.by.tenant
    by = operator if hears_all else None
    return await session.gate.agents.explain(agent, tool, principal=session.by, by=by)


async def tell_unpublished(session: Session, agent: str) -> None:
    """Say it where no agent of this name is published: a slip of the pen has the defaults."""
    from interlock.core.errors import AgentUnknown

    try:
        await session.gate.agents.get(agent, by=session.by)
    except AgentUnknown:
        note(f"No agent {visible(agent)} is published: it has the default version of every tool, as policy rules.")


def explained_document(found: Explained) -> dict[str, Json]:
    """Why a name means what it means, for programs."""
    return {
        "agent": found.agent,
        "tool": found.tool,
        "principal": found.principal,
        "version": found.version or None,
        "why": found.why.value,
        "code": None if found.code is None else found.code.value,
        "says": [*found.says],
    }


def explained_text(found: Explained) -> str:
    """The same for people."""
    means = found.version if found.code is None else f"nothing that may be called ({found.code.value})"
    where = f" in {found.agent}" if found.agent else ""
    head = f"{found.tool} means {means} to {found.principal}{where}:"
    return "\n".join(map(visible, (head, *(f"- {each}" for each in found.says))))


def _rest(use: ToolUse) -> tuple[str, str]:
    shadow = "" if use.shadow is None else f"{use.shadow.version}{'' if use.shadow.compare else ', judged only'}"
    back = "" if use.earlier is None else f"{use.earlier.version} until {moment(use.earlier.until_us)}"
    return shadow, back


def _canary(canary: Canary | None) -> str:
    if canary is None:
        return ""
    tenants = f", {', '.join(sorted(canary.tenants))}" if canary.tenants else ""
    return f"{canary.version} for {canary.per_mille} of 1000{tenants}"


def _use(use: ToolUse) -> dict[str, Json]:
    canary, shadow, earlier = use.canary, use.shadow, use.earlier
    return {
        "tool": use.tool,
        "version": use.version or None,
        "upgrade": use.upgrade.value,
        "canary": None
        if canary is None
        else {"version": canary.version, "per_mille": canary.per_mille, "tenants": [*sorted(canary.tenants)]},
        "shadow": None if shadow is None else {"version": shadow.version, "compare": shadow.compare},
        "earlier": None if earlier is None else {"version": earlier.version, "until_us": earlier.until_us},
    }
