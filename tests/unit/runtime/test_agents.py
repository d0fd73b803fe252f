"""Agents are changed by operators of their tenant, on record, one at a time, and rule the next call everywhere."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from interlock import Gate, Host, PolicySource, Principal, tool
from interlock.core.agents import AgentTools, Canary, ShadowRule, ToolUse, Upgrade, agent_to_bytes
from interlock.core.documents import Document, DocumentKind
from interlock.core.errors import (
    ActRefused,
    AgentInvalid,
    AgentUnknown,
    DocumentChanged,
    PolicyInvalid,
    SpecInvalid,
    ToolUnknown,
)
from interlock.core.journal import EventKind
from interlock.core.lifecycle import Lifecycle
from interlock.core.tool import SHARED
from tests.agents import CLERK, WHY, called, caller, canary_of, clerk, person, saved, saves, searches, version
from tests.gates import ALICE, AUDITOR, BOB, OPERATOR, AnyTool, code, opened, records, save

pytestmark = pytest.mark.requirement("REG-3")

HELD = ToolUse("search", "1")
THEIRS = Principal("globex", "greta", groups=frozenset({"operator"}))
BY_CODE: dict[str, Callable[[Gate], Awaitable[object]]] = {
    "save": lambda gate: gate.agents.save(clerk(), by=ALICE, reason=WHY),
    "remove": lambda gate: gate.agents.remove(CLERK, by=ALICE, reason=WHY),
    "pin": lambda gate: gate.agents.pin(CLERK, "search", version="2", by=ALICE, reason=WHY),
    "upgrade": lambda gate: gate.agents.upgrade(CLERK, "search", mode=Upgrade.HELD, by=ALICE, reason=WHY),
    "canary": lambda gate: gate.agents.canary(CLERK, "search", canary=None, by=ALICE, reason=WHY),
    "shadow": lambda gate: gate.agents.shadow(CLERK, "search", shadow=None, by=ALICE, reason=WHY),
    "evaluated": lambda gate: gate.agents.evaluated(CLERK, "search", version="2", by=ALICE, reason=WHY),
    "roll_back": lambda gate: gate.agents.roll_back(CLERK, "search", by=ALICE, reason=WHY),
}


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store of each kind."""
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_url"))
    return ":memory:" if request.param == "memory" else str(tmp_path / "gate.db")


