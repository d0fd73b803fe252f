"""`interlock tools`: what may be called, what each tool promises, and where its versions stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from interlock.doors.cli import (
    tools_check,
    tools_examples,
    tools_moves,
    tools_probe,
    tools_promote,
    tools_register,
    tools_retire,
    tools_review,
    tools_search,
    tools_stop,
    tools_test,
)
from interlock.doors.cli.answer import Answer
from interlock.doors.cli.faults import problem
from interlock.doors.cli.shown import fields, pretty, rows, visible
from interlock.doors.cli.steps import either, step_to_nearest
from interlock.doors.cli.tools_absent import closed, near, step_to
from interlock.doors.cli.tools_standing import lines_of, meant, others_of, overdue, published, standing, unlisted
from interlock.doors.cli.verb import verb

if TYPE_CHECKING:
    from interlock.core.canonical import Json
    from interlock.core.tool import ToolSpec
    from interlock.doors.cli.session import Session

app = typer.Typer(help="What may be called, and what closes it.", no_args_is_help=True)
app.add_typer(tools_check.app)
app.add_typer(tools_promote.app)
app.add_typer(tools_review.app)
app.add_typer(tools_search.app)
app.add_typer(tools_test.app)
app.add_typer(tools_examples.app)
app.add_typer(tools_probe.app)
app.add_typer(tools_register.app)
app.add_typer(tools_moves.app)
app.add_typer(tools_stop.app)
app.add_typer(tools_retire.app)

Name = Annotated[str, typer.Argument(help="The tool.")]
Version = Annotated[str | None, typer.Option("--version", help="Which version; default: what the name means.")]

_UNPUBLISHED = (
    "`interlock tools show NAME` shows the versions that are published. How one that is not published yet would follow"
    " the last, `interlock tools check` says."
)


@verb(app, "list")
async def list_tools(
    *,
    all_: Annotated[
        bool, typer.Option("--all", help="Also what policy never lets this person call, and other versions.")
    ] = False,
) -> Answer:
    """Show the tools that this person may call at all."""
    from interlock.doors.cli.session import opened

    async with opened() as session:
        seen = {tool.spec.name for tool in session.gate.catalogue.visible(session.caller())}
        others = _declared(session) - {spec.name for spec in session.gate.changed} if all_ else set()
        late = await unlisted(session, others - seen)
        names = seen | (others - late.keys())
        tools = [session.gate.catalogue.get(name, tenant=session.by.tenant) for name in sorted(names)]
        leaving = [visible(tool.notice) for tool in tools if tool.notice]
        attention = [*late.values(), *leaving, *await overdue(session)]
        beside = await others_of(session, tools) if all_ else ()
    tools = sorted([*tools, *beside], key=lambda tool: tool.spec.name)
    document: list[Json] = [
        {
            **_brief(tool.spec),
            "state": tool.state.value,
            "visible": tool.spec.name in seen,
            "default": tool not in beside,
        }
        for tool in tools
    ]
    header = ("Tool", "Version", "Effect", "Risk", "State", "Owner", "What it does")
    values = [
        (
            tool.spec.name,
            tool.spec.version if tool not in beside else f"({tool.spec.version})",
            tool.spec.effect.value,
            tool.spec.risk.name.lower(),
            tool.state.value,
            tool.spec.owner,
            tool.spec.description.split(". ")[0],
        )
        for tool in tools
    ]
    empty = "No policy lets this person call any tool. `interlock tools list --all` shows every tool of the project."
    return Answer(
        {"tools": document, "attention": [*attention]}, "\n".join([rows(header, values, empty=empty), *attention])
    )


@verb(app, "show")
async def show(name: Name, *, version: Version = None) -> Answer:
    """Show one tool: its contract, its arguments, its versions."""
    from interlock.core.tool import spec_to_json
    from interlock.doors.cli.session import opened, refuse_changed

    async with opened() as session:
        await refuse_changed(name, session)
        versions = await session.gate.catalogue.list_versions(name, tenant=session.by.tenant)
        if not versions:
            return await _unknown(session, name)
        tool, lacking = await meant(session, name, versions)
        stands = await standing(session, tool, versions)
    tool = tool if version in (None, tool.spec.version) else published(name, str(version), versions)
    spec = tool.spec
    attention = [each for each in (lacking, closed(spec.name, spec.version, tool.state)) if each]
    document: dict[str, Json] = {
        "spec": spec_to_json(spec),
        "digest": tool.digest,
        "state": tool.state.value,
        "versions": [*stands],
        "here": not lacking,
        "attention": [*attention],
    }
    text = fields(
        [
            ("Attention", attention),
            ("Tool", f"{spec.name} version {spec.version} ({tool.state.value})"),
            ("What it does", spec.description),
            ("Use when", spec.use_when),
            ("Not for", spec.not_for),
            ("Effect", f"{spec.effect.value}, risk {spec.risk.name.lower()}{', external' if spec.external else ''}"),
            ("Resource", None if spec.resource is None else f"{spec.resource.type} by {spec.resource.id}"),
            ("Same effect by", spec.idempotency.fields),
            ("Undone by", (spec.compensate or "nothing") if spec.effect.is_effect else None),
            ("Owner", spec.owner),
            ("Timeout", f"{spec.timeout_ms} ms"),
            ("Errors", [each.code for each in spec.errors]),
            ("Digest", tool.digest),
            ("Versions", "; ".join(lines_of(stands))),
        ]
    )
    return Answer(document, f"{text}\nArguments:\n{pretty(spec.input_schema.value)}")


@verb(app, "diff")
async def diff(
    name: Name,
    old: Annotated[str, typer.Argument(metavar="FROM", help="The version that callers know.")],
    new: Annotated[str, typer.Argument(metavar="TO", help="The version that would take its place.")],
) -> Answer:
    """Say whether one published version may take the place of another, and what shows it."""
    from interlock.core.errors import ToolUnknown
    from interlock.doors.cli.session import visited
    from interlock.doors.cli.tools_diff import document_of, text_of

    async with visited() as session:
        try:
            found = await session.gate.catalogue.diff(name, old, new, tenant=session.by.tenant)
        except ToolUnknown as fault:
            return problem("TOOL_UNKNOWN", str(fault), next_step=_UNPUBLISHED)
    return Answer(document_of(found), text_of(found))


async def _unknown(session: Session, name: str) -> Answer:
    """What is said of a name under which nothing is published."""
    found = near(session, name)
    says = f"there is no tool named {name!r}" + (f"; {either(found)}" if found else "")
    step = await step_to(session, name) or (step_to_nearest(found[0]) if found else "")
    others = "`interlock tools list --all` shows which tools there are."
    return problem("TOOL_UNKNOWN", says, next_step=step or others)


def _declared(session: Session) -> set[str]:
    from interlock.doors.cli.code import load_tools

    return {tool.spec().name for tool in load_tools(session.project)}


def _brief(spec: ToolSpec) -> dict[str, Json]:
    return {
        "name": spec.name,
        "version": spec.version,
        "source": spec.source,
        "effect": spec.effect.value,
        "risk": spec.risk.name.lower(),
        "owner": spec.owner,
        "description": spec.description,
    }
