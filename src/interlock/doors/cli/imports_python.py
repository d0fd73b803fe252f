"""`interlock import python`: lists what an installed package offers, without running it, as a snapshot to review."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interlock.doors.cli.answer import Answer
from interlock.doors.cli.imports import app, short
from interlock.doors.cli.imports_flow import Accept, AcceptAll, Check, Output, Seen, Source, Told, Wish, imported
from interlock.doors.cli.shown import counted, visible
from interlock.doors.cli.verb import verb

if TYPE_CHECKING:
    from interlock.importers.python import PythonSnapshot

__all__ = ["app"]

WARNING = "Importing a package runs its code, with all that this process may do. Nothing of it was imported yet."

_ENTRY = "entry "
"""What a field about an entry point begins with."""


@verb(app, "python")
async def python(
    package: Annotated[str, typer.Argument(help="The installed package, such as acme-tools.")],
    *,
    output: Output = None,
    check: Check = None,
    accept: Accept = None,
    accept_all: AcceptAll = False,
) -> Answer:
    """Write a snapshot of what a package offers by entry points, which allows nothing by itself; or compare one."""
    from interlock.importers.python import take_python_snapshot

    async def take(_: PythonSnapshot | None) -> PythonSnapshot:
        return take_python_snapshot(package)

    return await imported(_source(), Wish(output, check, tuple(accept or ()), accept_all), take)


def _source() -> Source[PythonSnapshot]:
    from interlock.importers.python import python_renewed, read_python_snapshot

    return Source(
        name="python",
        read=read_python_snapshot,
        told=_told,
        seen=seen_in,
        renewed=lambda fresh, before, accept: python_renewed(fresh, before, accept=accept),
        same="The package is what was reviewed.",
    )


def _told(snapshot: PythonSnapshot, _: Path | None) -> Told:
    from interlock.importers.python import write_python_snapshot

    allowed = tuple(name for name, each in snapshot.entries.items() if each.allow)
    about = f"{visible(snapshot.package)} {visible(snapshot.version)}, {counted(snapshot.files, 'file')}"
    says = f"{about}: it offers {counted(len(snapshot.entries), 'tool')}, {len(allowed)} of them allowed."
    return Told(
        write_python_snapshot(snapshot),
        tuple(snapshot.entries),
        allowed,
        (says, WARNING),
        more={"digest": snapshot.digest, "places": {name: each.place for name, each in snapshot.entries.items()}},
    )


def seen_in(before: PythonSnapshot, now: PythonSnapshot) -> Seen:
    """What has changed of a package."""
    from interlock.importers.python import python_changes

    found = python_changes(before, now)
    entries = {each.name.removeprefix(_ENTRY): each for each in found if each.name.startswith(_ENTRY)}
    return Seen(
        bool(found),
        tuple(f"changed  {visible(each.name)}: {short(each.before)} -> {short(each.now)}" for each in found),
        about=tuple(each for each in found if not each.name.startswith(_ENTRY)),
        new=tuple(name for name, each in entries.items() if not each.before),
        gone=tuple(name for name, each in entries.items() if not each.now),
        changed={name: (each,) for name, each in entries.items() if each.before and each.now},
    )
