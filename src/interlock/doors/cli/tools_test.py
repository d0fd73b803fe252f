"""`interlock tools test`: runs the examples of tools against a gate of their own, and says how each stands."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interlock.doors.cli.answer import DONE, PROBLEM, Answer
from interlock.doors.cli.shown import counted, rows, visible
from interlock.doors.cli.verb import line, verb

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from interlock.core.canonical import Json
    from interlock.core.example_results import Rehearsed
    from interlock.doors.cli.project import Project
    from interlock.importers.examples import Library

app = typer.Typer()


@verb(app, "test")
async def try_out(
    tools: Annotated[
        list[str] | None, typer.Argument(metavar="[TOOL]...", help="Of these tools; default: all.")
    ] = None,
    *,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write a JUnit report there.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="What is stale or unreviewed is a problem too.")] = False,
    publish: Annotated[
        bool, typer.Option("--publish", help="Keep the results in the store, and the examples unless one fails.")
    ] = False,
    selection: Annotated[
        bool, typer.Option("--selection", help="Try users' words instead: whether they lead to the right tools.")
    ] = False,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="NAME", help="Have this model of the project choose, not the search."),
    ] = None,
) -> Answer:
    """Run the examples of tools, each against a gate of its own: nothing real is called.

    Exit code 1 where one fails, or must not run as it is.
    """
    from interlock.doors.cli.library import library_of
    from interlock.doors.cli.library_stored import carried_in, publish_in
    from interlock.doors.cli.project import read_project

    project = read_project(line().project)
    if selection or model is not None:
        from interlock.doors.cli.tools_selection import selected

        return await selected(project, library_of(project), model=model, publish=publish)
    library = await carried_in(project, library_of(project))
    results = await rehearsed(project, library, tools=tools or ())
    if publish:
        refused = await publish_in(library, results)
        if refused is not None:
            return refused
    if junit is not None:
        from interlock.doors.cli.junit import report_of

        junit.write_text(report_of(results), encoding="utf-8")
    answer = _answer(results, strict=strict)
    return replace(answer, text=f"{answer.text}\n{_kept(results)}") if publish else answer


def _kept(results: Sequence[Rehearsed]) -> str:
    """What `--publish` has written down: where an example is wrong, only how they stood."""
    if any(each.is_wrong for each in results):
        return "The store keeps how they stood; the examples it keeps once none fails."
    return "The store keeps them, and how they stood: `interlock tools examples` shows what it has."


async def rehearsed(project: Project, library: Library, *, tools: Sequence[str]) -> tuple[Rehearsed, ...]:
    """How the examples of these tools stand, or of all. Raises `ExamplesInvalid` for one that has none."""
    from interlock.doors.cli.faults import ExamplesInvalid
    from interlock.doors.cli.library import stage_of
    from interlock.rehearsal import rehearse

    for name in tools:
        if not any(each.tool == name for each in library.examples):
            raise ExamplesInvalid(f"there is no example of {name!r} in {project.examples}")
    stage, today = stage_of(project, library), datetime.now(UTC).date()
    wanted = [each for each in library.examples if not tools or each.tool in tools]
    return tuple([await rehearse(each, stage, today=today) for each in wanted])


def document_of(result: Rehearsed) -> dict[str, Json]:
    """One result for programs."""
    example = result.example
    return {
        "tool": example.tool,
        "name": example.name,
        "kind": example.kind.value,
        "passing": result.passing.value,
        "why": result.why,
        "differences": [{"path": each.path, "expected": each.wanted, "got": each.got} for each in result.differences],
    }


def told(results: Iterable[Rehearsed]) -> str:
    """All results for people: a table, then each difference below its example."""
    found = [*results]
    header = ("Tool", "Example", "Kind", "Stands", "Why")
    values = [
        (each.example.tool, each.example.name, each.example.kind.value, each.passing.value, each.why) for each in found
    ]
    lines = [
        f"{visible(each.example.tool)}, {visible(each.example.name)}: {visible(str(difference))}"
        for each in found
        for difference in each.differences
    ]
    return "\n".join([rows(header, values, empty="There is no example."), *lines])


def _answer(results: Sequence[Rehearsed], *, strict: bool) -> Answer:
    from interlock.core.example_results import Passing

    count = {passing: sum(each.passing is passing for each in results) for passing in Passing}
    idle = count[Passing.STALE] + count[Passing.UNREVIEWED]
    wrong = sum(each.is_wrong for each in results) + (idle if strict else 0)
    document: dict[str, Json] = {
        "examples": [document_of(each) for each in results],
        "counts": {passing.value: number for passing, number in count.items()},
    }
    said = ", ".join(f"{number} {passing.value}" for passing, number in count.items() if number)
    text = f"{told(results)}\n{counted(len(results), 'example')}: {said}."
    return Answer(document, text, PROBLEM if wrong else DONE)
