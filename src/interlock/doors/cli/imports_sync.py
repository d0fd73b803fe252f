"""`interlock import sync`: holds every snapshot of a project against its source, and quarantines what drifted."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interlock.doors.cli import imports, imports_mcp_shown, imports_python
from interlock.doors.cli.answer import DONE, PROBLEM, Answer
from interlock.doors.cli.imports_flow import Seen
from interlock.doors.cli.imports_mcp import app, taken, values
from interlock.doors.cli.shown import visible
from interlock.doors.cli.verb import line, verb

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from interlock.core.canonical import Json
    from interlock.doors.cli.project import Project
    from interlock.doors.cli.session import Session
    from interlock.importers.mcp_sync import McpDrifted

__all__ = ["app"]

_NOT_ASKED = "Next: see to it that what is unknown can be asked, then `interlock import sync` again."


@dataclass(frozen=True, slots=True)
class Found:
    """What became of one snapshot. `drifted` are tools that are open and are not what was reviewed.

    `renewed_by` is the command that renews it, given in the project's folder; empty where the source cannot be asked.
    """

    place: str
    seen: Seen
    renewed_by: str = ""
    drifted: tuple[McpDrifted, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)


@verb(app, "sync")
async def sync(
    *,
    secret: Annotated[
        list[str] | None,
        typer.Option("--secret", metavar="SECRET=VARIABLE", help="Where the value of a secret is for this once."),
    ] = None,
) -> Answer:
    """Hold all snapshots of the project against what they were taken of; ends with 1 where anything is to be reviewed.

    Tools of MCP servers that have drifted, but for grades that their snapshot lets pass, are put into quarantine.
    """
    from interlock.doors.cli.project import read_project

    project = read_project(line().project)
    secrets = values(secret or [])
    found = [_openapi(project, place) for place in project.openapi]
    found += [await _mcp(project, place, secrets=secrets) for place in project.mcp]
    found += [_python(project, place) for place in project.python]
    moved, why = await _quarantined(project, found)
    lines = [each for one in found for each in _shown(one)]
    lines += [f"quarantined: {visible(name)} version {visible(version)}" for name, version in moved]
    lines += [f"Nothing was put on record: {visible(why)}"] if why else []
    is_open = any(each.seen.is_open for each in found)
    step = _end(found, is_open=is_open)
    lines.append(step)
    document: dict[str, Json] = {
        "snapshots": [
            {"snapshot": each.place, "open": each.seen.is_open, "changes": each.seen.document} for each in found
        ],
        "quarantined": [{"name": name, "version": version} for name, version in moved],
        "next": step.removeprefix("Next: ") if is_open else "",
        **({"not_quarantined": why} if why else {}),
    }
    return Answer(document, "\n".join(lines), PROBLEM if is_open else DONE)


def _end(found: list[Found], *, is_open: bool) -> str:
    if not found:
        return "The project has no snapshots: openapi, mcp and python in interlock.toml name them."
    if not is_open:
        return "Every snapshot is what was reviewed, or its drift passes."
    steps = [f"`{each.renewed_by}`" for each in found if each.seen.is_open and each.renewed_by]
    return f"Next: {', '.join(steps)} renews it; then review it." if steps else _NOT_ASKED


def _shown(found: Found) -> list[str]:
    return [f"{visible(found.place)}: {'to be reviewed' if found.seen.is_open else 'as reviewed'}", *found.seen.lines]


def _broken(place: str, fault: Exception) -> Found:
    """A source that cannot be asked is nothing that anybody has reviewed today."""
    reason = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
    return Found(place, Seen(is_open=True, lines=(f"unknown  {visible(reason)}",), more={"unknown": reason}))


def _renewed_by(*words: str) -> str:
    return shlex.join(("interlock", "import", *words))


def _openapi(project: Project, place: str) -> Found:
    from interlock.core.errors import SpecInvalid
    from interlock.importers.openapi import read_openapi, read_snapshot, take_snapshot

    path = project.root / place
    try:
        before = read_snapshot(path.read_bytes())
        document = read_openapi((path.parent / before.file).read_bytes())
        seen = imports.seen_in(before, take_snapshot(document, server=before.server, owner=before.owner))
    except (SpecInvalid, OSError) as fault:
        return _broken(place, fault)
    return Found(place, seen, _renewed_by("openapi", str(Path(place).parent / before.file), "-o", place))


async def _mcp(project: Project, place: str, *, secrets: Mapping[str, str]) -> Found:
    from interlock.core.errors import SpecInvalid
    from interlock.importers.mcp import read_mcp_snapshot
    from interlock.importers.mcp_sync import mcp_changes

    path = project.root / place
    try:
        before = read_mcp_snapshot(path.read_bytes())
        changes = mcp_changes(before, await taken(before.server, path.parent, owner=before.owner, secrets=secrets))
    except (SpecInvalid, OSError) as fault:
        return _broken(place, fault)
    drifted = tuple(each for each in changes.open_drift if each.allowed)
    versions = {each.name: before.tools[each.key].version for each in drifted}
    return Found(place, imports_mcp_shown.seen_of(changes), _renewed_by("mcp", "-o", place), drifted, versions)


def _python(project: Project, place: str) -> Found:
    from interlock.core.errors import SpecInvalid
    from interlock.importers.python import python_snapshot_at, take_python_snapshot

    try:
        before = python_snapshot_at(project.root / place)
        seen = imports_python.seen_in(before, take_python_snapshot(before.package))
    except (SpecInvalid, OSError) as fault:
        return _broken(place, fault)
    return Found(place, seen, _renewed_by("python", before.package, "-o", place))


async def _quarantined(project: Project, found: Iterable[Found]) -> tuple[list[tuple[str, str]], str]:
    """Put what drifted and is published into quarantine, on record; the reason where this person may not.

    Calls to it are refused without that as well, wherever one is made; this tells every process, and the log.
    """
    from interlock.doors.cli.session import not_operator, reading

    wanted = [(each, one.versions[each.name]) for one in found for each in one.drifted]
    if not wanted or not project.is_stored:
        return [], ""
    async with reading() as session:
        deny = not_operator(session.by, "To quarantine a tool")
        if deny is not None:
            return [], deny.message
        moved = [
            (drifted.name, version)
            for drifted, version in wanted
            if await _quarantine(session, drifted, version=version)
        ]
    return moved, ""


async def _quarantine(session: Session, drifted: McpDrifted, *, version: str) -> bool:
    from interlock.core.lifecycle import MOVES, Lifecycle

    published = await session.gate.catalogue.list_versions(drifted.name, tenant=session.by.tenant)
    known = [each for each in published if each.version == version and each.source == "mcp"]
    if not any(Lifecycle.QUARANTINED in MOVES[each.state] for each in known):
        return False
    reason = f"Its server lists it otherwise than it was reviewed: {drifted.grade.name.lower()}."
    await session.gate.catalogue.move(
        drifted.name, Lifecycle.QUARANTINED, version=version, by=session.by, reason=reason
    )
    return True
