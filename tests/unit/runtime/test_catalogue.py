"""The catalogue at the gate: what is published never changes, what its operators do holds at once and is on record."""

from dataclasses import replace
from pathlib import Path

import pytest

from interlock import Caller, PolicySource, ToolCall, tool
from interlock.core.decision import Deny
from interlock.core.errors import ActRefused, PolicyInvalid, SpecInvalid, ToolUnknown, VersionExists
from interlock.core.journal import AuditQuery
from interlock.core.lifecycle import MOVES, Lifecycle
from interlock.core.tool import SHARED
from interlock.runtime.health import HealthState
from tests.gates import ALICE, ALL, OPERATOR, READS, AnyTool, Shelf, code, opened, records, save, search


def search_of(words: str, *, version: str = "1") -> AnyTool:
    @tool(effect="read", owner="eng", name="search", version=version, description=words)
    async def handler(query: str, limit: int = 5) -> list[str]:
        return [words]

    return handler


@pytest.mark.requirement("REG-1")
async def test_a_changed_tool_under_a_published_version_is_refused_and_nothing_is_published(gate_path: str) -> None:
    shelf = Shelf()
    async with opened(gate_path, shelf.tools) as gate:
        with pytest.raises(VersionExists):
            await gate.catalogue.register(
                [search_of("changed").spec(), search_of("new", version="2").spec()], by=OPERATOR
            )
        assert [each.version for each in await gate.catalogue.list_versions("search")] == ["1"]
        assert code(await gate.call(search(), principal=ALICE)) == "ok"


@pytest.mark.requirement("REG-1")
async def test_a_changed_handler_under_a_published_version_does_not_open(tmp_path: Path) -> None:
    path = str(tmp_path / "gate.db")
    async with opened(path, [search_of("one")]):
        pass

    @tool(effect="read", owner="eng", name="search", description="one")
    async def handler(query: str, limit: int = 5) -> list[str]:
        return ["other code"]

    with pytest.raises(VersionExists, match=r"changed since \(/handler/fingerprint.*\); give it a new version") as told:
        async with opened(path, [handler]):
            pass
    assert "/handler/fingerprint" in [each.field for each in told.value.changes]
    assert told.value.__notes__ == [each.line for each in told.value.changes]
    async with opened(path, [search_of("one")], None) as gate:
        assert code(await gate.call(search(), principal=ALICE)) == "ok"


@pytest.mark.requirement("REG-1")
async def test_what_differs_from_a_published_version_is_told_with_what_nobody_sees_spelled_out(gate_path: str) -> None:
    held, hidden = search_of("Find notes."), search_of("Find notes.\u200b")
    async with opened(gate_path, [held]) as gate:
        with pytest.raises(VersionExists) as told:
            await gate.catalogue.register([gate._bound(hidden)], by=OPERATOR)
        [change] = [each for each in told.value.changes if each.field == "/description"]
        assert (change.before, change.now) == ('"Find notes."', '"Find notes.⟨U+200B⟩"')
        assert await gate.catalogue.changes(gate._bound(hidden)) == told.value.changes
        assert await gate.catalogue.changes(gate._bound(held)) == ()
        assert await gate.catalogue.changes(gate._bound(search_of("other", version="2"))) == ()


@pytest.mark.requirement("REG-1")
async def test_versions_are_listed_oldest_first_and_a_name_means_the_newest(gate_path: str) -> None:
    async with opened(gate_path, [search_of("one"), search_of("two", version="2")]) as gate:
        found = await gate.catalogue.list_versions("search")
        assert [each.version for each in found] == ["1", "2"]
        assert len({each.digest for each in found}) == 2
        assert gate.catalogue.get("search").spec.version == "2"
        assert (await gate.call(search(), principal=ALICE)).data == ["two"]
        assert await gate.catalogue.list_versions("nope") == ()
        with pytest.raises(ToolUnknown):
            gate.catalogue.get("nope")


@pytest.mark.requirement("POL-1", "REG-1")
async def test_policies_that_do_not_fit_a_new_version_stop_it_and_may_come_with_it(tmp_path: Path) -> None:
    path = str(tmp_path / "gate.db")
    old = ALL + 'forbid (principal, action == Action::"search", resource) when { context.args.query == "x" };'

    @tool(effect="read", name="search", version="2")
    async def other(words: str) -> str:
        """Search by words."""
        return words

    async with opened(path, [search_of("one")], old):
        pass
    with pytest.raises(PolicyInvalid):
        async with opened(path, [other], None):
            pass
    async with opened(path, [search_of("one")], None) as gate:
        assert [each.version for each in await gate.catalogue.list_versions("search")] == ["1"]
    async with opened(path, [other], old.replace("args.query", "args.words")) as gate:
        assert (await gate.call(ToolCall("c", "search", {"words": "y"}), principal=ALICE)).data == "y"
        assert code(await gate.call(ToolCall("c", "search", {"words": "x"}), principal=ALICE)) == "PERMISSION_DENIED"


