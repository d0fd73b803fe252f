"""`interlock tools search`: tools by words, among those that a person may see, and why a run would be offered which."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from interlock.doors.cli.answer import Answer
from interlock.doors.cli.shown import counted, rows
from interlock.doors.cli.verb import verb

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interlock.core.canonical import Json
    from interlock.core.choice import FoundTool, ToolChoice

app = typer.Typer()


@verb(app, "search")
async def search(
    query: Annotated[str, typer.Argument(help="Words, in any language; or a task, with --explain.")],
    *,
    limit: Annotated[int, typer.Option("--limit", min=1, max=50, help="How many to show.")] = 10,
    explain: Annotated[
        bool, typer.Option("--explain", help="Every tool: whether a run is offered it for this task, and why.")
    ] = False,
    agent: Annotated[
        str, typer.Option("--agent", metavar="NAME", help="As this agent: one that is published, or the project's.")
    ] = "",
) -> Answer:
    """Find tools by words, best first."""
    from interlock.doors.cli.session import opened

    async with opened() as session:
        catalogue, caller = session.gate.catalogue, session.caller()
        caller = replace(caller, origin=replace(caller.origin, agent=agent))
        if explain:
            names = next((each.tools for each in session.project.agents if each.name == agent), None)
            by = session.project.operator
            return _explained(await catalogue.explain_choice(caller, query, tools=names, by=by))
        return _found(await catalogue.search(query, caller, limit=limit))


def _found(found: tuple[FoundTool, ...]) -> Answer:
    header = ("Tool", "Version", "Fits", "What it does")
    values = [(each.tool, each.version, f"{each.score:.2f}", each.line) for each in found]
    document: list[Json] = [
        {
            "name": each.tool,
            "version": each.version,
            "description": each.line,
            "score": each.score,
            "parts": {**each.parts},
        }
        for each in found
    ]
    empty = "Nothing that this person may use fits these words. `interlock tools list` shows all that they may use."
    return Answer({"tools": document}, rows(header, values, empty=empty))


def _explained(choices: tuple[ToolChoice, ...]) -> Answer:
    """What is offered first, then by how well it fits."""
    ordered = sorted(choices, key=lambda each: (each.withheld is not None, each.rank or len(choices) + 1, each.tool))
    header = ("Tool", "Version", "Offered", "Place", "Fits", "Why")
    values = [
        (
            each.tool,
            each.version,
            "yes" if each.withheld is None else f"no: {each.withheld.value}",
            each.rank or "",
            _parts(each.parts),
            each.why,
        )
        for each in ordered
    ]
    document: list[Json] = [
        {
            "name": each.tool,
            "version": each.version,
            "offered": each.withheld is None,
            "withheld": None if each.withheld is None else each.withheld.value,
            "why": each.why,
            "rank": each.rank,
            "score": each.score,
            "parts": {**each.parts},
        }
        for each in ordered
    ]
    offered = sum(each.withheld is None for each in choices)
    text = rows(header, values, empty="There are no tools.")
    return Answer({"tools": document}, f"{text}\n{counted(offered, 'tool')} of {len(choices)} would be offered.")


def _parts(parts: Mapping[str, float]) -> str:
    return " ".join(f"{name} {value:+.2f}" for name, value in parts.items())
