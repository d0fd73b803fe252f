"""`interlock import python`: lists what an installed package offers, without running it, as a snapshot to review."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interlock.doors.cli.answer import PROBLEM, Answer
from interlock.doors.cli.faults import problem
from interlock.doors.cli.imports import Check, Output, app, put, reviewed, short
from interlock.doors.cli.shown import counted, visible
from interlock.doors.cli.verb import verb

if TYPE_CHECKING:
    from interlock.core.canonical import Json
    from interlock.importers.openapi_changes import Field
    from interlock.importers.python import PythonSnapshot

__all__ = ["app"]

WARNING = "Importing a package runs its code, with all that this process may do. Nothing of it was imported yet."


@verb(app, "python")
async def python(
    package: Annotated[str, typer.Argument(help="The installed package, such as acme-tools.")],
    *,
    output: Output = None,
    check: Check = None,
    accept: Annotated[
        list[str] | None, typer.Option("--accept", metavar="ENTRY", help="Leave this one open, though code changed.")
    ] = None,
) -> Answer:
    """Write a snapshot of what a package offers by entry points, which allows nothing by itself; or compare one."""
    from interlock.core.errors import SpecInvalid
    from interlock.importers.python import python_changes, python_renewed, read_python_snapshot, take_python_snapshot

    try:
        before = reviewed(read_python_snapshot, output=output, check=check)
        fresh = take_python_snapshot(package)
        if before is None:
            return _written(fresh, output)
        seen = python_changes(before, fresh)
        if check is not None:
            return _compared(seen)
        return _written(python_renewed(fresh, before, accept=accept or ()), output, seen=seen)
    except SpecInvalid as fault:
        return problem("IMPORT_INVALID", str(fault), next_step="`interlock import python --help` shows what it takes.")


def _written(snapshot: PythonSnapshot, output: Path | None, *, seen: tuple[Field, ...] = ()) -> Answer:
    from interlock.importers.python import write_python_snapshot

    allowed = [name for name, each in snapshot.entries.items() if each.allow]
    about = f"{visible(snapshot.package)} {visible(snapshot.version)}, {counted(snapshot.files, 'file')}"
    lines = [f"{about}: it offers {counted(len(snapshot.entries), 'tool')}, {len(allowed)} of them allowed.", WARNING]
    lines += lines_of(seen)
    text = write_python_snapshot(snapshot)
    if output is None:
        return Answer({}, "\n".join(lines), file=text.encode())
    put(output, text)
    lines.append(f"Next: read the code, and set allow: true in {visible(str(output))} on what may be a tool.")
    document: dict[str, Json] = {
        "snapshot": str(output),
        "digest": snapshot.digest,
        "entries": {name: each.place for name, each in snapshot.entries.items()},
        "allowed": [*allowed],
        "changes": document_of(seen),
    }
    return Answer(document, "\n".join(lines))


def _compared(seen: tuple[Field, ...]) -> Answer:
    if not seen:
        return Answer({"changes": []}, "The package is what was reviewed.")
    step = "Next: `interlock import python PACKAGE -o SNAPSHOT` renews the snapshot; then review it."
    return Answer({"changes": document_of(seen)}, "\n".join([*lines_of(seen), step]), PROBLEM)


def lines_of(seen: tuple[Field, ...]) -> list[str]:
    """What has changed, for people."""
    return [f"changed  {visible(each.name)}: {short(each.before)} -> {short(each.now)}" for each in seen]


def document_of(seen: tuple[Field, ...]) -> list[Json]:
    """The same for programs."""
    return [{"field": each.name, "before": each.before, "now": each.now} for each in seen]