@pytest.mark.requirement("AUD-6")
async def test_a_frozen_tool_takes_no_calls_until_it_is_released_and_both_are_on_record(gate_path: str) -> None:
    shelf = Shelf()
    async with opened(gate_path, shelf.tools) as gate:
        await gate.catalogue.move("save", Lifecycle.FROZEN, by=OPERATOR, reason="it saves twice")
        assert code(await gate.call(save(), principal=ALICE, task="t")) == "TOOL_FROZEN"
        await gate.catalogue.move("save", Lifecycle.AVAILABLE, by=OPERATOR, reason="repaired")
        assert code(await gate.call(save(), principal=ALICE, task="t")) == "ok"
        moved = await records(gate, "tool.moved")
        assert [(each["versions"], each["to"], each["reason"]) for each in moved] == [
            ([{"tenant": "*", "version": "1", "from": "available"}], "frozen", "it saves twice"),
            ([{"tenant": "*", "version": "1", "from": "frozen"}], "available", "repaired"),
        ]
        (registered,) = await records(gate, "tool.registered")
        assert [(each["tenant"], each["name"]) for each in registered["tools"]] == [("*", "search"), ("*", "save")]


@pytest.mark.parametrize("state", [state for state in Lifecycle if state not in MOVES[Lifecycle.AVAILABLE]])
async def test_a_move_that_the_table_does_not_have_is_refused(state: Lifecycle) -> None:
    async with opened(":memory:", Shelf().tools) as gate:
        with pytest.raises(SpecInvalid):
            await gate.catalogue.move("save", state, by=OPERATOR, reason="?")
        with pytest.raises(ToolUnknown):
            await gate.catalogue.move("nope", Lifecycle.FROZEN, by=OPERATOR, reason="?")


@pytest.mark.requirement("REG-12")
async def test_one_name_means_one_tool_for_every_tenant_that_sees_it() -> None:
    shelf = Shelf()
    async with opened(":memory:", [shelf.search]) as gate:
        with pytest.raises(SpecInvalid, match="taken"):
            await gate.catalogue.register([search_of("x", version="2").spec(source="other")], by=OPERATOR)
        with pytest.raises(SpecInvalid, match="shared"):
            await gate.catalogue.register([search_of("x", version="2").spec(tenant="acme")], by=OPERATOR)
        await gate.catalogue.register([shelf.save.spec(tenant="globex")], by=OPERATOR)
        await gate.policies.save([PolicySource("test", ALL)], by=OPERATOR)
        assert [each.spec.name for each in gate.catalogue.visible(Caller(ALICE))] == ["search"]
        assert code(await gate.call(save(), principal=ALICE, task="t")) == "TOOL_NOT_FOUND"


@pytest.mark.requirement("REG-9")
@pytest.mark.parametrize("name", ["find_tools", "hand_off", "read_result"])
async def test_no_tool_takes_the_name_of_one_that_runs_know_by_it(name: str) -> None:
    async with opened(":memory:", Shelf().tools) as gate:
        with pytest.raises(SpecInvalid, match="a tool of the gate itself"):
            await gate.catalogue.register([replace(Shelf().search.spec(), name=name, source="mcp")], by=OPERATOR)


@pytest.mark.requirement("POL-5")
async def test_a_listing_shows_what_the_same_policy_lets_be_called_in_this_environment() -> None:
    only = 'permit (principal, action, resource) when { context.environment == "production" };'
    for environment, seen in (("production", ["save", "search"]), ("development", [])):
        async with opened(":memory:", Shelf().tools, only, environment=environment) as gate:
            assert [each.spec.name for each in gate.catalogue.visible(Caller(ALICE))] == seen
            assert (code(await gate.call(search(), principal=ALICE)) == "ok") is bool(seen)


