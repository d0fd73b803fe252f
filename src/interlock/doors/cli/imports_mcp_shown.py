"""What has changed between a snapshot of an MCP server and its list of now, for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock.core.spec_changes import difference
from interlock.doors.cli.imports_flow import Seen
from interlock.doors.cli.shown import visible

if TYPE_CHECKING:
    from interlock.core.canonical import Json
    from interlock.importers.mcp import McpSnapshot
    from interlock.importers.mcp_sync import McpChanges, McpDrifted


def lines_of(seen: McpChanges) -> list[str]:
    """All that is not as it was reviewed, for people: nothing that nobody sees is left out or hidden."""
    lines = [f"server   {visible(each.name)}: {difference(each.before, each.now)}" for each in seen.server]
    for each in seen.drifted.values():
        lines += _drift_lines(each)
    renamed = {each.now: each for each in seen.renamed}
    for key in seen.new:
        was = f" (likely {visible(renamed[key].before)}, renamed)" if key in renamed else ""
        lines.append(f"new      {visible(key)}{was}")
    for key, fields in seen.not_tools.items():
        lines += [f"not tool {visible(key)}: {difference(each.before, each.now)}" for each in fields]
    return lines


def _drift_lines(drifted: McpDrifted) -> list[str]:
    passed = ", passes" if drifted.does_pass else ""
    lines = [f"{drifted.grade.name.lower():8} {visible(drifted.key)}{passed}"]
    lines += [f"    {visible(each.name)}: {difference(each.before, each.now)}" for each in drifted.fields]
    return lines + [
        f"    {visible(each.part)}{visible(each.path)}: {visible(each.reason)}" for each in drifted.findings
    ]


def seen_in(before: McpSnapshot, now: McpSnapshot) -> Seen:
    """What has changed of a server."""
    from interlock.importers.mcp_sync import mcp_changes

    return seen_of(mcp_changes(before, now))


def seen_of(seen: McpChanges) -> Seen:
    """The same in the form that all sources have. A tool that is gone has no fields of now."""
    from interlock.core.drift import Grade

    gone = tuple(key for key, each in seen.drifted.items() if each.grade is Grade.GONE)
    return Seen(
        seen.any,
        tuple(lines_of(seen)),
        about=seen.server,
        new=seen.new,
        gone=gone,
        changed={key: each.fields for key, each in seen.drifted.items() if key not in gone},
        not_tools=seen.not_tools,
        more={
            "drifted": [_drift_document(each) for each in seen.drifted.values()],
            "renamed": [{"before": each.before, "now": each.now, "likeness": each.likeness} for each in seen.renamed],
        },
    )


def _drift_document(drifted: McpDrifted) -> dict[str, Json]:
    return {
        "tool": drifted.key,
        "name": drifted.name,
        "grade": drifted.grade.name.lower(),
        "allowed": drifted.allowed,
        "passes": drifted.does_pass,
        "fields": [{"field": each.name, "before": each.before, "now": each.now} for each in drifted.fields],
        "findings": [
            {"part": each.part, "path": each.path, "kind": each.kind, "reason": each.reason}
            for each in drifted.findings
        ],
    }
