"""Which version a name means: the same for somebody while a canary stands, in shares that hold, in a fixed order."""

from dataclasses import replace
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.agents import AgentTools, Canary, Routes, ToolUse, Upgrade
from interlock.core.call import Caller, Origin, Principal
from interlock.core.catalogue import Catalogue, Tool
from interlock.core.lifecycle import Lifecycle
from interlock.core.routing import Chosen, Missing, Why, bucket, choose, explained, is_in_share, located, tools_of
from interlock.core.tool import SHARED, ToolSpec
from interlock.core.tool_compile import compile_tool
from tests.agents import searches

BASE = searches("1")[0].spec()
TEXTS = st.text(max_size=8)


def tool(version: str, *, tenant: str = SHARED, name: str = "search", state: Lifecycle = Lifecycle.AVAILABLE) -> Tool:
    spec: ToolSpec = replace(BASE, version=version, tenant=tenant, name=name)
    return compile_tool(spec, state=state)


def catalogue(*agents: AgentTools, tools: tuple[Tool, ...], default: str = "2") -> Catalogue:
    return Catalogue(
        {(each.spec.tenant, each.spec.name): each for each in tools if each.spec.version == default},
        versions={each.digest: each for each in tools},
        agents={(each.tenant, each.name): Routes.of(each) for each in agents},
        by_version={(each.spec.tenant, each.spec.name, each.spec.version): each for each in tools},
    )


def caller(whom: str = "alice", *, tenant: str = "acme", agent: str = "clerk", pin: str | None = None) -> Caller:
    return Caller(Principal(tenant, whom), origin=Origin(agent=agent), pin=pin)


ONE, TWO, THREE = tool("1"), tool("2"), tool("3")
ALL = (ONE, TWO, THREE)


def clerk(*uses: ToolUse, tenant: str = "acme", others: bool = False) -> AgentTools:
    return AgentTools("clerk", tenant, uses, others)


def meant(found: Catalogue, who: Caller, name: str = "search") -> tuple[str, Why]:
    located_, why, _ = explained(name, who, found)
    assert located(name, who, found) == located_
    return located_.version if isinstance(located_, Missing) else located_.spec.version, why


# --- who has a canary's version ---------------------------------------------------------------------------------------


@given(TEXTS, TEXTS, TEXTS, st.integers(0, 1000), st.integers(0, 1000))
def test_a_larger_share_only_adds_people(salt: str, tenant: str, whom: str, one: int, other: int) -> None:
    who = Principal(tenant, whom)
    small, large = Canary("2", min(one, other), salt=salt), Canary("2", max(one, other), salt=salt)
    assert is_in_share(large, who) or not is_in_share(small, who)
    assert not is_in_share(Canary("2", 0, salt=salt), who)
    assert is_in_share(Canary("2", 1000, salt=salt), who)


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_it_is_decided_for_whom_a_call_is_made_whoever_makes_it(salt: str, tenant: str, whom: str, bot: str) -> None:
    canary = Canary("2", 500, salt=salt)
    person = Principal(tenant, whom or "x")
    assert is_in_share(canary, person) == is_in_share(canary, Principal(tenant, bot, acting_for=whom or "x"))
    assert 0 <= bucket(salt, tenant, whom) < 1000


def test_the_assignment_is_the_same_in_every_process_and_version_of_the_program() -> None:
    assert [bucket("salt", "acme", f"person-{number}") for number in range(6)] == [693, 65, 364, 330, 749, 41]
    assert bucket("other", "acme", "person-0") != bucket("salt", "acme", "person-0")
    assert bucket("salt", "acm", "eperson-0") != bucket("salt", "acme", "person-0")
    assert bucket("s" * 1000, "acme", "\ud800") >= 0


@pytest.mark.requirement("REG-3")
@pytest.mark.parametrize("per_mille", [10, 100, 500, 900])
def test_shares_hold_within_the_bounds_of_chance(per_mille: int) -> None:
    people, share = 10_000, per_mille / 1000
    for salt in ("a", "b", "c"):
        canary = Canary("2", per_mille, salt=salt)
        found = sum(is_in_share(canary, Principal("acme", f"person-{number}")) for number in range(people))
        assert abs(found - people * share) < 4.5 * sqrt(people * share * (1 - share))


def test_two_canaries_do_not_fall_on_the_same_people() -> None:
    people = [Principal("acme", f"person-{number}") for number in range(10_000)]
    one, other = Canary("2", 100, salt="one"), Canary("2", 100, salt="other")
    both = sum(is_in_share(one, each) and is_in_share(other, each) for each in people)
    assert 60 < both < 140


# --- the order --------------------------------------------------------------------------------------------------------


def test_the_tenant_of_a_canary_comes_first_then_its_share_then_the_version_that_is_held() -> None:
    canary = Canary("3", 0, frozenset({"acme"}), "s")
    use = ToolUse("search", "1", canary=canary)
    assert choose(use, Principal("acme", "alice")) == Chosen("3", Why.CANARY_TENANT)
    assert choose(use, Principal("globex", "alice")) == Chosen("1", Why.PINNED)
    everybody = replace(use, canary=replace(canary, per_mille=1000))
    assert choose(everybody, Principal("globex", "alice")) == Chosen("3", Why.CANARY_SHARE)
    assert choose(ToolUse("search", "", Upgrade.AUTOMATIC), Principal("acme", "a")) == Chosen("", Why.AUTOMATIC)


