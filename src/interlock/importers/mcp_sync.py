"""What a server lists now, held against the snapshot that was reviewed: who it is, and each tool with its grade."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from interlock.core.compatibility import Finding
from interlock.core.drift import Grade
from interlock.core.mcp_drift import drifted, passes
from interlock.core.mcp_listed import Listed, Unlisted
from interlock.importers.mcp_renames import Renamed, renames
from interlock.importers.mcp_snapshot import McpSnapshot
from interlock.importers.mcp_tools import shown_of
from interlock.importers.openapi_changes import Field, fields


@dataclass(frozen=True, slots=True)
class McpDrifted:
    """One tool that is not as it was reviewed. `does_pass`: its grade is one that the operator lets pass.

    `allowed` says whether calls to it were open. `fields` show what changed, with what nobody sees spelled out.
    """

    key: str
    name: str
    grade: Grade
    allowed: bool
    does_pass: bool
    findings: tuple[Finding, ...] = ()
    fields: tuple[Field, ...] = ()


@dataclass(frozen=True, slots=True)
class McpChanges:
    """All that is not as it was reviewed. `server` is who it is, by its own word or by its files."""

    server: tuple[Field, ...] = ()
    drifted: Mapping[str, McpDrifted] = field(default_factory=dict)
    new: tuple[str, ...] = ()
    renamed: tuple[Renamed, ...] = ()
    not_tools: Mapping[str, tuple[Field, ...]] = field(default_factory=dict)

    @property
    def any(self) -> bool:
        """Whether there is anything to review."""
        return bool(self.server or self.new or self.not_tools or self.open_drift)

    @property
    def open_drift(self) -> tuple[McpDrifted, ...]:
        """The tools whose drift does not pass by itself: calls to them are refused until a person has looked."""
        return tuple(each for each in self.drifted.values() if not each.does_pass)


def mcp_changes(before: McpSnapshot, now: McpSnapshot) -> McpChanges:
    """What is to be reviewed before the snapshot is renewed."""
    found = {key: _drifted(key, before, now) for key in before.tools}
    gone = {key: each.listed for key, each in before.tools.items() if _today(key, now) is None}
    new = {key: each.listed for key, each in now.tools.items() if key not in before.tools}
    listed = [*dict.fromkeys([*before.not_tools, *now.not_tools])]
    return McpChanges(
        _server(before, now),
        {key: each for key, each in found.items() if each.grade is not Grade.SAME},
        tuple(new),
        renames(gone, new),
        {
            key: (Field("reason", before.not_tools.get(key, ""), now.not_tools.get(key, "")),)
            for key in listed
            if before.not_tools.get(key) != now.not_tools.get(key)
        },
    )


def _drifted(key: str, before: McpSnapshot, now: McpSnapshot) -> McpDrifted:
    decision, today = before.tools[key], _today(key, now)
    found = drifted(decision.listed, today)
    shown = shown_of(today) if isinstance(today, Listed) else {}
    return McpDrifted(
        key,
        decision.name,
        found.grade,
        decision.allow,
        passes(found, before.passes),
        found.findings,
        fields(shown_of(decision.listed), shown) if found.grade is not Grade.SAME else (),
    )


def _today(key: str, now: McpSnapshot) -> Listed | Unlisted | None:
    if key in now.tools:
        return now.tools[key].listed
    return Unlisted(key, now.not_tools[key]) if key in now.not_tools else None


def _server(before: McpSnapshot, now: McpSnapshot) -> tuple[Field, ...]:
    """Who it is. What it wants models to be told is shown as well: nobody is told it before a person allows it."""
    was, is_now = ({name: text for name, text in each.source.items() if name != "pages"} for each in (before, now))
    was |= {f"file {path}": digest for path, digest in before.made_of.items()}
    is_now |= {f"file {path}": digest for path, digest in now.made_of.items()}
    found = fields(was, is_now)
    if before.instructions.digest == now.instructions.digest:
        return found
    return (*found, Field("instructions", before.instructions.text, now.instructions.text))
