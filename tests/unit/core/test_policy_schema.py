"""The schema that the catalogue implies is one that Cedar takes."""

import cedarpy
import pytest

from interlock.core.canonical import canonical
from interlock.core.effect import Effect
from interlock.core.policy_schema import GROUPS, OpenTypes, action_groups, action_name, cedar_schema
from interlock.core.policy_values import LONG, record
from tests.unit.core.policy_cases import CATALOGUE, PUT, SEARCH


@pytest.mark.requirement("POL-1", "POL-2")
def test_cedar_takes_the_schema_of_a_catalogue() -> None:
    schema = cedar_schema(CATALOGUE, open_types=OpenTypes(record(score=LONG), {"Draft": record(size=LONG)}))
    parsed = cedarpy.Schema.from_json_str(canonical(schema).decode())
    text = """permit (principal is Agent, action == Action::"save_draft", resource is Draft)
              when { resource.size > 1 && resource.id == "a" && context.facts.score > 1 };"""
    assert cedarpy.validate_policies(text, parsed).validation_passed
    assert not cedarpy.validate_policies(text.replace("size", "sizes"), parsed).validation_passed


def test_a_tool_is_in_the_groups_of_its_effect() -> None:
    assert action_groups(SEARCH) == ("read", "any")
    assert action_groups(PUT) == ("idempotent_write", "effect", "any")
    assert {effect.value for effect in Effect} < GROUPS


def test_names_of_actions_never_clash() -> None:
    names = [*GROUPS, *(f"tool:{group}" for group in GROUPS), "tool:tool:read", "search"]
    actions = {action_name(name) for name in names}
    assert len(actions) == len(names)
    assert actions.isdisjoint(GROUPS)
    assert action_name("search") == "search"
