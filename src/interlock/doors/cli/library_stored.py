"""What the project's store keeps of examples: what was accepted of them, and how they stood when they ran."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from interlock.doors.cli.answer import Answer
from interlock.doors.cli.faults import refusal
from interlock.importers.examples import Library

if TYPE_CHECKING:
    from interlock.core.example_results import Rehearsed
    from interlock.core.readiness import Readiness
    from interlock.doors.cli.project import Project
    from interlock.doors.cli.session import Session


async def carried_in(project: Project, library: Library) -> Library:
    """The examples with what was accepted of them, where the project has a store."""
    from interlock.doors.cli.session import reading

    if not project.is_stored:
        return library
    async with reading() as session:
        return Library(await session.gate.examples.carried(library.examples), library.selection)


async def publish_in(library: Library, results: Sequence[Rehearsed]) -> Answer | None:
    """Keep the results, and, where none is wrong, the examples of the tools that ran; a refusal if it is not let."""
    from interlock.doors.cli.session import not_operator, switching

    async with switching() as session:
        deny = not_operator(session.by, "Publishing examples")
        if deny is not None:
            return refusal(deny)
        if not any(each.is_wrong for each in results):
            names = {each.example.tool for each in results}
            examples = [each for each in library.examples if each.tool in names]
            cases = [each for each in library.selection if each.tool in names]
            await session.gate.examples.publish(examples, cases, by=session.by)
        await session.gate.examples.keep(readinesses(session, results), by=session.by)
    return None


def readinesses(session: Session, results: Sequence[Rehearsed]) -> tuple[Readiness, ...]:
    """What the results say of the versions of the project's code."""
    from interlock.core.example_results import readiness_of
    from interlock.doors.cli.code import load_tools

    names = {each.example.tool for each in results}
    specs = [tool.spec() for tool in load_tools(session.project)]
    return tuple(readiness_of(spec, results, at_us=1) for spec in specs if spec.name in names)
