"""`interlock agents`: which tools an agent may use, in which versions, who is on trial, and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from interlock.doors.cli.agents_shown import document_of, explained_document, explained_text, listed, meaning, text_of
from interlock.doors.cli.answer import USAGE, Answer
from interlock.doors.cli.faults import problem
from interlock.doors.cli.shown import visible
from interlock.doors.cli.verb import verb

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from interlock.core.agents import AgentTools, ToolUse
    from interlock.doors.cli.session import Session

app = typer.Typer(help="Which tools agents may use, in which versions.", no_args_is_help=True)

TO_WHOM = "`--per-mille 50` gives it to 50 of 1000 people; `interlock agents rollback NAME TOOL` ends a canary."

Name = Annotated[str, typer.Argument(help="The agent.")]
Tool = Annotated[str, typer.Argument(help="The tool.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; it goes on record.")]
Shared = Annotated[bool, typer.Option("--shared", help="An agent of all tenants.")]


@verb(app, "list")
async def list_agents() -> Answer:
    """Show the agents that there are, with what each may use."""
    from interlock.doors.cli.session import visited

    async with visited() as session:
        found = await session.gate.agents.list(by=session.by)
    return Answer({"agents": [document_of(each) for each in found]}, listed(found))


@verb(app, "show")
async def show(name: Name) -> Answer:
    """Show one agent: each tool with its version, canary, shadow and the way back."""
    from interlock.doors.cli.session import visited

    async with visited() as session:
        found = await session.gate.agents.get(name, by=session.by)
    return Answer(document_of(found), text_of(found))


@verb(app, "set")
async def set_agent(
    name: Name,
    *,
    tools: Annotated[
        list[str] | None,
        typer.Option("--tool", help="TOOL, TOOL=VERSION or TOOL=automatic; repeat it for more. It replaces the list."),
    ] = None,
    others: Annotated[bool, typer.Option("--others", help="All other tools too, by default.")] = False,
    owner: Annotated[str, typer.Option("--owner", help="Who answers for it.")] = "",
    shared: Shared = False,
    reason: Reason = "",
) -> Answer:
    """Publish an agent, or replace what it lists. A tool without a version is held at the default of today."""
    from dataclasses import replace

    from interlock.core.agents import AgentTools
    from interlock.core.errors import AgentUnknown
    from interlock.core.tool import SHARED
    from interlock.doors.cli.session import switching

    async with switching() as session:
        tenant = SHARED if shared else session.by.tenant
        try:
            held = await session.gate.agents.get(name, by=session.by)
        except AgentUnknown:
            held = AgentTools(name, tenant)
        agent = held if held.tenant == tenant else AgentTools(name, tenant)
        wanted = replace(
            agent, tools=tuple(_use(each, agent) for each in tools or ()), others=others, owner=owner or agent.owner
        )
        saved = await session.gate.agents.save(wanted, by=session.by, reason=reason)
    return Answer(document_of(saved), text_of(saved))


@verb(app, "remove")
async def remove(name: Name, *, reason: Reason = "") -> Answer:
    """Take an agent back: its name has the default version of every tool again."""
    from interlock.doors.cli.session import switching

    async with switching() as session:
        await session.gate.agents.remove(name, by=session.by, reason=reason)
    return Answer({"removed": name}, f"There is no agent {visible(name)} any more.")


@verb(app, "pin")
async def pin(
    name: Name,
    tool: Tool,
    version: Annotated[str, typer.Argument(help="The exact version; default: the default of today.")] = "",
    *,
    reason: Reason = "",
) -> Answer:
    """Hold a tool at an exact version; a canary on it ends."""
    return await _changed(lambda s: s.gate.agents.pin(name, tool, version=version, by=s.by, reason=reason))


@verb(app, "upgrade")
async def upgrade(
    name: Name,
    tool: Tool,
    mode: Annotated[str, typer.Argument(help="automatic, held or after_evaluation.")],
    *,
    passed: Annotated[str, typer.Option("--passed", help="The version whose evaluation has passed: move to it.")] = "",
    reason: Reason = "",
) -> Answer:
    """Say how a tool comes to its next version, or that an evaluation has passed."""
    from interlock.core.agents import Upgrade
    from interlock.core.errors import AgentInvalid

    if mode not in list(Upgrade):
        raise AgentInvalid(f"a mode is one of {', '.join(Upgrade)}, not {mode!r}")

    async def change(session: Session) -> AgentTools:
        agents, by = session.gate.agents, session.by
        if passed:
            return await agents.evaluated(name, tool, version=passed, by=by, reason=reason)
        return await agents.upgrade(name, tool, mode=Upgrade(mode), by=by, reason=reason)

    return await _changed(change)


@verb(app, "canary")
async def canary(
    name: Name,
    tool: Tool,
    version: Annotated[str, typer.Argument(help="The version that some are given.")],
    *,
    per_mille: Annotated[int | None, typer.Option("--per-mille", help="How many of a thousand people.")] = None,
    tenants: Annotated[list[str] | None, typer.Option("--tenant", help="All of this tenant; repeat it.")] = None,
    reason: Reason = "",
) -> Answer:
    """Give some another version of a tool, or more of them; who has it keeps it while the share grows."""
    from interlock.core.agents import Canary

    if per_mille is None and not tenants:
        return problem("USAGE", "Say to whom: --per-mille, --tenant, or both.", next_step=TO_WHOM, exit_code=USAGE)
    wanted = Canary(version, per_mille or 0, frozenset(tenants or ()))
    return await _changed(lambda s: s.gate.agents.canary(name, tool, canary=wanted, by=s.by, reason=reason))


@verb(app, "shadow")
async def shadow(
    name: Name,
    tool: Tool,
    version: Annotated[str, typer.Argument(help="The version that is tried; leave it out to end that.")] = "",
    *,
    compare: Annotated[bool, typer.Option(help="Run reads in both versions.")] = True,
    reason: Reason = "",
) -> Answer:
    """Try a version beside the one in use: every call is judged in both, effects run in none but the real one."""
    from interlock.core.agents import ShadowRule

    rule = ShadowRule(version, compare) if version else None
    return await _changed(lambda s: s.gate.agents.shadow(name, tool, shadow=rule, by=s.by, reason=reason))


@verb(app, "rollback")
async def rollback(name: Name, tool: Tool, *, reason: Reason = "") -> Answer:
    """End the canary of a tool; without one, go back to the version before."""
    return await _changed(lambda s: s.gate.agents.roll_back(name, tool, by=s.by, reason=reason))


@verb(app, "explain")
async def explain(name: Name, tool: Tool) -> Answer:
    """Say which version a tool's name means to this person in that agent, and why; --as ID asks for another."""
    from interlock.doors.cli.session import visited

    async with visited() as session:
        found = await meaning(session, name, tool)
    return Answer(explained_document(found), explained_text(found))


@verb(app, "shadow-report")
async def shadow_report(
    name: Name, tool: Tool, version: Annotated[str, typer.Argument(help="The version that is tried.")]
) -> Answer:
    """Show what trying a version has shown, and whether that speaks for promoting it."""
    from interlock.doors.cli.agents_shadow import report_document, report_text
    from interlock.doors.cli.session import visited

    async with visited() as session:
        found = await session.gate.shadows.report(name, tool, version=version, by=session.by)
    return Answer(report_document(found), report_text(found))


async def _changed(change: Callable[[Session], Awaitable[AgentTools]]) -> Answer:
    from interlock.doors.cli.session import switching

    async with switching() as session:
        agent = await change(session)
    return Answer(document_of(agent), text_of(agent))


def _use(given: str, agent: AgentTools) -> ToolUse:
    """A tool as `--tool` names it. One that keeps its version keeps its canary and its shadow."""
    from interlock.core.agents import ToolUse, Upgrade

    name, _, version = given.partition("=")
    held = agent.use(name)
    if version == Upgrade.AUTOMATIC:
        return ToolUse(name, "", Upgrade.AUTOMATIC)
    if held is not None and version in ("", held.version):
        return held
    return ToolUse(name, version)
