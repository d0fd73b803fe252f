"""Declares an MCP tool: one tool of a server, under a contract of our own, and what its answers mean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Unpack

from interlock.core.canonical import Json
from interlock.core.errors import SpecInvalid
from interlock.core.labels import Labels, Trust
from interlock.core.mcp_call import KIND, McpCode, McpLookUp, Server, read_end
from interlock.core.spec_check import check_spec
from interlock.core.tool import SHARED, Document, Entrypoint, ErrorContract, ToolSpec
from interlock.declare.contract import check_waits, contract, json_object, one_meaning
from interlock.declare.mcp_options import McpOptions, split
from interlock.declare.mcp_server import McpListed, server_of
from interlock.declare.options import ToolOptions

MESSAGE_BYTES_LIMIT = 64 * 1024 * 1024

_PLAIN = ("error_at", "key_meta", "fence_meta", "start_timeout_ms", "message_bytes_max", "pin")
_META = re.compile(r"([A-Za-z][A-Za-z0-9-]*(\.[A-Za-z][A-Za-z0-9-]*)*/)?[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_THEIRS = ("modelcontextprotocol", "mcp", "traceparent", "tracestate", "baggage", "progressToken")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class McpTool:
    """A declared MCP tool, to be given to a gate."""

    def __init__(self, options: McpOptions) -> None:
        mcp, rest = split(options)
        self.name: str = rest["name"]
        try:
            listed: McpListed | None = mcp.get("listed")
            schema = rest.get("input_schema") or (json_object(_object(listed.input_schema)) if listed else {})
            self._code = _code(mcp, schema=schema, properties=_properties(schema))
            self._spec = _spec(rest, code=self._code, schema=schema, listed=listed)
        except SpecInvalid as fault:
            raise SpecInvalid(f"{self.name}: {fault}") from fault
        check_spec(self.spec())

    @property
    def code(self) -> McpCode:
        """Its server, the server's tool, and what the answers mean."""
        return self._code

    def spec(self, *, tenant: str = SHARED, source: str = KIND) -> ToolSpec:
        """The tool's contract, for one tenant or for all."""
        return ToolSpec(**self._spec, tenant=tenant, source=source)


def mcp_tool(**options: Unpack[McpOptions]) -> McpTool:
    """Declare an MCP tool: `mcp_tool(name="find", server=McpServer(url="https://..."), tool="search", ...)`. Its own:

    - `name`, `description`, `effect`, `server`: must be said, in words of your own. `server` is an `McpServer`.
    - `tool`: what the server calls it, and `input_schema`; or `listed`, one of the `McpListed` that `mcp_listing`
      gives, for both and its output schema. Nothing else of what a server lists is used: its words would be yours.
    - `errors`: what an end means that is no success, as an `ErrorContract`: by `isError` (the tool says that it
      failed), `input_required`, a code of JSON-RPC such as `-32050`, or the text that stands at `error_at`.
      Undeclared, one leaves an effect unknown, but for those of the protocol that come before any tool is asked.
    - `error_at`: the JSON pointer to a code, such as `/code`, in the structured content of a failure.
    - `reconcile`: an `McpLookUp`, the tool of the server that looks up whether a lost effect happened.
    - `key_meta` (`interlock/idempotency-key`), `fence_meta` (`interlock/fence`): members of an effect's `_meta`; ""
      sends none.
    - `start_timeout_ms`: how long a server may take to be there. `message_bytes_max`: the size of one message (4 MiB).
    - `pin`: an `McpPin`, the tool as it was reviewed: where its server lists it otherwise it is not called.

    All others are those of `tool`, but for those of its Python code (`resolve`, `precondition`, `secrets`, ...).
    What comes back is labelled untrusted, and as coming from the server, unless `labels` says otherwise. Raises
    `SpecInvalid`.
    """
    return McpTool(options)


