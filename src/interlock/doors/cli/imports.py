"""`interlock import`: writes and compares the reviewed snapshots from which a project takes tools of others."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interlock.doors.cli.answer import Answer
from interlock.doors.cli.imports_flow import (
    Accept,
    AcceptAll,
    Check,
    Output,
    Seen,
    Source,
    Told,
    Wish,
    imported,
    owner_of,
    pairs,
)
from interlock.doors.cli.shown import counted, visible
from interlock.doors.cli.verb import verb

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from interlock.importers.openapi import Snapshot
    from interlock.importers.openapi_changes import Changes

Owner = Annotated[str, typer.Option("--owner", help="The group that answers for the tools.")]

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
    accept: Accept = None,
    accept_all: AcceptAll = False,
) -> Answer:
    """Write a snapshot of a document, which allows nothing by itself; or say what has changed since one."""

    async def take(before: Snapshot | None) -> Snapshot:
        where = server or ("" if before is None else before.server)
        who = owner_of(owner, "" if before is None else before.owner)
        return _taken(file, server=where, owner=who, variables=variable or [])

    wish = Wish(output, check, tuple(accept or ()), accept_all)
    return await imported(_source(), wish, take)


def _source() -> Source[Snapshot]:
    from interlock.importers.openapi import read_snapshot
    from interlock.importers.openapi_snapshot import renewed

    return Source(
        name="openapi",
        read=read_snapshot,
        told=_told,
        seen=seen_in,
        renewed=lambda fresh, before, accept: replace(renewed(fresh, before, accept=accept), file=fresh.file),
        same="Every operation is what was reviewed.",
    )


def _taken(file: Path, *, server: str, owner: str, variables: Iterable[str]) -> Snapshot:
    from interlock.core.errors import SpecInvalid
    from interlock.importers.openapi import read_openapi, take_snapshot

    try:
        found = take_snapshot(
            read_openapi(file.read_bytes()), server=server, owner=owner, variables=pairs(variables, option="--variable")
        )
    except SpecInvalid as fault:
        raise SpecInvalid(f"{file}: {fault}") from fault
    return replace(found, file=str(file))


def _told(snapshot: Snapshot, output: Path | None) -> Told:
    from interlock.importers.openapi import write_snapshot

    folder = Path.cwd() if output is None else output.parent
    allowed = tuple(key for key, each in snapshot.operations.items() if each.allow)
    count = f"{counted(len(snapshot.operations), 'operation')} can be tools, {len(allowed)} of them allowed"
    return Told(
        write_snapshot(replace(snapshot, file=os.path.relpath(snapshot.file, folder))),
        tuple(snapshot.operations),
        allowed,
        (f"{count}; {counted(len(snapshot.not_tools), 'place')} cannot.",),
        snapshot.not_tools,
        {"source": {**snapshot.source}},
    )


def seen_in(before: Snapshot, now: Snapshot) -> Seen:
    """What has changed of a document."""
    from interlock.importers.openapi_changes import changes

    seen = changes(before, now)
    return Seen(
        seen.any,
        tuple(_lines(seen)),
        new=seen.new,
        gone=seen.gone,
        changed=seen.changed or {},
        not_tools=seen.not_tools or {},
        more={"source": {**now.source}},
    )


def _lines(seen: Changes) -> Iterator[str]:
    yield from (f"new      {visible(key)}" for key in seen.new)
    yield from (f"gone     {visible(key)}" for key in seen.gone)
    for word, found in (("changed ", seen.changed), ("not tool", seen.not_tools)):
        for key, fields in (found or {}).items():
            yield f"{word} {visible(key)}"
            yield from (f"    {visible(each.name)}: {short(each.before)} -> {short(each.now)}" for each in fields)


def short(text: str) -> str:
    """A value of a field on one line, what nobody sees spelled out."""
    shown = visible(text).replace("\n", " ")
    return (shown if len(shown) <= SHOWN_MAX else f"{shown[:SHOWN_MAX]}…") or "nothing"
