"""`interlock tools register`: publishes the tools of one file into the store, whether the project names it or not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interlock.doors.cli.answer import Answer
from interlock.doors.cli.faults import refusal
from interlock.doors.cli.shown import visible
from interlock.doors.cli.tools_moves import told
from interlock.doors.cli.verb import line, verb

if TYPE_CHECKING:
    from interlock.core.canonical import Json
    from interlock.core.tool import ToolSpec
    from interlock.doors.cli.project import Project
    from interlock.doors.cli.session import Session
    from interlock.ports import Registered

_UNNAMED = "name {file} under tools in interlock.toml: a tool can be called only where its code is loaded."

app = typer.Typer()


@verb(app, "register")
async def register(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A Python file or a .yaml manifest of tools.")],
) -> Answer:
    """Publish the tools of a file; each stands where the project's gates let a new version begin."""
    from interlock.doors.cli.code import load_file
    from interlock.doors.cli.project import read_project
    from interlock.doors.cli.session import not_operator, visited

    project = read_project(line().project)
    specs = [each.spec() for each in load_file(file, project)]
    async with visited() as session:
        deny = not_operator(session.by, "To publish tools")
        if deny is not None:
            return refusal(deny)
        new = await session.gate.catalogue.register(specs, by=session.by)
        found = [await _stored(each, session) for each in specs]
    fresh = {each.identity for each in new}
    lines = [
        f"{visible(each.name)} version {visible(each.version)} "
        + (f"is published: {each.state.value}." if spec.identity in fresh else f"was there: {each.state.value}.")
        for spec, each in zip(specs, found, strict=True)
    ]
    step = "" if _is_named(file, project) else _UNNAMED.format(file=visible(file))
    document: dict[str, Json] = {"published": len(new), "versions": [told(each) for each in found], "next": step}
    return Answer(document, "\n".join([*lines, *([f"Next: {step}"] if step else [])]))


def _is_named(file: Path, project: Project) -> bool:
    """Whether the project names this file, as a file or as a module: what it does not name it does not call."""
    places = [project.root / each for each in project.tools]
    for each in project.tools:
        module = project.root.joinpath(*each.split("."))
        places += [module.with_suffix(".py"), module / "__init__.py"]
    return file.resolve() in {each.resolve() for each in places}


async def _stored(spec: ToolSpec, session: Session) -> Registered:
    versions = await session.gate.catalogue.list_versions(spec.name, tenant=session.by.tenant)
    return next(each for each in versions if each.version == spec.version and each.source == spec.source)