@pytest.fixture(params=["sqlite", "postgres"])
def kept_at(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store that other processes find."""
    return str(request.getfixturevalue("postgres_url")) if request.param == "postgres" else str(tmp_path / "gate.db")


@pytest.fixture
async def gate(path: str, tmp_path: Path) -> AsyncIterator[Gate]:
    async with opened(path, searches("1", "2", "3"), host=Host(key_folder=tmp_path)) as gate:
        yield gate


async def test_an_agent_has_the_version_that_it_is_held_at_and_all_others_the_default(gate: Gate) -> None:
    assert await version(gate) == "3"
    agent = await saved(gate, HELD)
    assert (agent.revision, await gate.agents.get(CLERK, by=ALICE)) == (1, agent)
    assert [await version(gate), await version(gate, agent=""), await version(gate, agent="else")] == ["1", "3", "3"]
    await gate.agents.pin(CLERK, "search", version="2", by=OPERATOR, reason=WHY)
    assert await version(gate) == "2"
    await gate.agents.roll_back(CLERK, "search", by=OPERATOR, reason=WHY)
    assert await version(gate) == "1"
    with pytest.raises(AgentInvalid):
        await gate.agents.roll_back(CLERK, "search", by=OPERATOR, reason=WHY)
    await gate.agents.remove(CLERK, by=OPERATOR, reason=WHY)
    assert await version(gate) == "3"
    with pytest.raises(AgentUnknown):
        await gate.agents.get(CLERK, by=ALICE)


async def test_what_is_saved_outlives_the_process_and_all_of_it_is_on_record(kept_at: str, tmp_path: Path) -> None:
    host = Host(key_folder=tmp_path)
    async with opened(kept_at, searches("1", "2"), host=host) as gate:
        await saved(gate, HELD)
        await canary_of(gate, "2", 300)
        before = [await version(gate, person(number)) for number in range(20)]
        assert {*before} == {"1", "2"}
    async with opened(kept_at, searches("1", "2"), host=host) as gate:
        assert [await version(gate, person(number)) for number in range(20)] == before
        found = await records(gate, "agent.saved")
        assert [(each["what"], each["reason"], each["principal"]) for each in found] == [
            ("saved", WHY, "olga"),
            ("canary", WHY, "olga"),
        ]
        assert found[1]["tools"][0]["canary"] == {"version": "2", "per_mille": 300, "tenants": [], "salt": ""}
        await gate.audit.verify()


async def test_a_change_of_an_agent_takes_hold_in_every_process_with_the_next_call(
    kept_at: str, tmp_path: Path
) -> None:
    host, tools = Host(key_folder=tmp_path), searches("1", "2")
    async with opened(kept_at, tools, host=host) as one, opened(kept_at, tools, host=host) as other:
        await saved(one, HELD)
        assert await version(other) == "1"
        await other.agents.pin(CLERK, "search", version="2", by=OPERATOR, reason=WHY)
        assert await version(one) == "2"
        with pytest.raises(DocumentChanged):
            await one.agents.save(clerk(HELD, revision=1), by=OPERATOR, reason=WHY)


async def test_of_two_operators_who_save_at_once_one_is_told_that_he_was_overtaken(gate: Gate) -> None:
    await saved(gate, HELD)
    read = await gate.agents.get(CLERK, by=OPERATOR)
    both = [gate.agents.save(replace(read, owner=owner), by=OPERATOR, reason=WHY) for owner in ("a", "b")]
    done = await asyncio.gather(*both, return_exceptions=True)
    (kept,) = [each for each in done if isinstance(each, AgentTools)]
    (late,) = [each for each in done if isinstance(each, DocumentChanged)]
    assert "changed meanwhile" in str(late)
    assert await gate.agents.get(CLERK, by=OPERATOR) == kept
    assert len(await records(gate, "agent.saved")) == 2


@pytest.mark.parametrize("act", BY_CODE)
async def test_only_operators_change_agents(act: str) -> None:
    async with opened(":memory:", searches("1", "2")) as gate:
        agent = await saved(gate, HELD)
        with pytest.raises(ActRefused):
            await BY_CODE[act](gate)
        assert await gate.agents.get(CLERK, by=ALICE) == agent
        assert len(await records(gate, "agent.saved")) == 1


async def test_an_operator_of_one_tenant_never_changes_another_tenants_agents() -> None:
    async with opened(":memory:", searches("1", "2")) as gate:
        agent = await saved(gate, HELD)
        shared = await gate.agents.save(AgentTools("all", SHARED, (HELD,)), by=OPERATOR, reason=WHY)
        for wanted in (clerk(HELD, revision=1), AgentTools("new", SHARED), AgentTools("new", "acme")):
            with pytest.raises(ActRefused):
                await gate.agents.save(wanted, by=THEIRS, reason=WHY)
        with pytest.raises(AgentUnknown):
            await gate.agents.pin(CLERK, "search", version="2", by=THEIRS, reason=WHY)
        with pytest.raises(ActRefused):
            await gate.agents.pin("all", "search", version="2", by=THEIRS, reason=WHY)
        own = await gate.agents.save(AgentTools(CLERK, "globex", (ToolUse("search", "2"),)), by=THEIRS, reason=WHY)
        assert await gate.agents.list(by=THEIRS) == (shared, own)
        assert await gate.agents.list(by=ALICE) == (shared, agent)
        assert await gate.agents.list(by=OPERATOR) == (shared, agent, own)
        assert await gate.agents.get(CLERK, by=ALICE) == agent


async def test_an_agent_may_use_what_it_lists_and_nothing_else() -> None:
    ran: list[str] = []
    async with opened(":memory:", [*searches("1"), *saves("1", ran=ran)]) as gate:
        await saved(gate, HELD)
        assert code(await called(gate, call=save(), task="t")) == "TOOL_NOT_ALLOWED"
        assert code(await called(gate, call=replace(save(), name="nope"), task="t")) == "TOOL_NOT_FOUND"
        await saved(gate, HELD, others=True, revision=1)
        assert code(await called(gate, call=save(), task="t")) == "ok"
    assert ran == ["1"]


async def test_of_what_policy_never_allows_an_agent_that_does_not_list_it_hears_that_there_is_none() -> None:
    reads = 'permit (principal, action in Action::"read", resource);'
    async with opened(":memory:", [*searches("1"), *saves("1", ran=[])], reads) as gate:
        await saved(gate, HELD)
        assert code(await called(gate, call=save(), task="t")) == "TOOL_NOT_FOUND"
        assert (await records(gate, "call.refused"))[-1]["code"] == "TOOL_NOT_ALLOWED"


async def test_a_pinned_version_whose_code_is_gone_is_refused_and_no_other_runs(tmp_path: Path) -> None:
    path, ran = str(tmp_path / "gate.db"), list[str]()
    async with opened(path, searches("1", "2")) as gate:
        await saved(gate, HELD)
    async with opened(path, searches("2", ran=ran)) as gate:
        seen = await called(gate)
        assert code(seen) == "TOOL_UNAVAILABLE"
        assert seen.error is not None
        assert "1" not in seen.error.message
        explained = await gate.agents.explain(CLERK, "search", principal=ALICE)
        assert (explained.version, explained.code) == ("1", "TOOL_UNAVAILABLE")
    assert ran == []


async def test_of_a_tool_that_policy_withholds_nobody_but_an_auditor_hears_that_there_is_one(tmp_path: Path) -> None:
    reads, where = 'permit (principal, action in Action::"read", resource);', str(tmp_path / "gate.db")
    async with opened(where, [*searches("1", "2"), *saves("1", ran=[])], reads) as gate:
        await saved(gate, ToolUse("save", "1"), HELD)
        own = await gate.agents.explain(CLERK, "save", principal=ALICE)
        assert replace(own, tool="nope") == await gate.agents.explain(CLERK, "nope", principal=ALICE)
        assert (own.version, own.code) == ("", "TOOL_NOT_FOUND")
        assert own == await gate.agents.explain(CLERK, "save", principal=ALICE, by=ALICE)
        told = await gate.agents.explain(CLERK, "save", principal=ALICE, by=AUDITOR)
        assert (told.version, "policy never lets" in told.says[-1]) == ("1", True)
        assert (await gate.agents.explain(CLERK, "search", principal=ALICE)).version == "1"
        for by in (BOB, THEIRS, replace(ALICE, tenant="globex")):
            with pytest.raises(ActRefused):
                await gate.agents.explain(CLERK, "search", principal=ALICE, by=by)
    async with opened(where, searches("1", "2"), reads) as gate:  # its code is in other processes alone
        assert own == await gate.agents.explain(CLERK, "save", principal=ALICE)
        assert (await gate.agents.explain("", "save", principal=ALICE, by=AUDITOR)).version == "1"


async def test_a_tenant_is_told_nothing_of_the_agents_of_another() -> None:
    async with opened(":memory:", searches("1", "2")) as gate:
        await saved(gate, HELD)
        theirs = await gate.agents.explain(CLERK, "search", principal=THEIRS, by=THEIRS)
        assert (theirs.version, theirs.says[-1]) == (
            "2",
            f"no agent {CLERK} is published: it has the default version of every tool",
        )


async def test_a_freeze_beats_every_pin_and_canary() -> None:
    async with opened(":memory:", searches("1", "2", "3")) as gate:
        await saved(gate, HELD)
        await canary_of(gate, "2", 1000)
        assert await version(gate) == "2"
        await gate.catalogue.move("search", Lifecycle.FROZEN, version="2", by=OPERATOR, reason=WHY)
        assert await version(gate) == "TOOL_FROZEN"
        await gate.agents.roll_back(CLERK, "search", by=OPERATOR, reason=WHY)
        assert await version(gate) == "1"
        await gate.catalogue.move("search", Lifecycle.FROZEN, by=OPERATOR, reason=WHY)
        assert await version(gate) == "TOOL_FROZEN"
        with pytest.raises(SpecInvalid, match="is frozen and takes no new pins"):
            await gate.agents.pin(CLERK, "search", version="3", by=OPERATOR, reason=WHY)


async def test_modes_of_upgrade_follow_hold_or_wait_for_an_evaluation() -> None:
    async with opened(":memory:", searches("1")) as gate:
        await saved(gate, ToolUse("search", "", Upgrade.AUTOMATIC))
        newer = gate._bound(searches("2")[0])
        await gate.catalogue.register([newer], by=OPERATOR)
        assert await version(gate) == "2"
        await gate.agents.upgrade(CLERK, "search", mode=Upgrade.EVALUATED, by=OPERATOR, reason=WHY)
        await gate.catalogue.register([gate._bound(searches("3")[0])], by=OPERATOR)
        assert await version(gate) == "2"
        says = (await gate.agents.explain(CLERK, "search", principal=ALICE)).says
        assert "the default is 3, and waits for an evaluation that has passed" in says
        await gate.agents.evaluated(CLERK, "search", version="3", by=OPERATOR, reason="all cases passed")
        assert await version(gate) == "3"
        await gate.agents.upgrade(CLERK, "search", mode=Upgrade.AUTOMATIC, by=OPERATOR, reason=WHY)
        with pytest.raises(AgentInvalid, match="does not wait"):
            await gate.agents.evaluated(CLERK, "search", version="3", by=OPERATOR, reason=WHY)


async def test_a_tool_that_is_pinned_without_a_version_is_held_at_the_default_of_today() -> None:
    async with opened(":memory:", searches("1", "2")) as gate:
        await saved(gate)
        agent = await gate.agents.pin(CLERK, "search", by=OPERATOR, reason=WHY)
        assert agent.tools == (ToolUse("search", "2"),)


async def test_the_share_of_a_canary_grows_without_taking_the_version_back_from_anybody() -> None:
    async with opened(":memory:", searches("1", "2")) as gate:
        await saved(gate, HELD)
        people, had = [person(number) for number in range(60)], set[str]()
        for share in (50, 300, 700, 1000):
            await canary_of(gate, "2", share)
            has = {each.id for each in people if await version(gate, each) == "2"}
            assert had <= has
            had = has
        assert len(had) == 60
        agent = await canary_of(gate, "2", 0, salt="chosen by somebody")
        assert agent.tools[0].canary is not None
        assert agent.tools[0].canary.salt not in ("", "chosen by somebody")


@pytest.mark.parametrize(
    ("use", "fault"),
    [
        (ToolUse("nope", "1"), ToolUnknown),
        (ToolUse("search", "9"), ToolUnknown),
        (replace(HELD, canary=Canary("9", 1)), ToolUnknown),
        (replace(HELD, shadow=ShadowRule("9")), ToolUnknown),
        (ToolUse("a\x00", "1"), ToolUnknown),
        (ToolUse("x" * 1_000_000, "1"), ToolUnknown),
        (replace(HELD, canary=Canary("2", 2_000)), AgentInvalid),
    ],
)
async def test_what_cannot_be_meant_changes_nothing(use: ToolUse, fault: type[Exception]) -> None:
    async with opened(":memory:", searches("1", "2")) as gate:
        with pytest.raises(fault):
            await saved(gate, use)
        assert await gate.agents.list(by=OPERATOR) == ()
        assert await records(gate, "agent.saved") == []


@pytest.mark.parametrize("name", ["", "a\x00b", "\ud800", "x" * 1_000_000, "../acme", "*"])
async def test_hostile_names_of_agents_lead_nowhere(name: str) -> None:
    async with opened(":memory:", searches("1")) as gate:
        with pytest.raises(AgentUnknown):
            await gate.agents.pin(name, "search", by=OPERATOR, reason=WHY)
        with pytest.raises(AgentUnknown):
            await gate.agents.get(name, by=ALICE)
        if len(name) not in (1, 7):
            with pytest.raises(AgentInvalid):
                await gate.agents.save(AgentTools(name, "acme"), by=OPERATOR, reason=WHY)


async def test_policies_have_to_fit_the_versions_that_agents_name() -> None:
    reads_limit = 'permit (principal, action == Action::"search", resource) when { context.args.limit < 5 };'

    def limited(version_: str, arguments: str) -> AnyTool:
        scope: dict[str, Any] = {}
        exec(f"async def search({arguments}) -> str:\n    'Search.'\n    return query", scope)
        return tool(effect="read", owner="eng", name="search", version=version_)(scope["search"])

    tools = [limited("1", "query: str"), limited("2", "query: str, limit: int")]
    async with opened(":memory:", tools, reads_limit) as gate:
        with pytest.raises(PolicyInvalid):
            await saved(gate, HELD)
        await saved(gate, ToolUse("search", "2"))
    async with opened(":memory:", tools) as gate:
        await saved(gate, HELD)
        with pytest.raises(PolicyInvalid):
            await gate.policies.save([PolicySource("test", reads_limit)], by=OPERATOR)


async def test_an_agent_that_cannot_be_read_may_use_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async with opened(":memory:", searches("1")) as gate:
        event = gate._records.act(EventKind.AGENT_SAVED, "acme", {"subject": CLERK})
        await gate._world.documents.save_documents((Document("acme", DocumentKind.AGENT, CLERK, 1, b"?"),), event)
        assert await version(gate) == "TOOL_NOT_ALLOWED"
        assert "cannot be read" in caplog.text
        await saved(gate, HELD, revision=1)
        assert await version(gate) == "1"


async def test_a_new_agent_of_a_removed_name_follows_on_it() -> None:
    async with opened(":memory:", searches("1")) as gate:
        await saved(gate, HELD)
        await gate.agents.remove(CLERK, by=OPERATOR, reason=WHY)
        with pytest.raises(DocumentChanged):
            await saved(gate, HELD, revision=1)
        assert (await saved(gate, HELD)).revision == 3
        assert agent_to_bytes(clerk(HELD)) == (await gate._world.documents.documents(DocumentKind.AGENT))[1][0].body


async def test_what_an_agent_sees_is_what_its_names_mean() -> None:
    async with opened(":memory:", [*searches("1", "2"), *saves("1", ran=[])]) as gate:
        await saved(gate, HELD)
        seen = gate.catalogue.visible(caller())
        assert [(each.spec.name, each.spec.version) for each in seen] == [("search", "1")]
        assert len(gate.catalogue.declarations(caller(), dialect="openai-chat").tools) == 1
        everybody = gate.catalogue.visible(caller(agent=""))
        assert [(each.spec.name, each.spec.version) for each in everybody] == [("save", "1"), ("search", "2")]
