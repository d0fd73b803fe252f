"""What a person decided about one tool of an MCP server, and the tool that comes of it.

Hints are the server's and verdicts the person's: what a tool does is what stands in the decision, which says the worst
that is usual (a write that leaves the organisation) until somebody says less.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from interlock.core.canonical import Json
from interlock.core.effect import Effect
from interlock.core.errors import SpecInvalid
from interlock.core.mcp_call import McpLookUp, McpPin
from interlock.core.mcp_listed import Listed, Unlisted, read_listed
from interlock.core.schema import compile_schema
from interlock.core.tool import Document, OutputCheck
from interlock.declare.mcp import McpTool, mcp_tool
from interlock.declare.mcp_options import MCP_HINTS, McpOptions
from interlock.declare.mcp_server import McpServer
from interlock.declare.options import SharedOptions
from interlock.importers.mcp_arguments import limited
from interlock.importers.mcp_tools import McpRead
from interlock.importers.openapi_names import refuse_own
from interlock.importers.openapi_text import read_document
from interlock.importers.snapshots import read_said

_OWN: Mapping[str, Any] = {
    "allow": bool,
    "name": str,
    "effect": Effect,
    "external": bool,
    "version": str,
    "hide": tuple[str, ...],
    "fix": dict[str, Any],
    "narrow": dict[str, dict[str, Any]],
    "digest": str,
    "read": dict[str, str],
    "listed": str,
}
_NEEDED = ("name", "effect", "external", "digest", "listed")
_THEIRS = frozenset("server tool listed input_schema output_schema pin".split())
_OPTIONS = ({*SharedOptions.__annotations__, *MCP_HINTS, "parameters"} - _THEIRS) - _OWN.keys()
"""Options of `mcp_tool` that a person may say in a snapshot: all but what the server lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpDecision:
    """One tool in a snapshot. `listed` is what the server listed when it was decided, and `read` that for people.

    `hide` names arguments that are never sent, `fix` gives those that always have one value, `narrow` adds a JSON
    Schema to others. `options` are any others of `mcp_tool`. `digest` is that of `listed`.
    """

    allow: bool = False
    name: str
    effect: Effect = Effect.WRITE
    external: bool = True
    version: str = "1"
    hide: tuple[str, ...] = ()
    fix: Mapping[str, Json] = field(default_factory=dict)
    narrow: Mapping[str, dict[str, Json]] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    digest: str
    read: Mapping[str, str] = field(default_factory=dict)
    listed: Listed


def read_decision(key: str, given: object, *, path: str) -> McpDecision:
    """A decision as a snapshot says it. Raises `SpecInvalid` naming what it does not know, or what was edited."""
    own, options = read_said(given, own=_OWN, options=_OPTIONS, needed=_NEEDED, path=path)
    listed = _listed(own.pop("listed"), path=path)
    if listed.name != key or listed.digest != own["digest"]:
        raise SpecInvalid(f"{path}: what is listed is not what its digest was made of; renew the snapshot")
    return McpDecision(**own, options=options, listed=listed)


def _listed(text: str, *, path: str) -> Listed:
    try:
        found = read_listed(read_document(text.encode()))
    except SpecInvalid as fault:
        raise SpecInvalid(f"{path}.listed: {fault}") from fault
    if isinstance(found, Unlisted):
        raise SpecInvalid(f"{path}.listed: {found.reason}")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What all tools of a snapshot have in common. `others` are all that was listed, by name."""

    server: McpServer
    owner: str
    passes: tuple[str, ...] = ()
    others: Mapping[str, Listed] = field(default_factory=dict)


def decided(read: McpRead, decision: McpDecision, around: Surroundings) -> McpTool:
    """The tool that a person allowed. Raises `SpecInvalid` where the decision does not fit what was listed."""
    refuse_own(decision.name)
    said: dict[str, Any] = {
        "description": read.description,
        "title": read.title,
        "owner": around.owner,
        "output_schema": read.output_schema,
        "output_check": OutputCheck.WARN,
        **decision.options,
        "name": decision.name,
        "effect": decision.effect,
        "external": decision.external,
        "version": decision.version,
        "server": around.server,
        "tool": read.listed.name,
        "input_schema": limited(read.input_schema, hide=decision.hide, fix=decision.fix, narrow=decision.narrow),
        "pin": McpPin(read.listed.document, around.passes, _look_up(decision, around)),
    }
    options: McpOptions = said  # type: ignore[assignment]
    tool = mcp_tool(**options)
    compile_schema(said["input_schema"])
    return tool


def _look_up(decision: McpDecision, around: Surroundings) -> Document | None:
    """The tool that looks up what became of a lost call, as it was listed: its word is believed."""
    said = decision.options.get("reconcile")
    name = said.tool if isinstance(said, McpLookUp) else said.get("tool") if isinstance(said, Mapping) else None
    if name is None:
        return None
    if name not in around.others:
        raise SpecInvalid(f"reconcile: the server lists no tool {name!r}")
    return around.others[name].document
