"""`interlock import mcp`: asks an MCP server what it lists, and writes or compares the snapshot that is reviewed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interlock.doors.cli.answer import Answer
from interlock.doors.cli.imports import Owner, app
from interlock.doors.cli.imports_flow import (
    Accept,
    AcceptAll,
    Check,
    Output,
    Source,
    Told,
    Wish,
    imported,
    owner_of,
    pairs,
)
from interlock.doors.cli.imports_mcp_shown import seen_in
from interlock.doors.cli.shown import counted, visible
from interlock.doors.cli.verb import line, verb

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from interlock.declare.mcp_server import McpServer
    from interlock.importers.mcp import McpSnapshot

__all__ = ["app", "taken", "values"]

ASKING_S = 90.0
"""How long a server may take: a command such as npx fetches first what it runs."""

_OWN_WORDS = ". Where its command ended by itself, INTERLOCK_DEBUG=1 in front of yours shows what that said"

Many = list[str] | None


@verb(app, "mcp")
async def mcp(
    command: Annotated[Many, typer.Argument(help="The command of a server on stdio, behind --.")] = None,
    *,
    url: Annotated[str, typer.Option("--url", metavar="URL", help="The address of one over Streamable HTTP.")] = "",
    bearer: Annotated[str, typer.Option("--bearer", metavar="SECRET", help="The secret that it is sent.")] = "",
    secret_env: Annotated[
        Many, typer.Option("--secret-env", metavar="VARIABLE=SECRET", help="A variable of the command, and its secret.")
    ] = None,
    env: Annotated[Many, typer.Option("--env", metavar="NAME=VALUE", help="A variable of the command.")] = None,
    file: Annotated[Many, typer.Option("--file", help="A file that the command is made of; it is pinned.")] = None,
    secret: Annotated[
        Many, typer.Option("--secret", metavar="SECRET=VARIABLE", help="Where the value of a secret is for this once.")
    ] = None,
    owner: Owner = "",
    prefix: Annotated[str, typer.Option("--prefix", help="What the names of its tools begin with.")] = "",
    output: Output = None,
    check: Check = None,
    accept: Accept = None,
    accept_all: AcceptAll = False,
) -> Answer:
    """Write a snapshot of a server, which allows nothing by itself; or say what has changed since one."""

    async def take(before: McpSnapshot | None) -> McpSnapshot:
        at = _folder(check or output)
        on_stdio = None if url else _on_stdio(command, secret_env=secret_env, env=env, file=file)
        given = _over_http(url, bearer=bearer, command=command) if url else on_stdio
        server = _known(before, _from(given, at))
        who = owner_of(owner, "" if before is None else before.owner)
        begins = prefix or ("" if before is None else before.prefix)
        return await taken(server, at, owner=who, prefix=begins, secrets=values(secret or []))

    return await imported(_source(), Wish(output, check, tuple(accept or ()), accept_all), take)


def _source() -> Source[McpSnapshot]:
    from interlock.importers.mcp import mcp_renewed, read_mcp_snapshot

    return Source(
        name="mcp",
        read=read_mcp_snapshot,
        told=_told,
        seen=seen_in,
        renewed=lambda fresh, before, accept: mcp_renewed(fresh, before, accept=accept),
        same="Every tool is what was reviewed, or its drift passes.",
    )


async def taken(
    server: McpServer, folder: Path, *, owner: str, prefix: str = "", secrets: Mapping[str, str]
) -> McpSnapshot:
    """What it lists now; a command is started in its folder, said from this one. Raises `SpecInvalid`."""
    from dataclasses import replace

    from interlock.core.errors import SpecInvalid
    from interlock.importers.mcp import placed, take_mcp_snapshot

    try:
        from interlock.upstream import mcp_server_listing
    except ModuleNotFoundError as missing:
        raise SpecInvalid(str(missing)) from missing
    here = placed(server, folder)
    try:
        listing = await mcp_server_listing(here, secrets=secrets, egress_allow=_egress(), timeout_s=ASKING_S)
    except SpecInvalid as fault:
        raise SpecInvalid(f"{fault}{_OWN_WORDS if here.command else ''}") from fault
    return replace(take_mcp_snapshot(listing, server=here, owner=owner, prefix=prefix), server=server)


def _folder(path: Path | None) -> Path:
    return Path() if path is None else path.parent


def _over_http(url: str, *, bearer: str, command: Many) -> McpServer:
    from interlock.core.errors import SpecInvalid
    from interlock.core.http_template import Credential
    from interlock.declare.mcp_server import McpServer

    if command:
        raise SpecInvalid("say either --url or, behind --, the command that the server is started with")
    return McpServer(url=url, credentials=(Credential(bearer),) if bearer else ())


def _on_stdio(command: Many, *, secret_env: Many, env: Many, file: Many) -> McpServer | None:
    """What the command line says of it; None where it says nothing."""
    from interlock.declare.mcp_server import McpServer

    if not command:
        return None
    return McpServer(
        command=tuple(command),
        files=tuple(file or ()),
        environment=pairs(env or [], option="--env"),
        secret_environment=pairs(secret_env or [], option="--secret-env"),
    )


def _from(server: McpServer | None, folder: Path) -> McpServer | None:
    """The server with the folder that its command is started in, which is this one, said from another."""
    from dataclasses import replace

    if server is None or not server.command:
        return server
    return replace(server, folder=os.path.relpath(Path.cwd(), folder))


def _known(before: McpSnapshot | None, given: McpServer | None) -> McpServer:
    """The server; a snapshot that is there says what the command line does not. Raises `SpecInvalid`."""
    from interlock.core.errors import SpecInvalid

    server = given or (None if before is None else before.server)
    if server is None:
        raise SpecInvalid("say --url or, behind --, the command that the server is started with")
    return server


def values(given: Iterable[str]) -> dict[str, str]:
    """The values of secrets, by name, from the environment: none stands on a command line. Raises `SpecInvalid`."""
    from interlock.core.errors import SpecInvalid

    found = pairs(given, option="--secret")
    for name, variable in found.items():
        if variable not in os.environ:
            raise SpecInvalid(f"--secret {name}: there is no environment variable {variable}")
    return {name: os.environ[variable] for name, variable in found.items()}


def _egress() -> tuple[str, ...]:
    """What the project allows, where there is one: a snapshot can be written without."""
    from interlock.doors.cli.faults import ProjectMissing
    from interlock.doors.cli.project import read_project

    try:
        return tuple(read_project(line().project).settings.egress_allow)
    except ProjectMissing:
        return ()


def _told(snapshot: McpSnapshot, _: Path | None) -> Told:
    from interlock.importers.mcp import write_mcp_snapshot

    allowed = tuple(key for key, each in snapshot.tools.items() if each.allow)
    count = f"{counted(len(snapshot.tools), 'tool')} on {counted(int(snapshot.source['pages']), 'page')}"
    says = f"{count}, {len(allowed)} of them allowed; {len(snapshot.not_tools)} listed that cannot be tools."
    lost = tuple(f"not tool {visible(key)}: {visible(reason)}" for key, reason in snapshot.not_tools.items())
    return Told(write_mcp_snapshot(snapshot), tuple(snapshot.tools), allowed, (says, *lost), snapshot.not_tools)
