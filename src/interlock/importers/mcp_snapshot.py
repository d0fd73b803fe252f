"""A snapshot of an MCP server: who it is, all that it listed, and what a person allows of that; a file to commit."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from interlock.core.canonical import Json, sha256_hex
from interlock.core.errors import SpecInvalid
from interlock.core.mcp_call import Server, StdioServer
from interlock.core.mcp_drift import PASSABLE
from interlock.core.text import visible
from interlock.core.tool import spec_to_json
from interlock.core.tool_compile import compile_tool
from interlock.declare.mcp_server import McpListing, McpServer, server_of
from interlock.declare.typed_values import check_keys, instance
from interlock.importers.mcp_decisions import McpDecision, Surroundings, decided, read_decision
from interlock.importers.mcp_names import own_names
from interlock.importers.mcp_schema import bounded
from interlock.importers.mcp_tools import McpRead, read_entries
from interlock.importers.snapshots import (
    Form,
    names_apart,
    next_version,
    read_fields,
    refuse_same_names,
    written_options,
)
from interlock.importers.yaml_text import write_yaml

INSTRUCTIONS_MAX = 8_192
_SHOWN_MAX = 500
_HEAD = """\
# A reviewed import of an MCP server, written by `interlock import mcp` and kept by people: set `allow: true` on what
# may be a tool, and say what it may do. What the server listed of a tool is pinned by its digest: where it lists it
# otherwise later on, calls to it are refused until this file is renewed and reviewed. `read` is for people.
"""
_FORM = Form(
    format="mcp-1",
    of="an MCP server",
    fields={
        "server": dict[str, Any],
        "source": dict[str, str],
        "made_of": dict[str, str],
        "owner": str,
        "prefix": str,
        "passes": tuple[str, ...],
        "instructions": dict[str, Any],
        "tools": dict[str, Any],
        "not_tools": dict[str, str],
    },
    needed=("server", "owner", "tools", "made_of"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instructions:
    """What a server wants models to be told. No model is, unless a person allows it."""

    allow: bool = False
    digest: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpSnapshot:
    """A server as it was reviewed. `source` says what it called itself and which revision it spoke.

    `made_of` are the digests of the files that a command is made of; `prefix` begins the names of new tools; `passes`
    are the grades of drift that pass without a review, `not_tools` entries that make no tool, and why.
    """

    server: McpServer
    owner: str
    source: Mapping[str, str] = field(default_factory=dict)
    made_of: Mapping[str, str] = field(default_factory=dict)
    prefix: str = ""
    passes: tuple[str, ...] = ()
    instructions: Instructions = Instructions()
    tools: Mapping[str, McpDecision] = field(default_factory=dict)
    not_tools: Mapping[str, str] = field(default_factory=dict)


def take_mcp_snapshot(listing: McpListing, *, server: McpServer, owner: str, prefix: str = "") -> McpSnapshot:
    """A snapshot that allows nothing yet; `prefix` begins the names of its tools. Raises `SpecInvalid`."""
    known = server_of(server)
    reading = read_entries(listing.entries)
    names = own_names(reading.tools, prefix=prefix)
    around = Surroundings(server=server, owner=owner)
    tools: dict[str, McpDecision] = {}
    unmade = dict(reading.unmade)
    for key, read in reading.tools.items():
        fresh = McpDecision(name=names[key], digest=read.listed.digest, read=read.shown, listed=read.listed)
        reason = _cannot(read, fresh, around)
        if reason:
            unmade[key] = reason
        else:
            tools[key] = fresh
    return McpSnapshot(
        server=server,
        owner=owner,
        prefix=prefix,
        source=_source(listing, known),
        made_of=made_of(known),
        instructions=_instructions(listing.instructions),
        tools=tools,
        not_tools={key[:_SHOWN_MAX]: reason[:_SHOWN_MAX] for key, reason in unmade.items()},
    )


def mcp_renewed(fresh: McpSnapshot, before: McpSnapshot, *, accept: Iterable[str] = ()) -> McpSnapshot:
    """The fresh snapshot with what was decided before. What has changed is closed again, unless it is accepted: all of
    it where the server is another, by its address or command or by a file that it is made of.

    Raises `SpecInvalid` where what is accepted is no tool of the server.
    """
    accepted = frozenset(accept)
    check_keys(dict.fromkeys(accepted), fresh.tools, path="--accept")
    known = before.tools if _is_same(fresh, before) else _closed(before.tools, but=accepted)
    kept = {key: _kept(each, known.get(key), accept=key in accepted) for key, each in fresh.tools.items()}
    for key, name in names_apart(kept, before=before.tools).items():
        kept[key] = replace(kept[key], name=name)
    said = before.instructions
    same = said.digest == fresh.instructions.digest and _is_same(fresh, before)
    instructions = replace(fresh.instructions, allow=said.allow and same)
    return replace(fresh, tools=kept, passes=before.passes, instructions=instructions)


def _is_same(fresh: McpSnapshot, before: McpSnapshot) -> bool:
    return fresh.made_of == before.made_of and fresh.source.get("identity") == before.source.get("identity")


def _closed(tools: Mapping[str, McpDecision], *, but: Container[str]) -> dict[str, McpDecision]:
    return {key: replace(each, allow=each.allow and key in but) for key, each in tools.items()}


def made_of(server: Server) -> Mapping[str, str]:
    """The files of a command with their digests; nothing for one that is reached over HTTP."""
    return {each.place: each.sha256 for each in server.files} if isinstance(server, StdioServer) else {}


def read_mcp_snapshot(data: bytes) -> McpSnapshot:
    """The snapshot that a file holds. Raises `SpecInvalid` with the place."""
    found = read_fields(data, _FORM)
    found["server"] = instance(found["server"], McpServer, path="server")
    found["instructions"] = instance(found.get("instructions", {}), Instructions, path="instructions")
    found["tools"] = {key: read_decision(key, each, path=f"tools[{key}]") for key, each in found["tools"].items()}
    snapshot = McpSnapshot(**found)
    _check(snapshot)
    return snapshot


def write_mcp_snapshot(snapshot: McpSnapshot) -> str:
    """The file: YAML for people."""
    document: dict[str, Json] = {
        "snapshot": _FORM.format,
        "source": dict[str, Json](snapshot.source),
        "server": _written_server(snapshot.server),
        "made_of": dict[str, Json](snapshot.made_of),
        "owner": snapshot.owner,
        **({"prefix": snapshot.prefix} if snapshot.prefix else {}),
        "passes": [*snapshot.passes],
        "instructions": spec_to_json(snapshot.instructions),
        "tools": {key: _written(each) for key, each in snapshot.tools.items()},
        "not_tools": dict[str, Json](snapshot.not_tools),
    }
    return write_yaml(_HEAD, document)


def _check(snapshot: McpSnapshot) -> None:
    refuse_same_names(snapshot.tools.values(), what="tools")
    known = [each.name.lower() for each in PASSABLE]
    for grade in snapshot.passes:
        if grade not in known:
            raise SpecInvalid(f"passes: {grade!r} is none of {', '.join(known)}")


def _source(listing: McpListing, server: Server) -> dict[str, str]:
    said = {"name": listing.name, "title": listing.title, "version": listing.version, "protocol": listing.protocol}
    shown = {name: visible(text)[:_SHOWN_MAX] for name, text in said.items()}
    return {"identity": server.identity, **shown, "pages": str(listing.pages)}


def _instructions(text: str) -> Instructions:
    if not text:
        return Instructions()
    digest = sha256_hex(text.encode("utf-8", "surrogatepass"))
    return Instructions(digest=digest, text=bounded(text, INSTRUCTIONS_MAX))


def _cannot(read: McpRead, decision: McpDecision, around: Surroundings) -> str:
    """Why a tool cannot be declared at all; empty where it can."""
    try:
        compile_tool(decided(read, decision, around).spec())
    except SpecInvalid as fault:
        return visible(str(fault))
    return ""


def _kept(fresh: McpDecision, before: McpDecision | None, *, accept: bool) -> McpDecision:
    if before is None:
        return fresh
    if before.digest == fresh.digest:
        return replace(before, read=fresh.read)
    return replace(
        before,
        allow=before.allow and accept,
        version=next_version(before.version),
        digest=fresh.digest,
        read=fresh.read,
        listed=fresh.listed,
    )


def _written_server(server: McpServer) -> Json:
    """What is declared of it, what is not said by default left out."""
    plain = McpServer()
    said = {each.name: getattr(server, each.name) for each in fields(McpServer)}
    return {name: spec_to_json(each) for name, each in said.items() if each != getattr(plain, name)}


def _written(decision: McpDecision) -> Json:
    said: dict[str, Json] = {
        "hide": [*decision.hide],
        "fix": dict(decision.fix),
        "narrow": {name: dict(each) for name, each in decision.narrow.items()},
    }
    return {
        "allow": decision.allow,
        "name": decision.name,
        "effect": decision.effect.value,
        "external": decision.external,
        **({"version": decision.version} if decision.version != "1" else {}),
        **{name: each for name, each in said.items() if each},
        **written_options(decision.options),
        "digest": decision.digest,
        "read": dict[str, Json](decision.read),
        # All of it is ASCII: nothing is hidden in what is compared.
        "listed": json.dumps(decision.listed.members, indent=1, ensure_ascii=True) + "\n",
    }
