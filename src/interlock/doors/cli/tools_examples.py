"""`interlock tools example-from` and `accept`: examples out of real calls, and people's word that one holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interlock.doors.cli.answer import Answer
from interlock.doors.cli.faults import refusal
from interlock.doors.cli.shown import rows, visible
from interlock.doors.cli.verb import verb

if TYPE_CHECKING:
    from interlock.core.canonical import Json

app = typer.Typer()


@verb(app, "example-from")
async def example_from(
    id_: Annotated[str, typer.Argument(metavar="ID", help="A call, by its id, or an operation.")],
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to; no file is overwritten.")
    ] = None,
) -> Answer:
    """Make an example of a real call: redacted, with what came of it and what stood behind it.

    What is no longer kept, or was hidden, is said in its remarks. That it was read is on record.
    """
    from interlock.core.decision import Deny
    from interlock.core.errors import NotWritten
    from interlock.core.example import plain
    from interlock.doors.cli.session import reading
    from interlock.importers.examples import Library, write_examples

    if output is not None and output.exists():
        raise NotWritten(f"{output} exists already, and nothing is overwritten: give another name, or move it away")
    async with reading() as session:
        found = await session.gate.examples.example_of(id_, by=session.by)
    if isinstance(found, Deny):
        return refusal(found, next_step="`interlock audit query` shows calls and operations by their ids.")
    text = write_examples(Library([found]))
    document: dict[str, Json] = {"example": plain(found), "file": None if output is None else str(output)}
    if output is None:
        return Answer(document, visible(text))
    with output.open("x", encoding="utf-8") as file:
        file.write(text)
    remarks = "".join(f"\n- {visible(each)}" for each in found.remarks)
    return Answer(document, f"Wrote {visible(output)}. Next: look at it, then `interlock tools test`.{remarks}")


@verb(app, "examples")
async def examples() -> Answer:
    """Show the examples that the store keeps, and which version they were accepted for."""
    from interlock.core.example import plain
    from interlock.doors.cli.session import reading

    async with reading() as session:
        found = await session.gate.examples.examples(by=session.by)
    header = ("Tool", "Example", "Kind", "Version", "Expires", "Domain", "Reviewed by")
    values = [
        (
            each.tool,
            each.name,
            each.kind.value,
            each.version or "any",
            each.expires,
            each.domain,
            "" if each.reviewed is None else each.reviewed.by,
        )
        for each in found
    ]
    empty = "The store keeps no example. `interlock tools test --publish` keeps those of the project."
    return Answer({"examples": [plain(each) for each in found]}, rows(header, values, empty=empty))


@verb(app, "accept")
async def accept(
    tool: Annotated[str, typer.Argument(help="The tool.")],
    example: Annotated[str, typer.Argument(help="The name of the example.")],
    *,
    reason: Annotated[str, typer.Option("--reason", help="What you looked at; it goes on record.")] = "",
) -> Answer:
    """Say that a kept example holds: of the tool as models see it today, and in its domain."""
    from interlock.core.example import plain
    from interlock.doors.cli.session import switching

    async with switching() as session:
        found = await session.gate.examples.accept(tool, example, by=session.by, reason=reason)
    return Answer({"example": plain(found)}, f"Accepted: {visible(example)} of {visible(tool)}.")
