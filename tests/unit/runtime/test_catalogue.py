"""The catalogue at the gate: what is published never changes, what its operators do holds at once and is on record."""

from pathlib import Path

import pytest

from interlock import Caller, PolicySource, ToolCall, tool
from interlock.core.catalogue import Lifecycle
from interlock.core.errors import PolicyInvalid, SpecInvalid, ToolUnknown, VersionExists
from interlock.runtime.catalogue import MOVES
from tests.gates import ALICE, ALL, OPERATOR, AnyTool, Shelf, code, opened, records, save, search


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

    with pytest.raises(VersionExists, match="give it a new version"):
        async with opened(path, [handler]):
            pass
    async with opened(path, [search_of("one")], None) as gate:
        assert code(await gate.call(search(), principal=ALICE)) == "ok"


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
        assert [(each["from"], each["to"], each["reason"]) for each in moved] == [
            ("available", "frozen", "it saves twice"),
            ("frozen", "available", "repaired"),
        ]
        (registered,) = await records(gate, "tool.registered")
        assert [each["name"] for each in registered["tools"]] == ["search", "save"]


@pytest.mark.parametrize("state", [state for state in Lifecycle if state not in MOVES[Lifecycle.AVAILABLE]])
async def test_a_move_that_the_table_does_not_have_is_refused(state: Lifecycle) -> None:
    async with opened(":memory:", Shelf().tools) as gate:
        with pytest.raises(SpecInvalid):
            await gate.catalogue.move("save", state, by=OPERATOR, reason="?")
        with pytest.raises(ToolUnknown):
            await gate.catalogue.move("nope", Lifecycle.FROZEN, by=OPERATOR, reason="?")


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


@pytest.mark.requirement("POL-5")
async def test_a_listing_shows_what_the_same_policy_lets_be_called_in_this_environment() -> None:
    only = 'permit (principal, action, resource) when { context.environment == "production" };'
    for environment, seen in (("production", ["save", "search"]), ("development", [])):
        async with opened(":memory:", Shelf().tools, only, environment=environment) as gate:
            assert [each.spec.name for each in gate.catalogue.visible(Caller(ALICE))] == seen
            assert (code(await gate.call(search(), principal=ALICE)) == "ok") is bool(seen)
