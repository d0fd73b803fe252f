"""`interlock store`: writes the store as text, makes a store of such a text, and moves a store elsewhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interlock.doors.cli.answer import Answer
from interlock.doors.cli.backup import Key, Tell, host_of, megabytes, progress, restored, restored_document, stored
from interlock.doors.cli.faults import missing, refusal
from interlock.doors.cli.shown import visible
from interlock.doors.cli.verb import line, verb

if TYPE_CHECKING:
    from interlock.assemble import Host
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
    if not file.is_file():
        return missing(file)
    with progress("Loading the store"):
        made = await load_store(file, to, by=by, host=host_of(key, to, file))
    return Answer(restored_document(to, made), restored(file, to, made))


@verb(app, "move")
async def move(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="The store, which nobody has open.")],
    place: Annotated[str, typer.Argument(metavar="PLACE", help="A file that is not there yet, or postgresql://...")],
    *,
    key: Key = None,
) -> Answer:
    """Move everything in a store, chains and open calls too. The old one opens no more, and says where it went."""
    by, refused = _operator("Moving")
    if refused is not None:
        return refusal(refused)
    with progress("Moving the store") as tell:
        moved = _into_database if "://" in place else _into_file
        where, key_file = await moved(source, place, by=by, host=host_of(key, source), tell=tell)
    document: dict[str, Json] = {"from": str(source), "to": where, "key": key_file}
    text = (
        f"Everything in {visible(source)} is in {visible(where)} now, and the log holds there.\n"
        f"Next: copy the key to {visible(key_file)}, and let [interlock] store in interlock.toml say the new place.\n"
        f"{visible(source)} opens no more; remove it once there is a backup of the new one."
    )
    return Answer(document, text)


async def _into_file(source: Path, place: str, *, by: Principal, host: Host, tell: Tell) -> tuple[str, str]:
    """Where everything is now, and where its key belongs."""
    from interlock.copies import move_store

    made = await move_store(source, Path(place), by=by, host=host, tell=tell)
    return str(made.path), f"{made.path}.key"


async def _into_database(source: Path, place: str, *, by: Principal, host: Host, tell: Tell) -> tuple[str, str]:
    from interlock.copies import move_store_to_postgres
    from interlock.doors.cli.project import read_project

    made = await move_store_to_postgres(source, place, by=by, host=host, tell=tell)
    return made.place, str(read_project(line().project).root / made.key)


def _operator(what: str) -> tuple[Principal, Deny | None]:
    from interlock.doors.cli.project import read_project
    from interlock.doors.cli.session import not_operator, os_user

    by = replace(read_project(line().project).person(line().acting_as), actor=os_user())
    return by, not_operator(by, what)
