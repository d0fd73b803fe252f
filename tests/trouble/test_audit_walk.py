"""Audit logs with holes, and logs that nobody had ever verified, replayed against a whole gate."""

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from interlock import Limit, ScopeKind, ToolCall, Unit, tool
from interlock.core.audit_log import Verified
from tests.gates import ALICE, AnyTool, Shelf, code, opened, records, search
from tests.unit.doors.cli.conftest import Cli, cli, project

TroubleCase = Callable[[str], Mapping[str, Any]]
FIELDS = frozenset("principal kind door tool call_id arguments status".split())
TOOLS = '''
from interlock import ToolFault, tool

@tool(effect="read")
async def fetch(path: str) -> str:
    """Read a file."""
    if path == "rejected":
        raise ToolFault("upstream", "rejected")
    return path
'''
POLICY = """permit (principal, action, resource);
forbid (principal, action == Action::"fetch", resource) when { context.args.path like "secrets/*" };
"""
ENDS = {
    "deny": ("fetch", '{"path": "secrets/key.pem"}', "PERMISSION_DENIED"),
    "invalid args": ("fetch", '{"path": 1}', "TOOL_ARGUMENT_INVALID"),
    "unknown tool": ("fecth", "{}", "TOOL_NOT_FOUND"),
    "rejected upstream": ("fetch", '{"path": "rejected"}', "TOOL_EXCEPTION"),
    "budget": ("fetch", '{"path": "a"}', "BUDGET_EXHAUSTED"),
}

__all__ = ["cli", "project"]


def fetching() -> AnyTool:
    @tool(effect="read", name="fetch")
    async def fetch(path: str) -> str:
        """Read a file."""
        if path == "rejected":
            raise ConnectionRefusedError
        return path

    return fetch


@pytest.mark.trouble
@pytest.mark.requirement("AUD-1")
async def test_the_library_leaves_the_same_record_for_every_outcome(trouble_case: TroubleCase, gate_path: str) -> None:
    """AUD-01: denied calls left no row, since auditing sat behind the execution."""
    outcomes = trouble_case("AUD-01")["input"]["outcomes"]
    limit = Limit(ScopeKind.RUN, Unit.CALLS, len(outcomes) - 1)
    async with opened(gate_path, [fetching()], POLICY, limits=[limit]) as gate:
        for outcome in sorted(outcomes, key=lambda each: each == "budget"):
            name, arguments, ends = ENDS[outcome]
            assert code(await gate.call(ToolCall(outcome, name, arguments), principal=ALICE, run="r")) == ends
            (record,) = await records(gate, call=outcome)
            assert (record["code"], record.keys() >= FIELDS) == (ends, True)


@pytest.mark.trouble
@pytest.mark.requirement("AUD-1")
@pytest.mark.parametrize("outcome", ["deny", "invalid args", "unknown tool", "rejected upstream"])
def test_the_command_line_leaves_the_same_record(
    outcome: str, trouble_case: TroubleCase, project: Path, cli: Cli
) -> None:
    """AUD-01: one door had an audit, another had none."""
    assert "CLI" in trouble_case("AUD-01")["input"]["entrypoints"]
    (project / "tools.py").write_text(TOOLS)
    for policy in (project / "policies").glob("*.cedar"):
        policy.write_text(POLICY)
    name, arguments, ends = ENDS[outcome]
    ran = cli("call", name, arguments, "--json")
    assert ran.code != 0, ran
    found = cli("audit", "query", "--json")
    assert "records" in found.out, (ran, found)
    rows = [each for each in json.loads(found.out)["records"] if each["kind"] in ("call.refused", "call.settled")]
    record = rows[-1].get("record", rows[-1])
    assert (record["code"], record["door"]) == (ends, "cli")
    assert record.keys() >= FIELDS


@pytest.mark.trouble
@pytest.mark.requirement("AUD-2")
async def test_a_log_under_load_of_many_writers_proves_itself(trouble_case: TroubleCase, tmp_path: Path) -> None:
    """AUD-03: two writers read the same tail and forked the chain."""
    case = trouble_case("AUD-03")["input"]
    path, shelf = str(tmp_path / "gate.db"), Shelf()

    async def write(gate: Any, writer: int) -> None:
        for event in range(case["events_each"] // 10):
            assert code(await gate.call(search(f"{writer} {event}"), principal=ALICE)) == "ok"

    async with opened(path, shelf.tools) as one, opened(path, shelf.tools, None) as two:
        await asyncio.gather(*[write((one, two)[writer % 2], writer) for writer in range(case["writers"])])
        proved = await one.audit.verify()
        assert isinstance(proved, Verified), proved
        assert len(proved.heads) == 2
        assert len(await records(two, "call.settled")) == case["writers"] * (case["events_each"] // 10)
