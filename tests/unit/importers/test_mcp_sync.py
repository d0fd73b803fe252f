"""What a server lists now is held against what was reviewed, and no edit of what is read goes unseen."""

import copy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.drift import Grade
from interlock.importers.mcp_snapshot import read_mcp_snapshot, write_mcp_snapshot
from interlock.importers.mcp_sync import mcp_changes
from tests.mcp_snapshots import allowed, entry, of_schema, taken

pytestmark = pytest.mark.requirement("REG-9")

FULL = {
    **of_schema(to={"type": "string", "description": "Whom.", "maxLength": 9}, n={"enum": [1, 2]}),
    "title": "Send",
    "outputSchema": {"type": "object", "properties": {"id": {"type": "integer"}}},
    "annotations": {"readOnlyHint": False, "title": "S"},
    "execution": {"taskSupport": "optional"},
}


def test_what_is_the_same_is_nothing_to_review_however_it_is_ordered() -> None:
    turned = {name: FULL[name] for name in reversed(FULL)}
    seen = mcp_changes(taken(FULL, entry("b")), taken(entry("b"), {**turned, "_meta": {"x": 1}}))
    assert not seen.any
    assert not seen.drifted


def test_each_tool_has_its_grade_and_the_others_have_none() -> None:
    before = allowed(taken(entry("same"), entry("words"), entry("gone"), entry("broken"), 7))
    now = taken(
        entry("same"), entry("words", title="T"), entry("broken", inputSchema={"$ref": "file:///x"}), entry("x")
    )
    seen = mcp_changes(before, now)
    assert {key: each.grade for key, each in seen.drifted.items()} == {
        "words": Grade.TEXT,
        "gone": Grade.GONE,
        "broken": Grade.GONE,
    }
    assert (seen.new, [(each.before, each.now) for each in seen.renamed]) == (("x",), [("gone", "x")])
    assert [*seen.not_tools] == ["entry 4", "broken"]
    assert [(each.before, each.now) for each in seen.drifted["words"].fields] == [("", "T")]
    assert seen.any


def test_a_grade_that_passes_is_nothing_to_review() -> None:
    before, now = taken(entry("a"), entry("b")), taken(entry("a", title="T"), entry("b"))
    assert mcp_changes(before, now).any
    seen = mcp_changes(replace(before, passes=("text",)), now)
    assert (seen.any, seen.open_drift) == (False, ())
    assert seen.drifted["a"].does_pass
    assert mcp_changes(replace(before, passes=("text",)), taken(entry("a"))).any


def test_who_it_is_and_what_it_wants_to_be_told_is_compared() -> None:
    before = replace(taken(entry(), instructions="A"), made_of={"serve.py": "1"})
    now = replace(taken(entry(), instructions="B", version="2", name="other"), made_of={"serve.py": "2"})
    assert [each.name for each in mcp_changes(before, now).server] == [
        "name",
        "version",
        "file serve.py",
        "instructions",
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
SCHEMAS = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        "properties": st.dictionaries(
            st.text(max_size=4), st.sampled_from([{}, {"type": "string"}]) | JSON, max_size=3
        ),
        "description": st.text(max_size=6),
        "additionalProperties": st.booleans(),
    },
)
ENTRIES = st.fixed_dictionaries(
    {"name": st.text(max_size=4) | JSON, "inputSchema": SCHEMAS | JSON},
    optional={
        "title": st.text(max_size=4) | JSON,
        "description": st.text(max_size=12) | JSON,
        "outputSchema": SCHEMAS | JSON,
        "annotations": st.dictionaries(st.sampled_from(["readOnlyHint", "x"]), JSON, max_size=2) | JSON,
        "execution": JSON,
        "_meta": JSON,
    },
)


@given(st.lists(ENTRIES | JSON, max_size=5))
def test_whatever_is_listed_is_as_it_was_reviewed_while_it_is_listed_so(entries: list[Any]) -> None:
    reviewed = read_mcp_snapshot(write_mcp_snapshot(allowed(taken(*entries))).encode())
    seen = mcp_changes(reviewed, taken(*copy.deepcopy(entries)))
    assert not seen.any
    assert not seen.drifted


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [each for key, inner in items for each in places(inner, (*path, key))]


PLACES = [each for each in places(FULL) if each[0] != "name"]


@given(st.sampled_from(PLACES), st.sampled_from(["drop", "change", "hide"]))
def test_any_edit_of_one_field_is_drift_of_some_grade(path: tuple[Any, ...], how: str) -> None:
    edited = copy.deepcopy(FULL)
    holder: Any = edited
    for key in path[:-1]:
        holder = holder[key]
    was = holder[path[-1]]
    if how == "drop":
        del holder[path[-1]]
    elif how == "hide" and isinstance(was, str):
        holder[path[-1]] = f"{was}\u200b"
    else:
        holder[path[-1]] = not was if isinstance(was, bool) else was + 1 if isinstance(was, int) else {"x": "y"}
    seen = mcp_changes(taken(FULL), taken(edited))
    assert seen.any
    assert seen.drifted["send"].grade > Grade.SAME
    assert seen.open_drift
