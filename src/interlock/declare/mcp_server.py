"""An MCP server as a host declares it: an address, or a command with the files that it is made of."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import file_digest
from pathlib import Path

from interlock.core.canonical import Json
from interlock.core.errors import SpecInvalid
from interlock.core.http_template import Credential, CredentialPlace
from interlock.core.mcp_call import HttpServer, Server, StdioServer
from interlock.core.program import ProgramFile
from interlock.core.tool import Document
from interlock.declare.http_request import HttpRequest, template_of
from interlock.declare.program import SCRIPTS

INHERITED = ("HOME", "LANG", "PATH")
FILE_BYTES_MAX = 1024 * 1024 * 1024

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_OURS = ("mcp-", "accept", "content-type", "last-event-id")


@dataclass(frozen=True, slots=True)
class McpServer:
    """An MCP server: give its `url` (Streamable HTTP), or the `command` that it is started with and speaks to on stdio.

    Of a `url`: `headers` that are always sent, and `credentials`, a `Credential` (bearer, basic or header) for each
    secret of the host's; they go to the origin of the `url` and to no other.

    Of a `command`: `folder` is where it is started (default: the working directory). The scripts that it names, and
    `files` beside them, are part of the tool by their bytes; where there are none, its executable is. `environment` are
    variables with their values, `secret_environment` variables with the secrets that fill them, `inherit` those that it
    gets of the gate's own; it gets no other.
    """

    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    credentials: tuple[Credential, ...] = ()
    command: tuple[str, ...] = ()
    folder: str = "."
    files: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    secret_environment: Mapping[str, str] = field(default_factory=dict)
    inherit: tuple[str, ...] = INHERITED


@dataclass(frozen=True, slots=True)
class McpListed:
    """A tool as its server lists it: what a person declares from. All of it is the server's word, `hints` too."""

    name: str
    input_schema: Document
    output_schema: Document | None = None
    title: str = ""
    description: str = ""
    hints: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class McpListing:
    """All that a server says of itself and lists, as it came: what a snapshot is taken of.

    `entries` are its tools, any of which may be none. `protocol` is the revision that was agreed on.
    """

    entries: tuple[Json, ...]
    pages: int = 1
    name: str = ""
    title: str = ""
    version: str = ""
    protocol: str = ""
    instructions: str = ""


def server_of(given: McpServer) -> Server:
    """The server as it is called, its files read and digested. Raises `SpecInvalid` naming all that is wrong."""
    if bool(given.url) == bool(given.command):
        raise SpecInvalid("server: give its url, or the command that it is started with, and not both")
    wrong = [*(_on_url(given) if given.url else _on_command(given))]
    if wrong:
        raise SpecInvalid(f"server: {'; '.join(wrong)}")
    if given.url:
        return HttpServer(template_of(HttpRequest("POST", given.url, (), "", given.headers, given.credentials)))
    folder = Path(given.folder).resolve()
    return StdioServer(
        given.command,
        _files(given, folder),
        given.environment,
        given.inherit,
        given.secret_environment,
        str(folder),
    )


def _on_url(given: McpServer) -> Iterator[str]:
    if given.files or given.environment or given.secret_environment:
        yield "files and variables are those of a command"
    if any(each.place in (CredentialPlace.QUERY, CredentialPlace.COOKIE) for each in given.credentials):
        yield "a credential of MCP is bearer, basic, or a header of its own name"
    for name in (*given.headers, *[each.name for each in given.credentials if each.name]):
        if name.lower().startswith(_OURS):
            yield f"the header {name} is the protocol's own"


def _on_command(given: McpServer) -> Iterator[str]:
    if given.headers or given.credentials:
        yield "headers and credentials are those of a url; a command gets secret_environment"
    for text in (*given.command, *given.environment.values()):
        if not text.isprintable() and "\0" in text:
            yield f"{text!r} holds what no system takes"
    for name in (*given.environment, *given.secret_environment, *given.inherit):
        if not _VARIABLE.fullmatch(name):
            yield f"{name!r} is no environment variable"
    for name in sorted({*given.environment} & {*given.secret_environment}):
        yield f"the variable {name} is given a value and a secret"


def _files(given: McpServer, folder: Path) -> tuple[ProgramFile, ...]:
    """The scripts that the command names and the files beside it; where there are none, its executable."""
    named = [each for each in given.command if each.endswith(SCRIPTS) and (folder / each).is_file()]
    own = tuple(dict.fromkeys([*named, *given.files]))
    first = given.command[0]
    found = str(folder / first) if "/" in first and (folder / first).is_file() else shutil.which(first)
    if found is None:
        raise SpecInvalid(f"server: there is no command {given.command[0]!r}")
    return tuple(ProgramFile(each, _digest(folder / each)) for each in own or (found,))


def _digest(path: Path) -> str:
    try:
        seen = path.stat()
        if seen.st_size > FILE_BYTES_MAX:
            raise SpecInvalid(f"server: {path} is larger than {FILE_BYTES_MAX} bytes")
        return _digest_of(path, (seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns))
    except OSError as fault:
        raise SpecInvalid(f"server: {path} cannot be read: {fault.strerror}") from fault


@lru_cache(maxsize=256)
def _digest_of(path: Path, _seen: tuple[int, ...]) -> str:
    """Many tools have one server: its files are read again only where the system says that they have changed."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