def _code(mcp: Mapping[str, Any], *, schema: Mapping[str, object], properties: set[str]) -> McpCode:
    listed: McpListed | None = mcp.get("listed")
    errors: Mapping[str, ErrorContract] = mcp.get("errors", {})
    code = McpCode(
        server_of(mcp["server"]),
        mcp.get("tool") or (listed.name if listed else ""),
        tuple((read_end(name), contract) for name, contract in errors.items()),
        look_up=_look_up(mcp.get("reconcile"), properties),
        mirrored=tuple(_mirrored(schema)),
        **{name: mcp[name] for name in _PLAIN if name in mcp},
    )
    check_waits(code.start_timeout_ms)
    if not 0 < code.message_bytes_max <= MESSAGE_BYTES_LIMIT:
        raise SpecInvalid(f"message_bytes_max must be 1 to {MESSAGE_BYTES_LIMIT}")
    if code.error_at and not code.error_at.startswith("/"):
        raise SpecInvalid("error_at is a JSON pointer, such as /code")
    _check_meta(code)
    return code


def _check_meta(code: McpCode) -> None:
    """Those of key and fence are the gate's to set, and none of the protocol's."""
    ours = [name for name in (code.key_meta, code.fence_meta) if name]
    wrong = [name for name in ours if not _META.fullmatch(name) or _is_theirs(name)]
    if wrong or len(set(ours)) < len(ours):
        raise SpecInvalid(f"{' and '.join(wrong or ours)} cannot be the members of _meta for the key and the fence")


def _is_theirs(name: str) -> bool:
    prefix, slash, _ = name.rpartition("/")
    parts = prefix.split(".")
    return name in _THEIRS if not slash else any(each in _THEIRS[:2] for each in parts[-2:])


def _look_up(look_up: McpLookUp | None, properties: set[str]) -> McpLookUp | None:
    """A look-up that knows no other arguments than the tool. Raises `SpecInvalid` for what could never be read."""
    if look_up is None:
        return None
    unknown = {*look_up.arguments.values()} - properties - {""}
    if not look_up.tool or unknown:
        raise SpecInvalid(f"reconcile: it names a tool, and no argument {min(unknown, default='')!r}")
    if look_up.found_at and not look_up.found_at.startswith("/"):
        raise SpecInvalid("reconcile: found_at is a JSON pointer, such as /items/0")
    if look_up.absence_proves and not look_up.found_at:
        raise SpecInvalid("reconcile: absence_proves needs found_at, the place where nothing would be")
    for end in look_up.not_happened:
        read_end(end)
    return look_up


def _mirrored(schema: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """The arguments that the upstream wants repeated in a header, with the name that it gives each."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    for name, each in properties.items() if isinstance(properties, Mapping) else ():
        header = each.get("x-mcp-header") if isinstance(each, Mapping) else None
        if header is not None:
            if not isinstance(header, str) or not _TOKEN.fullmatch(header):
                raise SpecInvalid(f"input_schema: the x-mcp-header of {name} is no name of a header")
            yield (*path, str(name)), header
        yield from _mirrored(each, (*path, str(name)))


def _spec(
    options: ToolOptions, *, code: McpCode, schema: Mapping[str, object], listed: McpListed | None
) -> dict[str, Any]:
    """The fields of the `ToolSpec`, without its tenant and source."""
    output = options.get("output_schema", None if listed is None else _object(listed.output_schema))
    labels = Labels(trust=Trust.UNTRUSTED, origins=frozenset({_origin(code.server)}))
    return {
        "labels": labels,
        **contract(options, name=options["name"]),
        "input_schema": Document.of(json_object(schema)),
        "output_schema": None if output is None else Document.of(json_object(output)),
        "parameters": tuple(options.get("parameters", ())),
        "errors": one_meaning(contract for _, contract in code.errors),
        "secrets": code.server.secrets,
        "reconcile": code.look_up is not None,
        "handler": Entrypoint(KIND, code.target, code.fingerprint),
    }


def _origin(server: Server) -> str:
    return "/".join(server.identity.split("/", 3)[:3])


def _object(document: Document | None) -> Any:
    found: Json = None if document is None else document.value
    if document is not None and not isinstance(found, dict):
        raise SpecInvalid("a schema of the server is no object")
    return found


def _properties(schema: Mapping[str, object]) -> set[str]:
    found = schema.get("properties")
    return {str(each) for each in found} if isinstance(found, Mapping) else set()
