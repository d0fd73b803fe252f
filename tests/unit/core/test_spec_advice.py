"""What is allowed but unwise is advised against, by a rule with a name."""

from dataclasses import replace
from typing import Any

import pytest

from interlock.core.effect import Effect
from interlock.core.spec_advice import advice
from interlock.core.tool import Document, Parameter, ParameterSource
from tests.unit.core.test_spec_check import SPEC


@pytest.mark.requirement("TOOL-5")
@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"name": "run"}, "generic-name"),
        ({"name": "do_action"}, "generic-name"),
        ({"name": "execute.query"}, "generic-name"),
        ({"description": "Saves it."}, "vague-description"),
        ({"description": "Saves. " * 200}, "overlong-description"),
        ({"owner": ""}, "no-owner"),
        ({"reconcile": False}, "no-reconcile"),
        ({"effect": Effect.DESTRUCTIVE}, "no-approval-floor"),
    ],
)
def test_unwise_words_and_gaps_are_named(change: dict[str, Any], rule: str) -> None:
    assert [each.rule for each in advice(replace(SPEC, **change))] == [rule]


def test_a_short_description_in_a_script_without_spaces_is_not_vague() -> None:
    assert advice(replace(SPEC, description="保存报告的草稿到指定编号")) == ()


@pytest.mark.requirement("TOOL-5")
@pytest.mark.parametrize(
    ("schema", "places"),
    [
        ({"type": "string"}, ["p"]),
        ({"type": "string", "maxLength": 5}, []),
        ({"type": "string", "enum": ["a"]}, []),
        ({"type": "integer", "maximum": 5}, ["p"]),
        ({"type": "integer", "minimum": 0, "exclusiveMaximum": 5}, []),
        ({"type": ["number", "null"]}, ["p"]),
        ({"type": "boolean"}, []),
        ({"type": "array", "items": {"type": "string"}}, ["p", "p[]"]),
        ({"type": "array", "maxItems": 3, "items": {"type": "string", "maxLength": 1}}, []),
        ({"type": "object", "properties": {"a": {"type": "string"}}}, ["p.a"]),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, ["p"]),
    ],
)
def test_writes_without_bounds_are_named_down_to_their_members(schema: dict[str, Any], places: list[str]) -> None:
    whole: dict[str, Any] = {"type": "object", "properties": {"p": {"description": "It.", **schema}}}
    spec = replace(SPEC, input_schema=Document.of(whole), parameters=())
    assert [each.message.split(" of a write")[0] for each in advice(spec)] == places
    assert advice(replace(spec, effect=Effect.READ, reconcile=False)) == ()


def test_parameters_need_a_description_unless_no_model_sees_them() -> None:
    whole: dict[str, Any] = {"type": "object", "properties": {"p": {"type": "boolean"}}}
    spec = replace(SPEC, input_schema=Document.of(whole), parameters=())
    assert [each.rule for each in advice(spec)] == ["undescribed-parameter"]
    injected = Parameter("p", source=ParameterSource.CONTEXT, inject="task")
    assert advice(replace(spec, parameters=(injected,))) == ()