async def test_freezing_a_name_stops_every_version_in_every_process_in_one_change(tmp_path: Path) -> None:
    path, one, two = str(tmp_path / "gate.db"), search_of("one"), search_of("two", version="2")
    async with opened(path, [one]) as old, opened(path, [two], None) as new:
        epoch = await new._world.catalogue.epoch()
        moved = await new.catalogue.move("search", Lifecycle.FROZEN, by=OPERATOR, reason="emergency")
        assert [(each.version, each.state) for each in moved] == [("1", Lifecycle.FROZEN), ("2", Lifecycle.FROZEN)]
        assert await new._world.catalogue.epoch() == epoch + 1
        for gate in (old, new):
            assert code(await gate.call(search(), principal=ALICE)) == "TOOL_FROZEN"
        await new.catalogue.move("search", Lifecycle.AVAILABLE, version="2", by=OPERATOR, reason="repaired")
        assert code(await old.call(search(), principal=ALICE)) == "TOOL_FROZEN"
        assert code(await new.call(search(), principal=ALICE)) == "ok"
        (record, _) = await records(new, "tool.moved")
        assert [each["version"] for each in record["versions"]] == ["1", "2"]


async def test_releasing_a_frozen_name_opens_nothing_that_was_quarantined(gate_path: str) -> None:
    versions = [search_of(each, version=each) for each in ("1", "2", "3")]
    async with opened(gate_path, versions) as gate:
        await gate.catalogue.move("search", Lifecycle.QUARANTINED, version="1", by=OPERATOR, reason="unsafe")
        await gate.catalogue.move("search", Lifecycle.FROZEN, by=OPERATOR, reason="emergency")
        await gate.catalogue.move("search", Lifecycle.AVAILABLE, by=OPERATOR, reason="over")
        states = [each.state.value for each in await gate.catalogue.list_versions("search")]
        assert states == ["quarantined", "available", "available"]
        retired = await gate.catalogue.move("search", Lifecycle.RETIRED, by=OPERATOR, reason="gone")
        assert len(retired) == 3


@pytest.mark.requirement("AUD-6", "POL-1")
async def test_an_operator_of_another_tenant_changes_nothing_that_is_shared_or_not_its_own(gate_path: str) -> None:
    shelf, other = Shelf(), replace(OPERATOR, tenant="globex")
    sources = [PolicySource("test", ALL), PolicySource("own", "", tenant="acme")]
    async with opened(gate_path, [shelf.search], sources) as gate:
        for tenant in ("acme", SHARED):
            with pytest.raises(ActRefused):
                await gate.policies.save([PolicySource("own", ALL, tenant=tenant)], by=other)
            with pytest.raises(ActRefused):
                await gate.catalogue.register([shelf.save.spec(tenant=tenant)], by=other)
        with pytest.raises(ActRefused):
            await gate.catalogue.move("search", Lifecycle.RETIRED, by=other, reason="mine")
        assert frozenset(await gate.policies.sources()) == frozenset(sources)
        assert code(await gate.call(search(), principal=ALICE)) == "ok"


@pytest.mark.requirement("AUD-6")
async def test_an_operator_acts_on_what_is_its_tenants_own_and_its_log_says_whose_it_is() -> None:
    shelf, other = Shelf(), replace(OPERATOR, tenant="globex")
    async with opened(":memory:", [shelf.search]) as gate:
        await gate.catalogue.register([shelf.save.spec(tenant="globex")], by=other)
        await gate.policies.save([PolicySource("own", ALL, tenant="globex")], by=other)
        await gate.policies.save([PolicySource("own", READS, tenant="globex"), PolicySource("test", ALL)], by=OPERATOR)
        await gate.catalogue.move("save", Lifecycle.FROZEN, by=other, reason="mine")
        theirs = await gate.audit.query(AuditQuery(), by=other)
        assert not isinstance(theirs, Deny)
        assert [each.kind for each in theirs] == ["tool.registered", "policy.saved", "tool.moved"]
        saved = (await records(gate, "policy.saved"))[-1]
        assert [(each["tenant"], each["name"]) for each in saved["policies"]] == [("globex", "own"), ("*", "test")]


async def test_a_tool_that_does_not_work_is_not_offered_until_it_does() -> None:
    async with opened(":memory:", Shelf().tools) as gate:
        offered = {tool.spec.name for tool in gate.catalogue.visible(Caller(ALICE))}
        spec = gate.catalogue.get("search").spec
        gate.health.set(spec.tenant, spec.name, state=HealthState.MAINTENANCE)
        assert {tool.spec.name for tool in gate.catalogue.visible(Caller(ALICE))} == offered - {"search"}
        gate.health.set(spec.tenant, spec.name, state=HealthState.HEALTHY)
        assert {tool.spec.name for tool in gate.catalogue.visible(Caller(ALICE))} == offered
