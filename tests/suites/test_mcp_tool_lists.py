"""What servers of others list, and listed before: each tool is imported or left out alone, and all drift is seen."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from interlock.core.compatibility import Direction, Verdict
from interlock.core.drift import Grade
from interlock.core.tool import ToolSpec
from interlock.core.tool_compile import compile_tool
from interlock.declare.mcp_server import McpListing
from interlock.importers.mcp import McpSnapshot, load_mcp, read_mcp_snapshot, take_mcp_snapshot, write_mcp_snapshot
from interlock.importers.mcp_sync import mcp_changes
from interlock.models.dialects import Dialect, declare
from tests.mcp_snapshots import SERVER, allowed
from tests.unit.core.compatibility_cases import INPUT, check_witnesses

pytestmark = pytest.mark.requirement("REG-9")

LEFT_OUT = {"simulate-research-query": "it is only called as a task of the protocol, which is not spoken here"}
RENAMED = {
    "add": "get-sum",
    "annotatedMessage": "get-annotated-message",
    "getResourceLinks": "get-resource-links",
    "getResourceReference": "get-resource-reference",
    "getTinyImage": "get-tiny-image",
    "longRunningOperation": "trigger-long-running-operation",
    "printEnv": "get-env",
    "sampleLLM": "trigger-sampling-request",
    "startElicitation": "trigger-elicitation-request",
    "structuredContent": "get-structured-content",
}


def said(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return found


def taken(file: Path) -> McpSnapshot:
    given = said(file)
    listing = McpListing(
        tuple(given["tools"]),
        name=given["serverInfo"]["name"],
        version=given["serverInfo"]["version"],
        protocol=given["protocolVersion"],
        instructions=given.get("instructions") or "",
    )
    return take_mcp_snapshot(listing, server=SERVER, owner="office")


def files(folder: Path) -> list[Path]:
    return sorted([*folder.glob("*.json"), *folder.glob("older/*.json")])


def test_every_tool_is_imported_or_left_out_alone_with_a_reason(mcp_tool_lists: Path) -> None:
    left: dict[str, str] = {}
    for file in files(mcp_tool_lists):
        snapshot = taken(file)
        names = {each["name"] for each in said(file)["tools"]}
        assert names == snapshot.tools.keys() | snapshot.not_tools.keys()
        left |= snapshot.not_tools
        assert read_mcp_snapshot(write_mcp_snapshot(snapshot).encode()) == snapshot
        loaded = load_mcp(allowed(snapshot))
        assert not loaded.refused
        assert len(loaded.tools) == len(snapshot.tools)
        for each in loaded.tools:
            compile_tool(each.spec())
    assert left == LEFT_OUT


def test_a_list_held_against_itself_is_no_drift(mcp_tool_lists: Path) -> None:
    for file in files(mcp_tool_lists):
        assert not mcp_changes(taken(file), taken(file)).any


@cache
def specs(file: Path) -> tuple[ToolSpec, ...]:
    return tuple(each.spec() for each in load_mcp(allowed(taken(file))).tools)


@pytest.mark.parametrize("dialect", Dialect)
def test_all_tools_of_a_server_fit_into_one_request(mcp_tool_lists: Path, dialect: Dialect) -> None:
    for file in files(mcp_tool_lists):
        tools = specs(file)
        found = declare(
            [(each.name, each.description, each.input_schema.value) for each in tools],  # type: ignore[misc]
            dialect=dialect,
        )
        assert not found.set_aside
        assert len(found.tools) == len(tools)


def pairs(folder: Path) -> Iterator[tuple[str, McpSnapshot, McpSnapshot]]:
    """(server, what it listed in an older version, what it lists today)."""
    for file in sorted(folder.glob("older/*.json")):
        server = file.stem.partition("@")[0]
        yield server, taken(file), taken(folder / f"{server}.json")


def test_every_tool_of_an_older_version_has_a_grade_and_what_breaks_is_shown_by_values(mcp_tool_lists: Path) -> None:
    shown = 0
    for server, before, now in pairs(mcp_tool_lists):
        seen = mcp_changes(before, now)
        assert {key: each.grade for key, each in seen.drifted.items() if each.grade is Grade.GONE}.keys() == {
            key for key in before.tools if key not in now.tools
        }, server
        for key, drifted in seen.drifted.items():
            if key in now.tools:
                assert drifted.findings, (server, key)
                assert drifted.fields, (server, key)
                shown += _witnessed(key, before, now, drifted.findings)
    assert shown >= 20


def _witnessed(key: str, before: McpSnapshot, now: McpSnapshot, findings: Any) -> int:
    """How many values show what breaks; each is judged by both schemas, as they were listed."""
    old, new = (each.tools[key].listed.members for each in (before, now))
    inputs = tuple(each for each in findings if each.part == "input")
    outputs = tuple(each for each in findings if each.part == "output")
    for each in (*inputs, *outputs):
        assert each.verdict is not Verdict.BREAKING or each.witness is not None, each
    count = check_witnesses(inputs, old["inputSchema"], new["inputSchema"], direction=INPUT)
    return count + check_witnesses(
        outputs, old.get("outputSchema", True), new.get("outputSchema", True), direction=Direction.OUTPUT
    )


def test_the_grades_are_those_that_a_reader_of_both_lists_gives(mcp_tool_lists: Path) -> None:
    found = {server: mcp_changes(before, now) for server, before, now in pairs(mcp_tool_lists)}
    assert {each.before: each.now for each in found["everything"].renamed} == RENAMED
    assert not [each for server in found for each in found[server].renamed if server != "everything"]
    assert "ping" not in found["kubernetes"].drifted
    kubernetes = found["kubernetes"].drifted
    assert kubernetes["kubectl_apply"].grade is Grade.TEXT
    assert kubernetes["kubectl_get"].grade is Grade.WIDENED
    assert kubernetes["exec_in_pod"].grade is Grade.NARROWED  # a command was a text or a list, and is a list
    assert found["git"].new == ("git_branch",)


def test_schemas_that_lost_what_they_said_are_seen_to_have(mcp_tool_lists: Path) -> None:
    older, today = taken(mcp_tool_lists / "older" / "filesystem@0.6.2.json"), taken(mcp_tool_lists / "filesystem.json")
    collapsed = {key for key, each in older.tools.items() if "properties" not in each.listed.document.text.decode()}
    assert len(collapsed) == 8
    lost = mcp_changes(today, replace(older, tools={**today.tools, **{key: older.tools[key] for key in collapsed}}))
    assert {key: each.grade for key, each in lost.drifted.items()} == dict.fromkeys(collapsed, Grade.COLLAPSED)


def test_what_an_operator_lets_pass_passes_and_no_other(mcp_tool_lists: Path) -> None:
    before = replace(taken(mcp_tool_lists / "older" / "kubernetes@2.9.6.json"), passes=("text", "widened"))
    seen = mcp_changes(before, taken(mcp_tool_lists / "kubernetes.json"))
    assert [each.key for each in seen.open_drift] == ["exec_in_pod"]
    assert len(seen.drifted) == 13
