"""`interlock import mcp`: asks an MCP server what it lists, and writes or compares the snapshot that is reviewed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interlock.doors.cli.answer import PROBLEM, Answer
from interlock.doors.cli.faults import problem
from interlock.doors.cli.imports import Check, Output, Owner, app, pairs, put, reviewed
from interlock.doors.cli.imports_mcp_shown import document_of, lines_of
from interlock.doors.cli.shown import counted, visible
from interlock.doors.cli.verb import line, verb

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from interlock.core.canonical import Json
    from interlock.declare.mcp_server import McpServer
    from interlock.importers.mcp import McpSnapshot
    from interlock.importers.mcp_sync import McpChanges

__all__ = ["app", "taken", "values"]

ASKING_S = 90.0
"""How long a server may take: a command such as npx fetches first what it runs."""

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
    accept: Annotated[
        Many, typer.Option("--accept", metavar="TOOL", help="Leave this one open, though it has changed.")
    ] = None,
) -> Answer:
    """Write a snapshot of a server, which allows nothing by itself; or say what has changed since one."""
    from interlock.core.errors import SpecInvalid
    from interlock.importers.mcp import mcp_renewed, read_mcp_snapshot
    from interlock.importers.mcp_sync import mcp_changes

    at = _folder(check or output)
    try:
        before = reviewed(read_mcp_snapshot, output=output, check=check)
        on_stdio = None if url else _on_stdio(command, secret_env=secret_env, env=env, file=file)
        given = _over_http(url, bearer=bearer, command=command) if url else on_stdio
        server, owner = _known(before, _from(given, at), owner=owner)
        prefix = prefix or ("" if before is None else before.prefix)
        fresh = await taken(server, at, owner=owner, prefix=prefix, secrets=values(secret or []))
        if before is None:
            return _written(fresh, output)
        seen = mcp_changes(before, fresh)
        if check is not None:
            return _compared(seen)
        return _written(mcp_renewed(fresh, before, accept=accept or ()), output, seen=seen)
    except SpecInvalid as fault:
        return problem("IMPORT_INVALID", str(fault), next_step="`interlock import mcp --help` shows what it takes.")


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
    listing = await mcp_server_listing(here, secrets=secrets, egress_allow=_egress(), timeout_s=ASKING_S)
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


def _known(before: McpSnapshot | None, given: McpServer | None, *, owner: str) -> tuple[McpServer, str]:
    """Server and owner; a snapshot that is there says what the command line does not."""
    from interlock.core.errors import SpecInvalid

    server = given or (None if before is None else before.server)
    if server is None:
        raise SpecInvalid("say --url or, behind --, the command that the server is started with")
    owner = owner or ("" if before is None else before.owner)
    if not owner.strip():
        raise SpecInvalid("say who answers for these tools: --owner NAME")
    return server, owner


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
        return read_project(line().project).egress_allow
    except ProjectMissing:
        return ()


def _written(snapshot: McpSnapshot, output: Path | None, *, seen: McpChanges | None = None) -> Answer:
    from interlock.importers.mcp import write_mcp_snapshot

    allowed = sum(each.allow for each in snapshot.tools.values())
    count = f"{counted(len(snapshot.tools), 'tool')} on {counted(int(snapshot.source['pages']), 'page')}"
    lines = [f"{count}, {allowed} of them allowed; {len(snapshot.not_tools)} listed that cannot be tools."]
    lines += [f"not tool {visible(key)}: {visible(reason)}" for key, reason in snapshot.not_tools.items()]
    lines += [] if seen is None else lines_of(seen)
    text = write_mcp_snapshot(snapshot)
    if output is None:
        return Answer({}, "\n".join(lines), file=text.encode())
    put(output, text)
    lines.append(f"Next: review {visible(str(output))} and set allow: true on what may be a tool.")
    document: dict[str, Json] = {
        "snapshot": str(output),
        "tools": [*snapshot.tools],
        "allowed": [key for key, each in snapshot.tools.items() if each.allow],
        "not_tools": {**snapshot.not_tools},
        **({} if seen is None else {"changes": document_of(seen)}),
    }
    return Answer(document, "\n".join(lines))


def _compared(seen: McpChanges) -> Answer:
    document: dict[str, Json] = {"changes": document_of(seen)}
    if not seen.any:
        passed = [*lines_of(seen), "Every tool is what was reviewed, or its drift passes."]
        return Answer(document, "\n".join(passed))
    step = "Next: `interlock import mcp -o SNAPSHOT --accept TOOL` renews the snapshot; then review it."
    return Answer(document, "\n".join([*lines_of(seen), step]), PROBLEM)
