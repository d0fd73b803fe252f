"""`interlock tools stop` and `stops`: closes everything of a source, a vendor, a tool or a tenant at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from interlock.doors.cli.answer import Answer
from interlock.doors.cli.faults import problem, refusal
from interlock.doors.cli.shown import counted, rows, visible
from interlock.doors.cli.tools_moves import Reason
from interlock.doors.cli.verb import verb

if TYPE_CHECKING:
    from interlock.core.canonical import Json
    from interlock.core.stops import Stop, StopScope
    from interlock.doors.cli.session import Session

NAMED_MAX = 20
"""How many of the tools that a stop closes are named to people; programs are told all."""

app = typer.Typer()


@verb(app, "stop")
async def stop(
    *,
    reason: Reason,
    all_: Annotated[bool, typer.Option("--all", help="Everything.")] = False,
    source: Annotated[str, typer.Option("--source", metavar="S", help="All tools of a source, as `mcp:files`.")] = "",
    vendor: Annotated[str, typer.Option("--vendor", metavar="V", help="All tools of a vendor.")] = "",
    tool: Annotated[str, typer.Option("--tool", metavar="NAME", help="All versions of a tool, later ones too.")] = "",
    tenant: Annotated[str, typer.Option("--tenant", metavar="T", help="For this tenant alone; default: all.")] = "",
) -> Answer:
    """Close all of it at once, in every process, runs that are bound included, until the stop is lifted."""
    from interlock.core.stops import StopScope
    from interlock.doors.cli.session import not_operator, switching

    if all_ == bool(source or vendor or tool):
        step = "`interlock tools stop --help` shows what can be named."
        return problem("USAGE", "Say --all, or what is to be stopped.", next_step=step)
    scope = StopScope(tenant=tenant or "*", source=source, vendor=vendor, tool=tool)
    async with switching() as session:
        deny = not_operator(session.by, "To stop tools")
        if deny is not None:
            return refusal(deny)
        found = await session.gate.catalogue.stop(scope, by=session.by, reason=reason)
        closed = await _closed_by(scope, session)
    lifted = f"`interlock tools release --stop {found.id} --reason WHY` lifts it."
    lines = [f"Stopped: {visible(scope.words)}.", _closes(closed), lifted]
    return Answer({"stop": _told(found), "closes": [*closed]}, "\n".join(lines))


@verb(app, "stops")
async def stops() -> Answer:
    """Show the stops that stand."""
    from interlock.doors.cli.session import visited

    async with visited() as session:
        found = await session.gate.catalogue.stops(by=session.by)
    values = [(each.id, each.scope.words, each.by, each.reason) for each in found]
    text = rows(("Stop", "Closes", "By", "Why"), values, empty="Nothing is stopped.")
    return Answer({"stops": [_told(each) for each in found]}, text)


async def _closed_by(scope: StopScope, session: Session) -> tuple[str, ...]:
    """The tools that a stop closes as it is put up, of those that the operator's tenant has."""
    from interlock.core.canonical import decode
    from interlock.core.lifecycle import Lifecycle
    from interlock.core.tool import ToolSpec
    from interlock.core.typed import from_json

    tenant = session.by.tenant
    versions = await session.gate.catalogue.all_versions(tenant=tenant)
    specs = [from_json(ToolSpec, decode(each.spec)) for each in versions if each.state is not Lifecycle.RETIRED]
    return tuple(sorted({spec.name for spec in specs if scope.covers(spec, tenant=tenant)}))


def _closes(names: tuple[str, ...]) -> str:
    """What a stop closes in words: one that closes nothing may be misspelled, and that must not be found out later."""
    if not names:
        return "It closes no tool that is here now: look how it is spelled. `interlock tools list --all` shows tools."
    more = ", ..." if len(names) > NAMED_MAX else ""
    return f"It closes {counted(len(names), 'tool')}: {visible(', '.join(names[:NAMED_MAX]))}{more}."


def _told(found: Stop) -> dict[str, Json]:
    scope = found.scope
    named: dict[str, Json] = {"source": scope.source, "vendor": scope.vendor, "tool": scope.tool}
    return {
        "id": found.id,
        "tenant": scope.tenant,
        **{name: value for name, value in named.items() if value},
        "reason": found.reason,
        "by": found.by,
        "at_us": found.at_us,
    }
