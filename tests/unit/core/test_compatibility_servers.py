"""What real servers changed from one version to the next is judged, each breaking change with a value that shows it."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from interlock.core.compatibility import Comparison, Direction, Verdict, compare
from interlock.core.compatibility_parameters import shown_schema
from interlock.core.drift import Grade, drift
from interlock.core.effect import Effect
from interlock.core.tool import Document, ToolSpec
from tests.unit.core.compatibility_cases import INPUT, check_witnesses, spec

pytestmark = pytest.mark.requirement("REG-5")

SUITES = Path(os.environ.get("INTERLOCK_SUITES") or Path(__file__).resolve().parents[4] / "shared")
LISTS = SUITES / "mcp-tool-lists"


def test_each_tool_of_two_versions_of_a_server_is_judged() -> None:
    judged = [(server, old, new, compare(old, new)) for server, old, new in pairs()]
    told = summary([each for *_, each in judged])
    assert len(judged) >= 50, told
    shown = sum(witnessed(old, new, found) for _, old, new, found in judged)
    assert shown >= 20, told
    verdicts = {(server, old.name): found for server, old, _, found in judged}
    assert verdicts["git", "git_commit"].verdict is Verdict.COMPATIBLE, told
    assert verdicts["git", "git_add"].verdict is Verdict.BREAKING, told
    command = next(each for each in verdicts["kubernetes", "exec_in_pod"].findings if each.path == "/command")
    assert (command.kind, command.verdict) == ("type-changed", Verdict.BREAKING), told


def test_nothing_that_is_uncertain_is_a_suspicion_without_a_value() -> None:
    unshown = [
        f"{server} {old.name} {each.path} {each.kind}"
        for server, old, new in pairs()
        for each in compare(old, new).findings
        if each.part in ("input", "output") and each.verdict is Verdict.UNCERTAIN and each.witness is None
    ]
    assert unshown == []


def test_the_drift_of_each_tool_has_a_grade() -> None:
    grades = {(server, old.name): drift(old, new).grade for server, old, new in pairs()}
    assert grades["kubernetes", "ping"] is Grade.SAME
    assert grades["git", "git_commit"] is Grade.TEXT
    assert grades["kubernetes", "kubectl_get"] is Grade.WIDENED
    assert grades["kubernetes", "kubectl_generic"] is Grade.WIDENED
    assert grades["git", "git_add"] is Grade.NARROWED
    assert grades["git", "git_status"] is Grade.WEAKENED  # it says now that it only reads


def witnessed(old: ToolSpec, new: ToolSpec, found: Comparison) -> int:
    inputs = tuple(each for each in found.findings if each.part == "input")
    outputs = tuple(each for each in found.findings if each.part == "output")
    before, after = (each.output_schema.value if each.output_schema else True for each in (old, new))
    return check_witnesses(inputs, shown_schema(old), shown_schema(new), direction=INPUT) + check_witnesses(
        outputs, before, after, direction=Direction.OUTPUT
    )


def summary(found: list[Comparison]) -> str:
    lines = []
    for each in found:
        said = ", ".join(f"{it.part}{it.path} {it.kind}" for it in each.findings if it.verdict is each.verdict)
        lines.append(f"{each.name:28} {each.verdict.value:10} {said[:160]}")
    return "\n".join(lines)


def pairs() -> Iterator[tuple[str, ToolSpec, ToolSpec]]:
    """(server, the tool in the older version, the same today) of every tool that is in both."""
    if not (LISTS / "older").is_dir():
        pytest.skip(f"INTERLOCK_SUITES names no folder with mcp-tool-lists ({SUITES}).")
    for file in sorted((LISTS / "older").glob("*.json")):
        server = file.stem.partition("@")[0]
        older, today = listed(file), listed(LISTS / f"{server}.json")
        for name in sorted(older.keys() & today.keys()):
            yield server, made(older[name], "older"), made(today[name], "today")


def listed(file: Path) -> Mapping[str, Any]:
    return {each["name"]: each for each in json.loads(file.read_text("utf-8"))["tools"]}


def made(listing: Mapping[str, Any], version: str) -> ToolSpec:
    output = listing.get("outputSchema")
    is_read = listing.get("annotations", {}).get("readOnlyHint")
    return spec(
        schema=listing["inputSchema"],
        name=listing["name"],
        description=listing.get("description", ""),
        version=version,
        output_schema=None if output is None else Document.of(output),
        effect=Effect.READ if is_read else Effect.DESTRUCTIVE,
    )
