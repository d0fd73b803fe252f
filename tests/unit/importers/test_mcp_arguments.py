"""What a person hides, fixes or narrows holds, whatever the server's schema says beside it."""

from dataclasses import replace
from typing import Any

import pytest

from interlock.core.schema import compile_schema
from interlock.importers.mcp import load_mcp
from tests.mcp_snapshots import allowed, entry, taken, tool

pytestmark = pytest.mark.requirement("REG-9")

COUNT: Any = {"type": "integer"}
DRAFTS = ("draft-04", "draft-06", "draft-07")


def listed(schema: Any) -> Any:
    return entry(inputSchema={"type": "object", **schema})


def of_draft(draft: str, **count: Any) -> Any:
    """An argument that is a reference, in an older draft, which ignores what stands beside one."""
    return listed({
        "$schema": f"http://json-schema.org/{draft}/schema#",
        "properties": {"count": count or {"$ref": "#/definitions/count"}},
        "definitions": {"count": COUNT},
    })  # fmt: skip


def accepts(given: Any, arguments: Any, **decided: Any) -> bool:
    schema: Any = tool(given, **decided).spec().input_schema.value
    compiled = compile_schema(schema)
    return compiled.is_valid(compiled.with_defaults(arguments))


def refusals(given: Any, **decided: Any) -> list[str]:
    """Why it is no tool; the one beside it is."""
    snapshot = allowed(taken(given, entry("other")))
    send = replace(snapshot.tools["send"], **decided)
    found = load_mcp(replace(snapshot, tools={**snapshot.tools, "send": send}))
    assert [each.spec().name for each in found.tools] == ["other"]
    return [each.reason for each in found.refused]


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("count", [{}, COUNT], ids=["reference", "plain"])
def test_what_is_fixed_is_fixed_in_older_drafts_too(draft: str, count: Any) -> None:
    given = of_draft(draft, **count)
    assert accepts(given, {}, fix={"count": 3})
    assert accepts(given, {"count": 3}, fix={"count": 3})
    assert not accepts(given, {"count": 99}, fix={"count": 3})


@pytest.mark.parametrize("draft", DRAFTS)
def test_what_is_narrowed_is_narrowed_beside_a_reference_too(draft: str) -> None:
    given = of_draft(draft)
    assert accepts(given, {"count": 5}, narrow={"count": {"maximum": 5}})
    assert not accepts(given, {"count": 6}, narrow={"count": {"maximum": 5}})
    assert not accepts(given, {"count": "5"}, narrow={"count": {"maximum": 5}})


def test_a_word_that_the_servers_draft_does_not_read_narrows_nothing_and_is_refused() -> None:
    (why,) = refusals(of_draft("draft-04"), narrow={"count": {"anyOf": [{"const": 3}]}})
    assert why == "narrow: const is no word of the draft that the server's schema is written in"
    assert not accepts(of_draft("draft-06"), {"count": 4}, narrow={"count": {"anyOf": [{"const": 3}]}})


@pytest.mark.parametrize(
    "decided", [{"hide": ("count",)}, {"fix": {"count": 3}}, {"narrow": {"count": {"maximum": 5}}}]
)
def test_beside_a_reference_at_the_root_an_older_draft_reads_no_decision(decided: Any) -> None:
    root = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$ref": "#/definitions/all",
        "definitions": {"all": {}},
    }
    (why,) = refusals(listed({**root, "properties": {"count": COUNT}, "additionalProperties": False}), **decided)
    assert "its draft ignores what stands beside one" in why


def test_a_hidden_argument_that_a_pattern_lets_through_is_not_hidden() -> None:
    closed = {"properties": {"count": COUNT}, "additionalProperties": False}
    (why,) = refusals(listed({**closed, "patternProperties": {"^co": {}}}), hide=("count",))
    assert why.startswith("hide: count could be sent all the same")
    assert not accepts(listed({**closed, "patternProperties": {"^x-": {}}}), {"count": 1}, hide=("count",))


def test_decisions_that_contradict_each_other_are_refused_and_harm_no_other_tool() -> None:
    given = listed({"properties": {"count": COUNT, "to": {"type": "string"}}})
    (why,) = refusals(given, hide=("count",), fix={"count": 3})
    assert why == "hide: count is fixed as well; a fixed one is sent, a hidden one is not"
    assert not accepts(given, {"count": 1}, hide=("count", "count"))