def test_a_name_means_the_default_without_an_agent_that_is_published() -> None:
    found = catalogue(clerk(ToolUse("search", "1")), tools=ALL)
    assert meant(found, caller(agent="")) == ("2", Why.DEFAULT)
    assert meant(found, caller(agent="nobody")) == ("2", Why.DEFAULT)
    assert meant(found, caller(tenant="globex")) == ("2", Why.DEFAULT)
    assert meant(found, caller()) == ("1", Why.PINNED)


def test_a_tenants_own_agent_stands_before_the_shared_one() -> None:
    shared = clerk(ToolUse("search", "3"), tenant=SHARED)
    found = catalogue(shared, clerk(ToolUse("search", "1")), tools=ALL)
    assert meant(found, caller()) == ("1", Why.PINNED)
    assert meant(found, caller(tenant="globex")) == ("3", Why.PINNED)


def test_what_an_agent_does_not_list_it_may_not_use_unless_it_may_use_others() -> None:
    tools = (*ALL, tool("2", name="other"))
    listed = clerk(ToolUse("search", "1"))
    assert meant(catalogue(listed, tools=tools), caller(), "other") == ("", Why.NOT_LISTED)
    assert meant(catalogue(listed, tools=tools), caller(), "nope") == ("", Why.UNKNOWN)
    assert meant(catalogue(replace(listed, others=True), tools=tools), caller(), "other") == ("2", Why.DEFAULT)
    assert meant(catalogue(clerk(), tools=tools), caller()) == ("", Why.NOT_LISTED)


@pytest.mark.requirement("REG-3")
def test_a_pinned_version_that_is_missing_is_never_another_one() -> None:
    found = catalogue(clerk(ToolUse("search", "9", canary=Canary("8", 0, frozenset({"globex"})))), tools=ALL)
    assert meant(found, caller()) == ("9", Why.MISSING)
    shared = replace(found, agents={(SHARED, "clerk"): found.agents["acme", "clerk"]})
    assert meant(shared, caller(tenant="globex")) == ("8", Why.MISSING)
    missing = located("search", caller(), found)
    assert isinstance(missing, Missing)
    assert missing.tool is TWO


def test_another_tenants_version_is_nobodys() -> None:
    theirs = tool("7", tenant="globex")
    found = catalogue(clerk(ToolUse("search", "7")), tools=(*ALL, theirs))
    assert meant(found, caller()) == ("7", Why.MISSING)
    assert meant(found, caller(pin=theirs.digest)) == ("", Why.UNKNOWN)


def test_a_run_keeps_its_version_while_its_agent_may_use_the_tool_at_all() -> None:
    found = catalogue(clerk(ToolUse("search", "1")), tools=ALL)
    assert meant(found, caller(pin=THREE.digest)) == ("3", Why.BOUND)
    assert meant(catalogue(clerk(), tools=ALL), caller(pin=THREE.digest)) == ("", Why.NOT_LISTED)
    assert meant(catalogue(tools=ALL), caller(pin=THREE.digest)) == ("3", Why.BOUND)
    assert meant(found, caller(pin="0" * 64)) == ("", Why.UNKNOWN)


# --- what is offered --------------------------------------------------------------------------------------------------


def test_an_agent_is_offered_what_its_names_mean_ordered_by_name() -> None:
    tools = (*ALL, tool("2", name="a"), tool("2", name="z"))
    listed = clerk(ToolUse("search", "1"), ToolUse("a", "9"), ToolUse("gone", "1"))
    named = [(each.spec.name, each.spec.version) for each in tools_of(caller(), catalogue(listed, tools=tools))]
    assert named == [("search", "1")]
    open_ = replace(listed, others=True)
    named = [(each.spec.name, each.spec.version) for each in tools_of(caller(), catalogue(open_, tools=tools))]
    assert named == [("search", "1"), ("z", "2")]
    assert [each.spec.name for each in tools_of(caller(agent=""), catalogue(tools=tools))] == ["a", "search", "z"]


@given(
    st.lists(st.sampled_from(["", "1", "2", "9"]), min_size=1, max_size=3),
    st.booleans(),
    st.integers(0, 1000),
    TEXTS,
    st.sampled_from(["acme", "globex"]),
)
def test_every_call_ends_in_a_version_or_a_reason_and_only_listed_versions_are_used(
    versions: list[str], others: bool, per_mille: int, whom: str, tenant: str
) -> None:
    names = ["search", "other", "more"]
    tools = (*ALL, *(tool(each, name="other") for each in ("1", "2")))
    uses = [
        ToolUse(name, version, Upgrade.HELD if version else Upgrade.AUTOMATIC, Canary("1", per_mille, salt="s"))
        for name, version in zip(names, versions, strict=False)
    ]
    found = catalogue(clerk(*uses, others=others), tools=tools)
    for name in (*names, "unknown"):
        result, why, routes = explained(name, caller(whom or "x", tenant=tenant), found)
        if isinstance(result, Missing):
            assert why in (Why.NOT_LISTED, Why.MISSING, Why.UNKNOWN)
            continue
        use = None if routes is None else routes.uses.get(name)
        assert result.spec.name == name
        allowed = {"2"} if use is None else {use.version or "2", "1" if per_mille else use.version or "2"}
        assert result.spec.version in allowed
