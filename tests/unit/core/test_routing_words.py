"""People are told which version a name means to somebody, and everything that bears on it."""

from dataclasses import replace

import pytest

from interlock.core.agents import Canary, Earlier, ShadowRule, ToolUse, Upgrade
from interlock.core.catalogue import Catalogue
from interlock.core.lifecycle import Lifecycle
from interlock.core.policy import PolicySet, PolicySource
from interlock.core.refusals import Code
from interlock.core.routing import Why
from interlock.core.routing_words import Explained, explain
from interlock.core.view import View
from tests.gates import ALL as PERMIT
from tests.unit.core.test_routing import ALL, caller, catalogue, clerk, tool


def told(found: Catalogue, name: str = "search", *, policy: str = PERMIT, agent: str = "clerk") -> Explained:
    view = View(found, PolicySet([PolicySource("p", policy)], found.specs), 0, "")
    return explain(name, caller(agent=agent), view)


def test_a_version_is_told_with_the_reason_and_what_else_stands_beside_it() -> None:
    use = ToolUse(
        "search", "1", canary=Canary("3", 100, frozenset({"b", "a"}), "s"), shadow=ShadowRule("3"),
        earlier=Earlier("3", Upgrade.HELD, 0),
    )  # fmt: skip
    found = told(catalogue(clerk(use), tools=ALL))
    assert (found.version, found.why, found.code) == ("1", Why.PINNED, None)
    assert found.says == (
        "the agent is held at this version",
        "the default is 2, and the agent is held",
        "a canary gives 3 to 100 of 1000, and the tenants a, b",
        "3 is tried in its shadow",
        "one act goes back to 3, while its window lasts",
    )


@pytest.mark.parametrize(
    ("use", "says"),
    [
        (ToolUse("search", "", Upgrade.AUTOMATIC), "the agent follows the default version"),
        (ToolUse("search", "1", Upgrade.EVALUATED), "the default is 2, and waits for an evaluation that has passed"),
        (ToolUse("search", "1", canary=Canary("3", 1000, salt="s")), "this principal is in the share of its canary"),
        (ToolUse("search", "1", canary=Canary("3", 0, frozenset({"acme"}))), "its canary names this tenant"),
    ],
)
def test_each_way_to_a_version_is_told_in_words(use: ToolUse, says: str) -> None:
    assert says in told(catalogue(clerk(use), tools=ALL)).says


def test_each_way_to_none_is_told_with_the_code_of_the_refusal() -> None:
    missing = told(catalogue(clerk(ToolUse("search", "9")), tools=ALL))
    assert (missing.version, missing.why, missing.code) == ("9", Why.MISSING, Code.TOOL_UNAVAILABLE)
    unlisted = told(catalogue(clerk(), tools=ALL))
    assert (unlisted.version, unlisted.code) == ("", Code.TOOL_NOT_ALLOWED)
    assert told(catalogue(clerk(), tools=ALL), "nope").code is Code.TOOL_NOT_FOUND
    frozen = told(catalogue(clerk(ToolUse("search", "4")), tools=(*ALL, tool("4", state=Lifecycle.FROZEN))))
    assert (frozen.version, frozen.code) == ("4", Code.TOOL_FROZEN)
    assert "it is frozen and takes no calls, whoever is held at it" in frozen.says


def test_policy_rules_over_what_an_agent_lists() -> None:
    found = told(catalogue(clerk(ToolUse("search", "1")), tools=ALL), policy="forbid (principal, action, resource);")
    assert (found.version, found.code) == ("1", Code.TOOL_NOT_FOUND)
    assert "policy never lets this principal call it: to them there is none" in found.says


def test_without_a_published_agent_the_default_is_told() -> None:
    unknown = told(catalogue(clerk(), tools=ALL), agent="nobody")
    assert unknown.says[1] == "no agent nobody is published: it has the default version of every tool"
    assert told(catalogue(tools=ALL), agent="").says == ("it is the default version",)
    rest = told(catalogue(replace(clerk(), others=True), tools=ALL))
    assert rest.says == ("it is the default version", "tools that the agent does not list are had by default")
