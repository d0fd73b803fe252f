"""`interlock backup`: copies the project's store while it is used, proves a copy, and makes a store of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interlock.doors.cli.answer import Answer
from interlock.doors.cli.faults import missing, refusal
from interlock.doors.cli.shown import moment, visible
from interlock.doors.cli.verb import line, verb

if TYPE_CHECKING:
    from interlock.assemble import Host
    from interlock.copies import Backup, Restored
    from interlock.core.canonical import Json
    from interlock.doors.cli.project import Project

app = typer.Typer(help="Copy the store, prove a copy, and restore one.", no_args_is_help=True)

Tell = Callable[[int, int], None]
File = Annotated[Path, typer.Argument(metavar="FILE", help="The backup.")]
Key = Annotated[Path | None, typer.Option(metavar="KEYFILE", help="The store's key; default: the project's.")]


@verb(app, "create")
async def create(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to; nothing is overwritten.")],
) -> Answer:
    """Copy the store to a file, while it is used. The key is not in it."""
    from interlock.doors.cli.session import not_operator, reading

    async with reading() as session:
        store = stored(session.project)
        refused = not_operator(session.by, "Backing up")
        if refused is not None:
            return refusal(refused)
        with progress("Copying the store") as tell:
            made = await session.gate.backup(file, by=session.by, tell=tell)
    key = f"{store}.key"
    document: dict[str, Json] = {"file": str(file), "size_bytes": made.size_bytes, "sha256": made.sha256, "key": key}
    text = (
        f"{visible(file)} holds the store: {megabytes(made.size_bytes)}, SHA-256 {made.sha256}.\n"
        f"The key is not in it: keep a copy of {visible(key)} apart from it. Without the key no backup opens.\n"
        f"Next: `interlock backup verify {visible(file)}`."
    )
    return Answer(document, text)


@verb(app, "verify")
async def verify(file: File, *, key: Key = None) -> Answer:
    """Prove a backup: the file, the schema, the key, and every record of its log. Changes nothing."""
    from interlock.copies import verify_backup

    if not file.is_file():
        return missing(file)
    with progress("Proving the backup"):
        found = await verify_backup(file, host=host_of(key, file))
    return Answer({"file": str(file), **_document(found)}, "\n".join(_holds(file, found)))


@verb(app, "restore")
async def restore(
    file: File,
    *,
    to: Annotated[Path | None, typer.Option(metavar="PATH", help="The new store; default: the project's.")] = None,
    key: Key = None,
) -> Answer:
    """Make a store of a backup, where there is none, after proving it.

    What happened after the backup was taken is not in it, effects included: read what it says then.
    """
    from interlock.copies import restore_backup
    from interlock.doors.cli.project import read_project
    from interlock.doors.cli.session import not_operator, os_user

    project = read_project(line().project)
    by = replace(project.person(line().acting_as), actor=os_user())
    refused = not_operator(by, "Restoring")
    if refused is not None:
        return refusal(refused)
    if not file.is_file():
        return missing(file)
    target = to or stored(project)
    with progress("Restoring the store") as tell:
        made = await restore_backup(file, target, by=by, host=host_of(key, target, file), tell=tell)
    return Answer(restored_document(target, made), restored(file, target, made))


def stored(project: Project) -> Path:
    """The file of the project's store. Raises `SettingsInvalid` where it is none."""
    from interlock.core.errors import SettingsInvalid
    from interlock.doors.cli.project import MEMORY

    if project.store == MEMORY:
        raise SettingsInvalid("a store in memory is gone with its process; give [interlock] store a file")
    if "://" in project.store:
        raise SettingsInvalid("the store is a database server's: back it up with its own tools, such as pg_dump")
    return Path(project.store)


@contextmanager
def progress(words: str) -> Iterator[Tell]:
    """Say how far something is, while it lasts, to a person at a terminal."""
    import sys

    from interlock.doors.cli.session import working

    if line().json or not sys.stderr.isatty():
        with working(words):
            yield lambda done, total: None
        return
    from rich.console import Console

    with Console(stderr=True).status(words) as status:
        yield lambda done, total: status.update(f"{words}: {100 * done // max(1, total)}%")


def megabytes(size_bytes: int) -> str:
    """A size for people."""
    return f"{size_bytes / 1_000_000:.1f} MB"


def host_of(key: Path | None, *stores: Path) -> Host:
    """Whoever names no key means the one beside the store, or else the project's. What seals is the project's."""
    from interlock.assemble import Host
    from interlock.doors.cli.faults import ProjectMissing
    from interlock.doors.cli.project import read_project
    from interlock.keys import read_key_file

    try:
        project = read_project(line().project)
    except ProjectMissing:
        project = None
    seal = None if project is None else project.seal
    if key is not None:
        return Host(keys=read_key_file(key), seal=seal)
    if project is None or any(Path(f"{store}.key").exists() for store in stores):
        return Host(seal=seal)
    return Host(keys=read_key_file(Path(f"{stored(project)}.key")), seal=seal)


def _document(found: Backup) -> dict[str, Json]:
    copy = found.found.copy
    return {
        "schema": found.found.schema,
        "taken_at": None if copy is None else moment(copy.taken_us or None),
        "newest_record_at": moment(found.found.last_us),
        "records": found.log.records,
        "open_calls": found.found.open_calls,
        "limits": [*found.log.limits],
    }


def _holds(file: Path, found: Backup) -> list[str]:
    copy, what = found.found.copy, found.found
    taken = "it is a store that was never taken a backup of" if copy is None else f"taken {moment(copy.taken_us)}"
    return [
        f"{visible(file)} holds: {taken}, its newest record is of {moment(what.last_us) or 'no time'}.",
        found.log.sentence,
        f"Calls that were not closed when it was taken: {what.open_calls}.",
        *(f"What this cannot show: {each}" for each in found.log.limits),
    ]


def restored_document(target: Path, made: Restored) -> dict[str, Json]:
    """What was made of a copy, for programs."""
    return {
        "store": str(target),
        "branch": made.branch,
        "voided": made.voided,
        "not_known": [*_not_known(made)],
        **_document(made.backup),
    }


def restored(file: Path, target: Path, made: Restored) -> str:
    """The same for people."""
    missing = "" if Path(f"{target}.key").exists() else f"put the store's key at {visible(target)}.key, then "
    lines = (
        f"{visible(target)} is {visible(file)} restored. {made.backup.log.sentence}",
        f"It writes chains of its own, main~{made.branch}, since its original may have gone on with the others.",
        "What it cannot know:",
        *(f"- {each}" for each in _not_known(made)),
        f"Next: {missing}`interlock recover` looks up what was under way; `interlock calls unknown` shows the rest.",
    )
    return "\n".join(lines)


def _not_known(made: Restored) -> tuple[str, ...]:
    """What a restored store cannot know, in sentences."""
    since, calls = moment(made.backup.found.last_us) or "its beginning", made.backup.found.open_calls
    return (
        f"Nothing later than {since} is in it: its effects happen again if their tasks or keys are proposed again.",
        f"Calls that were not closed then: {calls}. Each is unknown until it is looked up, or closed by evidence.",
        f"Questions and unused grants of then: {made.voided}. They may have been used, so they are void: ask anew.",
        "Plans that were undoing effects stand still: look what was undone since before one is resumed.",
        "Budgets, policies, and what was frozen or retired are as they were then.",
    )
