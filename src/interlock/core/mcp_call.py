"""The declared call of an MCP tool: which server, which of its tools, and what its answers mean.

Who the server is belongs to the tool: the origin and path of one that is reached over HTTP, the command of one that is
started here with the digests of the files that it is made of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from interlock.core.canonical import canonical, sha256_hex
from interlock.core.errors import SpecInvalid
from interlock.core.frozen import frozen
from interlock.core.http_template import Credential, Template
from interlock.core.program import ProgramFile
from interlock.core.tool import Document, ErrorContract, fields_to_json, spec_to_json

KIND = "mcp"
MESSAGE_BYTES_MAX = 4 * 1024 * 1024
"""The size of one message of a server, unless the tool says another."""

IS_ERROR = "isError"
INPUT_REQUIRED = "input_required"
"""Ends that a contract may give a meaning, beside the codes of JSON-RPC and what stands at `error_at`."""


@frozen
class HttpServer:
    """A server that is reached by Streamable HTTP, at the place of this template."""

    endpoint: Template

    @property
    def identity(self) -> str:
        """Its address, for people."""
        return f"{self.endpoint.origin}{self.endpoint.path}"

    @property
    def secrets(self) -> tuple[str, ...]:
        """The names of the host's secrets that it is sent."""
        return tuple(dict.fromkeys(name for each in self.endpoint.credentials for name in each.secrets))

    @property
    def credentials(self) -> tuple[Credential, ...]:
        """Those that it is sent."""
        return self.endpoint.credentials


@frozen
class StdioServer:
    """A server that is started here, with this command and no other, in `folder`.

    `files` are those of its command with the digests of their bytes: one that was changed is not started.
    `inherited` are the only variables of the gate's own environment that it gets.
    """

    command: tuple[str, ...]
    files: tuple[ProgramFile, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    inherited: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    folder: str = "/"

    @property
    def identity(self) -> str:
        """A place in the form of an address: a command has no origin but what it is made of."""
        mark = sha256_hex(canonical(spec_to_json((self.command, self.files))))[:16]
        return f"stdio://{mark}/{self.command[0].rpartition('/')[2]}"

    @property
    def secrets(self) -> tuple[str, ...]:
        """The names of the host's secrets that fill its `variables`."""
        return tuple(dict.fromkeys(self.variables.values()))


Server = HttpServer | StdioServer


@frozen
class McpLookUp:
    """Another tool of the server, which looks a lost operation up: a result says that it happened.

    `arguments` maps its arguments to arguments of the tool; "" is the operation's key. `not_happened` are the ends that
    prove that nothing happened: `isError`, codes of JSON-RPC, what stands at the tool's `error_at`. A search finds
    nothing and ends well: `found_at` is the JSON pointer, into what it says, at which it says what it found. Nothing
    there proves nothing, unless `absence_proves` that it did not happen.
    """

    tool: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    not_happened: tuple[str, ...] = ()
    found_at: str = ""
    absence_proves: bool = False


@frozen
class McpPin:
    """A tool as its server listed it when it was reviewed, and the grades of drift that pass without another review.

    `look_up` is the tool that looks up what became of a lost call of this one, as it was listed.
    """

    listed: Document
    passes: tuple[str, ...] = ()
    look_up: Document | None = None

    @property
    def digest(self) -> str:
        """SHA-256 (hex) over what was reviewed."""
        return sha256_hex(self.listed.text if self.look_up is None else self.listed.text + self.look_up.text)


@frozen
class McpCode:
    """What runs one MCP tool. `errors` say what each end means that is no success.

    `mirrored` are the arguments that a header repeats, by their paths, as the upstream's schema asks for it.
    An empty `key_meta` or `fence_meta` is not sent. `pin`: it is called only while its server lists it so.
    """

    server: Server
    tool: str
    errors: tuple[tuple[str, ErrorContract], ...] = ()
    error_at: str = ""
    look_up: McpLookUp | None = None
    mirrored: tuple[tuple[tuple[str, ...], str], ...] = ()
    key_meta: str = "interlock/idempotency-key"
    fence_meta: str = "interlock/fence"
    start_timeout_ms: int = 30_000
    message_bytes_max: int = MESSAGE_BYTES_MAX
    pin: McpPin | None = None

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) over all of it, but for where a command's folder lies, and what drift of it may pass."""
        server = replace(self.server, folder="/") if isinstance(self.server, StdioServer) else self.server
        names = [name for name in self.__dataclass_fields__ if name != "pin"]
        found = fields_to_json(replace(self, server=server), names=names)
        if self.pin is not None:
            found["pin"] = self.pin.digest
        return sha256_hex(canonical(found))

    @property
    def target(self) -> str:
        """Kind, server and tool, for people."""
        return f"CALL {self.server.identity} {self.tool}"

    def error(self, name: str) -> ErrorContract | None:
        """What the contract says of an end."""
        return next((contract for each, contract in self.errors if each == name), None)


def read_end(name: str) -> str:
    """An end that a contract may name. Raises `SpecInvalid` for what no server could answer."""
    if not name or len(name) > 256 or name != name.strip():
        raise SpecInvalid(
            f"errors: {name!r} is no end of a call: isError, input_required, a code, or what is at error_at"
        )
    return name
