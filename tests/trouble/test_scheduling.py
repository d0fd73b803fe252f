"""Calls proposed together that lost each other's work."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from interlock.core.batch import member, places
from interlock.core.tool import Document, ResourceRule
from tests.unit.core.call_cases import operation, tool

TroubleCase = Callable[[str], Mapping[str, Any]]
FILE = Document.of({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]})


@pytest.mark.trouble
@pytest.mark.requirement("EXEC-4")
@pytest.mark.parametrize("declared", [ResourceRule("File", "path"), None])
def test_two_edits_of_one_file_in_one_turn_run_one_after_the_other(
    trouble_case: TroubleCase, declared: ResourceRule | None
) -> None:
    """SCD-03: both edits read, both wrote, one was lost; the paths were spelled differently."""
    edit = tool("edit", input_schema=FILE, resource=declared)
    calls = trouble_case("SCD-03")["input"]["parallel"]
    found = places([member(operation(call["args"], of=edit)) for call in calls])
    assert [set(each.after) for each in found] == [set(), {0}]


@pytest.mark.trouble
@pytest.mark.requirement("EXEC-4")
def test_a_failed_sibling_is_waited_for_but_not_needed(trouble_case: TroubleCase) -> None:
    """SCD-01: one call raised, and what its siblings had done was thrown away."""
    names = [call["tool"].split()[0] for call in trouble_case("SCD-01")["input"]["parallel"]]
    effects = [member(operation({"path": name}, of=tool(name, input_schema=FILE, resource=None))) for name in names]
    found = places(effects)
    assert [set(each.after) for each in found] == [set(), {0}, {0, 1}]
    assert all(not each.needs for each in found)
