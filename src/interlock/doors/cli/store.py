"""`interlock store`: writes the store as text, makes a store of such a text, and moves a store elsewhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interlock.doors.cli.answer import Answer
from interlock.doors.cli.backup import Key, host_of, megabytes, progress, restored, restored_document, stored
from interlock.doors.cli.faults import problem, refusal
from interlock.doors.cli.shown import visible
from interlock.doors.cli.verb import line, verb

if TYPE_CHECKING:
    from interlock.core.call import Principal
    from interlock.core.canonical import Json
    from interlock.core.decision import Deny

app = typer.Typer(help="Dump, load and move the store.", no_args_is_help=True)


@verb(app, "dump")
async def dump(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to; nothing is overwritten.")],
) -> Answer:
    """Write everything in the store as lines of JSON, while it is used.

    What is sealed stays sealed, and the key is not in it.
    """
    from interlock.copies import dump_store
    from interlock.core.journal import EventKind
    from interlock.doors.cli.session import not_operator, reading

    async with reading() as session:
        store = stored(session.project)
        refused = not_operator(session.by, "Dumping")
        if refused is not None:
            return refusal(refused)
        with progress("Dumping the store") as tell:
            made = await dump_store(store, file, tell=tell)
        record = {"subject": "store", "file": file.name, "size_bytes": made.size_bytes, "sha256": made.sha256}
        await session.gate.audit.act(EventKind.BACKED_UP, record, by=session.by)
    document: dict[str, Json] = {"file": str(file), "size_bytes": made.size_bytes, "sha256": made.sha256}
    text = (
        f"{visible(file)} holds every row: {megabytes(made.size_bytes)}, SHA-256 {made.sha256}. The key is not in it.\n"
        f"Next: `interlock store load {visible(file)} --to PATH` makes a store of it."
    )
    return Answer(document, text)


@verb(app, "load")
async def load(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The dump.")],
    *,
    to: Annotated[Path, typer.Option(metavar="PATH", help="The new store; nothing is overwritten.")],
    key: Key = None,
) -> Answer:
    """Make a store of a dump, after proving it. It is a copy, as one that is restored from a backup is."""
    from interlock.copies import load_store

    by, refused = _operator("Loading")
    if refused is not None:
        return refusal(refused)
    with progress("Loading the store"):
        made = await load_store(file, to, by=by, host=host_of(key, to, file))
    return Answer(restored_document(to, made), restored(file, to, made))


@verb(app, "move")
async def move(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="The store, which nobody has open.")],
    destination: Annotated[str, typer.Argument(metavar="DESTINATION", help="Where to: a file that is not there yet.")],
    *,
    key: Key = None,
) -> Answer:
    """Move everything in a store, its chains and open calls too. The old one opens no more, and says where it went."""
    from interlock.copies import move_store

    by, refused = _operator("Moving")
    if refused is not None:
        return refusal(refused)
    if "://" in destination:
        return problem(
            "SETTINGS_INVALID",
            "A store moves to a file so far; a database server is not among the destinations.",
            next_step="Give a path.",
        )
    with progress("Moving the store") as tell:
        made = await move_store(source, Path(destination), by=by, host=host_of(key, source), tell=tell)
    target = made.path
    document: dict[str, Json] = {"from": str(source), "to": str(target), "size_bytes": made.size_bytes}
    text = (
        f"Everything in {visible(source)} is in {visible(target)} now, and the log holds there.\n"
        f"Next: move the key to {visible(target)}.key, and let [interlock] store in interlock.toml say the new place.\n"
        f"{visible(source)} opens no more; remove it once the new one is backed up."
    )
    return Answer(document, text)


def _operator(what: str) -> tuple[Principal, Deny | None]:
    from interlock.doors.cli.project import read_project
    from interlock.doors.cli.session import not_operator, os_user

    by = replace(read_project(line().project).person(line().acting_as), actor=os_user())
    return by, not_operator(by, what)
