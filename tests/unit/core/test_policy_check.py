"""Checks of single policies against what they reach; whole sets are in test_policy.py."""

import pytest

from interlock.core.effect import Effect
from interlock.core.errors import PolicyInvalid
from interlock.core.policy import PolicySource
from interlock.core.policy_check import Reach, check, warnings_of
from interlock.core.policy_compile import Policy, compile_source
from interlock.core.policy_index import Index
from interlock.core.policy_rules import open_types
from interlock.core.tool import SHARED, ResourceRule, ToolSpec
from tests.unit.core.policy_cases import CATALOGUE, SEARCH, tool


def compiled(text: str, *specs: ToolSpec) -> tuple[Policy, Reach]:
    [policy] = compile_source(PolicySource("main", text))
    index = Index(specs or CATALOGUE)
    return policy, Reach(index, open_types=open_types([policy], resolved=index.resolved(SHARED)))


@pytest.mark.requirement("POL-1")
def test_a_has_test_on_an_attribute_that_no_resolver_gives_is_refused() -> None:
    """Such a forbid would never hold."""
    plain = tool("edit", effect=Effect.WRITE, resource=ResourceRule("Page", "query"))
    text = "forbid (principal, action, resource is Page) when { resource has owner && resource.owner == principal.id };"
    policy, reach = compiled(text, plain)
    with pytest.raises(PolicyInvalid, match="no attribute of an unresolved resource 'owner'"):
        check(policy, reach=reach, facts=frozenset())


def test_a_policy_reaches_tools_by_name_by_group_and_by_resource() -> None:
    def reached(scope: str) -> set[str]:
        policy, reach = compiled(f"permit (principal, {scope});")
        return {spec.name for spec in reach.tools(policy)}

    assert reached("action, resource") == {spec.name for spec in CATALOGUE}
    assert reached('action in Action::"read", resource') == {"search"}
    assert reached('action in [Action::"search", Action::"write"], resource') == {"search", "save_draft", "send_mail"}
    assert reached("action, resource is Draft") == {"save_draft"}
    assert reached('action == Action::"nothing", resource') == set()


def test_an_action_that_a_condition_names_may_be_one_that_the_scope_does_not_reach() -> None:
    policy, reach = compiled(
        'permit (principal, action in Action::"read", resource) when { action != Action::"put_draft" };'
    )
    check(policy, reach=reach, facts=frozenset())


@pytest.mark.requirement("POL-1")
def test_a_policy_is_checked_against_one_more_version_alone() -> None:
    policy, reach = compiled(
        'permit (principal, action == Action::"search", resource) when { context.args has query };'
    )
    check(policy, reach=reach, facts=frozenset(), only=SEARCH)
    odd = tool(input_schema=tool().input_schema.of({"type": "object"}))
    with pytest.raises(PolicyInvalid, match="no argument 'query'"):
        check(policy, reach=reach, facts=frozenset(), only=odd)


def test_a_permit_by_pattern_on_an_argument_is_worth_a_warning_and_a_forbid_is_not() -> None:
    pattern = '(principal, action == Action::"search", resource) unless { context.args.page.note like "a*" };'
    permit, reach = compiled(f"permit {pattern}")
    assert len(list(warnings_of(permit, reach=reach))) == 1
    forbid, reach = compiled(f"forbid {pattern}")
    assert list(warnings_of(forbid, reach=reach)) == []
