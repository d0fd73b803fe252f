"""An agent is written down and read back as it was, and what cannot be meant is refused with what to do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.agents import (
    AgentTools,
    Canary,
    Earlier,
    Routes,
    ShadowRule,
    ToolUse,
    Upgrade,
    agent_from_bytes,
    agent_to_bytes,
    refuse_invalid,
)
from interlock.core.errors import AgentInvalid

VERSIONS = st.sampled_from(["1", "2", "3.1"])
CANARIES = st.builds(
    Canary, VERSIONS, st.integers(0, 1000), st.frozensets(st.sampled_from(["a", "b"])), st.text("0123456789abcdef")
)
USES = st.builds(
    ToolUse,
    st.sampled_from(["search", "save", "read_log"]),
    VERSIONS,
    st.sampled_from([Upgrade.HELD, Upgrade.EVALUATED]),
    st.none() | CANARIES,
    st.none() | st.builds(ShadowRule, VERSIONS, st.booleans()),
    st.none() | st.builds(Earlier, VERSIONS, st.sampled_from(Upgrade), st.integers(0, 2**53)),
)
AGENTS = st.builds(
    AgentTools,
    st.text(min_size=1, max_size=5),
    st.sampled_from(["acme", "*"]),
    st.lists(USES, unique_by=lambda use: use.tool, max_size=3).map(tuple),
    st.booleans(),
    st.text(max_size=3),
    revision=st.integers(1, 9),
)
HELD = ToolUse("search", "1")


@given(AGENTS)
def test_an_agent_is_read_back_as_it_was_written(agent: AgentTools) -> None:
    body = agent_to_bytes(agent)
    assert agent_from_bytes(body, tenant=agent.tenant, name=agent.name, revision=agent.revision) == agent


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        b'{"tenant":"other"}',
        b'{"name":"x"}',
        b'{"tools":[{"tool":1}]}',
        b'{"more":1}',
        b'{"tools":{}}',
    ],
)
def test_what_is_no_agent_is_not_read_as_one(body: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whatever it says
        agent_from_bytes(body, tenant="acme", name="clerk", revision=1)


def agent(*uses: ToolUse, name: str = "clerk", tenant: str = "acme", window_s: int = 1) -> AgentTools:
    return AgentTools(name, tenant, uses, window_s=window_s)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (agent(name=""), "1 to 64 characters"),
        (agent(name="a\x00"), "1 to 64 characters"),
        (agent(name="x" * 65), "1 to 64 characters"),
        (agent(tenant="\ud800"), "a tenant is"),
        (agent(HELD, ToolUse("search", "2")), "lists search twice"),
        (agent(window_s=-1), "not less than 0"),
        (agent(*[ToolUse(f"tool{number}") for number in range(5_000)]), "at most 4096"),
        (agent(ToolUse("", "1")), "a tool's name"),
        (agent(ToolUse("search", "1\x00")), "a version"),
        (agent(ToolUse("search")), "held at a version: name it"),
        (agent(ToolUse("search", "1", Upgrade.AUTOMATIC)), "follows the default and names no version"),
        (agent(ToolUse("search", "1", shadow=ShadowRule(""))), "a shadow is a version"),
        (agent(ToolUse("search", "1", canary=Canary(""))), "a canary is a version"),
        (agent(ToolUse("search", "1", canary=Canary("2", 1_001))), "not 1001"),
        (agent(ToolUse("search", "1", canary=Canary("2", -1))), "not -1"),
        (agent(ToolUse("search", "1", canary=Canary("2", tenants=frozenset({"b"})))), "shared by all"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_is_wrong(wrong: AgentTools, says: str) -> None:
    with pytest.raises(AgentInvalid, match=says):
        refuse_invalid(wrong)


def test_what_can_be_meant_is_not_refused() -> None:
    everywhere = Canary("2", 1_000, frozenset({"acme"}))
    refuse_invalid(agent(HELD, ToolUse("save", "", Upgrade.AUTOMATIC), ToolUse("x", "1", Upgrade.EVALUATED)))
    refuse_invalid(agent(ToolUse("search", "1", canary=everywhere), tenant="*"))


def test_a_tool_is_changed_in_its_place_and_a_new_one_comes_last() -> None:
    two = agent(HELD, ToolUse("save", "1"))
    assert two.using(ToolUse("search", "2")) == agent(ToolUse("search", "2"), ToolUse("save", "1"))
    assert two.using(ToolUse("new", "1")).tools[2] == ToolUse("new", "1")
    assert two.use("nope") is None
    assert Routes.of(two).uses["save"] == ToolUse("save", "1")


def test_a_tool_names_all_its_versions() -> None:
    use = ToolUse("search", "1", canary=Canary("2"), shadow=ShadowRule("3"))
    assert use.versions == {"1", "2", "3"}
    assert ToolUse("search", "", Upgrade.AUTOMATIC).versions == frozenset()
