"""Which policies are in a tool's slice."""

import pytest

from interlock.core.effect import Effect
from interlock.core.policy import PolicySource
from interlock.core.policy_compile import compile_source
from interlock.core.policy_index import Index
from interlock.core.policy_rules import Rules
from interlock.core.policy_values import BOOLEAN, LONG, STRING, record
from interlock.core.tool import SHARED, ResourceRule
from tests.unit.core.policy_cases import CATALOGUE, DROP, PUT, SAVE, SEARCH, tool

TEXT = """
@id("all") permit (principal, action, resource);
@id("any") permit (principal, action in Action::"any", resource);
@id("reads") permit (principal, action in Action::"read", resource);
@id("effects") permit (principal, action in Action::"effect", resource);
@id("search") permit (principal, action == Action::"search", resource);
@id("several") permit (principal, action in [Action::"search", Action::"put_draft"], resource);
@id("drafts") permit (principal, action, resource is Draft);
@id("draft") permit (principal, action, resource == Draft::"r1");
"""


def rules(text: str) -> Rules:
    return Rules(compile_source(PolicySource("main", text)), resolved=Index(CATALOGUE).resolved(SHARED))


@pytest.mark.requirement("POL-4")
def test_a_slice_holds_the_policies_whose_scope_can_match_and_no_others() -> None:
    found = {
        spec.name: {policy.id[5:] for policy in rules(TEXT).matching(spec).policies}
        for spec in (SEARCH, PUT, SAVE, DROP)
    }
    assert found == {
        "search": {"all", "any", "reads", "search", "several"},
        "put_draft": {"all", "any", "effects", "several"},
        "save_draft": {"all", "any", "effects", "drafts", "draft"},
        "drop_drafts": {"all", "any", "effects"},
    }


def test_the_digest_of_a_slice_does_not_depend_on_other_tools_policies() -> None:
    more = TEXT + '@id("other") forbid (principal, action == Action::"drop_drafts", resource);'
    assert rules(more).matching(SEARCH) == rules(TEXT).matching(SEARCH)
    assert rules(more).matching(DROP) != rules(TEXT).matching(DROP)


def test_the_use_of_facts_and_attributes_gives_their_types() -> None:
    text = """
    forbid (principal, action, resource is Draft) when { resource.owner == principal.id && resource.pages > 3 };
    forbid (principal, action, resource) when { context.facts.frozen };
    """
    found = rules(text).open_types
    assert found.facts == record(frozen=BOOLEAN)
    assert dict(found.attributes) == {"Draft": record(owner=STRING, pages=LONG)}


def test_the_first_use_gives_the_type() -> None:
    first = "forbid (principal, action, resource) when { context.facts.x == 1 };"
    second = 'forbid (principal, action, resource) when { context.facts.x == "a" };'
    assert rules(first + second).open_types.facts == record(x=LONG)
    assert rules(second + first).open_types.facts == record(x=STRING)


def test_a_resource_without_a_resolver_has_no_attributes() -> None:
    plain = tool("edit", effect=Effect.WRITE, resource=ResourceRule("Page", "query"))
    text = "permit (principal, action, resource is Page) when { resource.owner == principal.id };"
    found = Rules(
        compile_source(PolicySource("main", text)), resolved=Index([*CATALOGUE, plain]).resolved(SHARED)
    ).open_types
    assert "Page" not in found.attributes
