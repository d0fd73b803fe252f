"""`interlock import`: writes and compares the reviewed snapshots from which a project takes tools of others."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from interlock.doors.cli.answer import PROBLEM, Answer
from interlock.doors.cli.faults import problem
from interlock.doors.cli.shown import counted, visible
from interlock.doors.cli.verb import verb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from interlock.core.canonical import Json
    from interlock.importers.openapi import Snapshot
    from interlock.importers.openapi_changes import Changes, Field

T = TypeVar("T")

Owner = Annotated[str, typer.Option("--owner", help="The group that answers for the tools.")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="SNAPSHOT", help="Write it there; renew it if it is there.")
]
Check = Annotated[
    Path | None, typer.Option("--check", metavar="SNAPSHOT", help="Only say what has changed since that one.")
]

app = typer.Typer(help="Tools of others, as snapshots that a person reviews.", no_args_is_help=True)

SHOWN_MAX = 160


@app.callback()
def group() -> None:
    """Tools of others, as snapshots that a person reviews."""


@verb(app, "openapi")
async def openapi(
    file: Annotated[Path, typer.Argument(help="The document: OpenAPI 3.0, 3.1 or 2.0, JSON or YAML.")],
    *,
    server: Annotated[str, typer.Option("--server", metavar="URL", help="Where all requests go.")] = "",
    variable: Annotated[
        list[str] | None, typer.Option("--variable", metavar="NAME=VALUE", help="A variable of that URL.")
    ] = None,
    owner: Owner = "",
    output: Output = None,
    check: Check = None,
    accept: Annotated[bool, typer.Option("--accept", help="Leave open what was allowed and has changed.")] = False,
) -> Answer:
    """Write a snapshot of a document, which allows nothing by itself; or say what has changed since one."""
    from interlock.core.errors import SpecInvalid
    from interlock.importers.openapi import read_snapshot
    from interlock.importers.openapi_changes import changes
    from interlock.importers.openapi_snapshot import renewed

    try:
        before = reviewed(read_snapshot, output=output, check=check)
        found = _taken(file, before, server=server, owner=owner, variables=variable or [])
    except SpecInvalid as fault:
        return problem("IMPORT_INVALID", str(fault), next_step="`interlock import openapi --help` shows what it takes.")
    if before is None:
        return _written(found, file=file, output=output)
    seen = changes(before, found)
    if check is not None:
        return _compared(seen, found)
    return _written(renewed(found, before, accept=accept), file=file, output=output, seen=seen)


def reviewed(read: Callable[[bytes], T], *, output: Path | None, check: Path | None) -> T | None:
    """The snapshot to compare with or to renew; None: a new one is written. Raises `SpecInvalid` or `OSError`."""
    from interlock.core.errors import SpecInvalid

    path = check or output
    if path is None or not (check or path.exists()):
        return None
    try:
        return read(path.read_bytes())
    except SpecInvalid as fault:
        raise SpecInvalid(f"{path}: {fault}") from fault


def _taken(file: Path, before: Snapshot | None, *, server: str, owner: str, variables: Iterable[str]) -> Snapshot:
    from interlock.core.errors import SpecInvalid
    from interlock.importers.openapi import read_openapi, take_snapshot

    server, owner = _known(before, server=server, owner=owner)
    try:
        return take_snapshot(
            read_openapi(file.read_bytes()), server=server, owner=owner, variables=pairs(variables, option="--variable")
        )
    except SpecInvalid as fault:
        raise SpecInvalid(f"{file}: {fault}") from fault


def _known(before: Snapshot | None, *, server: str, owner: str) -> tuple[str, str]:
    """Server and owner; a snapshot that is there says what the command line does not."""
    from interlock.core.errors import SpecInvalid

    owner = owner or ("" if before is None else before.owner)
    if not owner.strip():
        raise SpecInvalid("say who answers for these tools: --owner NAME")
    return server or ("" if before is None else before.server), owner


def pairs(given: Iterable[str], *, option: str) -> dict[str, str]:
    """What an option says as NAME=VALUE, any number of times. Raises `SpecInvalid`."""
    from interlock.core.errors import SpecInvalid

    found = [each.partition("=") for each in given]
    for name, equals, _ in found:
        if not equals:
            raise SpecInvalid(f"{option} is NAME=VALUE, not {name}")
    return {name: value for name, _, value in found}


def _written(snapshot: Snapshot, *, file: Path, output: Path | None, seen: Changes | None = None) -> Answer:
    from dataclasses import replace

    from interlock.importers.openapi import write_snapshot

    folder = Path.cwd() if output is None else output.parent
    text = write_snapshot(replace(snapshot, file=os.path.relpath(file, folder)))
    allowed = sum(each.allow for each in snapshot.operations.values())
    count = f"{counted(len(snapshot.operations), 'operation')} can be tools, {allowed} of them allowed"
    lines = [f"{count}; {counted(len(snapshot.not_tools), 'place')} cannot."]
    if seen is not None:
        lines += lines_of(seen)
    if output is None:
        return Answer({}, "\n".join(lines), file=text.encode())
    put(output, text)
    lines.append(f"Next: review {visible(output)} and set allow: true on what may be a tool.")
    document: dict[str, Json] = {
        "snapshot": str(output),
        "operations": [*snapshot.operations],
        "allowed": [key for key, each in snapshot.operations.items() if each.allow],
        "not_tools": {**snapshot.not_tools},
        **({} if seen is None else {"changes": document_of(seen)}),
    }
    return Answer(document, "\n".join(lines))


def put(path: Path, text: str) -> None:
    """Write the file as a whole or not at all."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def _compared(seen: Changes, now: Snapshot) -> Answer:
    document: dict[str, Json] = {"changes": document_of(seen), "source": {**now.source}}
    if not seen.any:
        return Answer(document, "Every operation is what was reviewed.")
    lines = [*lines_of(seen), "Next: `interlock import openapi FILE -o SNAPSHOT` renews the snapshot; then review it."]
    return Answer(document, "\n".join(lines), PROBLEM)


def lines_of(seen: Changes) -> list[str]:
    """What has changed, for people."""
    lines = [f"new      {visible(key)}" for key in seen.new]
    lines += [f"gone     {visible(key)}" for key in seen.gone]
    for word, found in (("changed ", seen.changed), ("not tool", seen.not_tools)):
        for key, fields in (found or {}).items():
            lines.append(f"{word} {visible(key)}")
            lines += [f"    {visible(each.name)}: {short(each.before)} -> {short(each.now)}" for each in fields]
    return lines


def short(text: str) -> str:
    """A value of a field on one line, what nobody sees spelled out."""
    shown = visible(text).replace("\n", " ")
    return (shown if len(shown) <= SHOWN_MAX else f"{shown[:SHOWN_MAX]}…") or "nothing"


def document_of(seen: Changes) -> dict[str, Json]:
    """The same for programs."""

    def told(found: Mapping[str, tuple[Field, ...]] | None) -> dict[str, Json]:
        return {
            key: [{"field": each.name, "before": each.before, "now": each.now} for each in fields]
            for key, fields in (found or {}).items()
        }

    return {
        "new": [*seen.new],
        "gone": [*seen.gone],
        "changed": told(seen.changed),
        "not_tools": told(seen.not_tools),
    }
