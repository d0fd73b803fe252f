"""What follows from a spec is worked out when it is first asked for, and once."""

from dataclasses import replace

import pytest

from interlock.core import catalogue
from interlock.core.catalogue import Tool
from interlock.core.errors import SpecInvalid
from interlock.core.lifecycle import Lifecycle
from interlock.core.tool import Document, spec_digest
from interlock.core.tool_parts import parts_of, without
from tests.unit.core.call_cases import spec


def test_a_tool_is_worked_out_when_it_is_first_asked_for_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(catalogue, "parts_of", lambda each: asked.append(each.name) or parts_of(each))
    tool = Tool(spec(), spec_digest(spec()))
    assert (tool.state, tool.spec.name, asked) == (Lifecycle.AVAILABLE, spec().name, [])
    assert tool.input.is_valid({"draft_id": "d1"}) in (True, False)
    assert (tool.output, tool.notice, tool.evidence) == (tool.output, "", spec().evidence.plain)
    assert asked == [spec().name]
    assert replace(tool, state=Lifecycle.FROZEN).model_schema == tool.model_schema


def test_what_a_tool_does_not_have_is_not_worked_out() -> None:
    with pytest.raises(AttributeError):
        _ = Tool(spec(), "").nothing  # type: ignore[attr-defined]


def test_a_spec_that_describes_no_tool_is_refused_when_it_is_asked_for() -> None:
    tool = Tool(replace(spec(), input_schema=Document.of({"type": "string"})), "")
    for _ in range(2):
        with pytest.raises(SpecInvalid, match="must be an object schema"):
            _ = tool.input


def test_what_is_left_out_of_a_schema_is_neither_there_nor_required() -> None:
    shown = without({"properties": {"a": {}, "b": {}}, "required": ["a", "b"]}, names=frozenset({"a"}))
    assert shown == {"properties": {"b": {}}, "required": ["b"]}
