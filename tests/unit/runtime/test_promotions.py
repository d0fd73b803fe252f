"""An operator sets which version a name means, and takes that back by one act, in every process, on record."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from interlock import Caller, Gate, Host, Principal, ToolCall
from interlock.core.default_versions import DefaultVersion
from interlock.core.documents import Document, DocumentKind
from interlock.core.errors import ActRefused, DocumentChanged, SpecInvalid, ToolUnknown
from interlock.core.journal import EventKind
from interlock.core.lifecycle import Lifecycle
from interlock.store.memory import MemoryStore
from interlock.testing.models import ScriptedModel
from tests.agents import CLERK, WHY, clerk, searches, version
from tests.gates import ALICE, OPERATOR, opened, records, search
from tests.runs import on_store
from tests.unit.runtime.test_agents import path

__all__ = ["path"]

pytestmark = pytest.mark.requirement("REG-3")

THEIRS = Principal("globex", "greta", groups=frozenset({"operator"}))


@pytest.fixture
async def gate(path: str, tmp_path: Path) -> AsyncIterator[Gate]:
    async with opened(path, searches("1", "2"), host=Host(key_folder=tmp_path)) as gate:
        yield gate


async def promoted(gate: Gate, to: str, *, window_s: int = 60) -> DefaultVersion:
    return await gate.catalogue.promote("search", to, by=OPERATOR, reason=WHY, window_s=window_s)


ACTS: dict[str, Callable[[Gate], Awaitable[object]]] = {
    "promote": lambda gate: promoted(gate, "1"),
    "pin": lambda gate: gate.agents.pin(CLERK, "search", version="1", by=OPERATOR, reason=WHY),
}


async def test_a_promoted_version_is_the_default_whatever_is_published_after_it(gate: Gate) -> None:
    assert (await promoted(gate, "1")).before == "2"
    assert await version(gate, agent="") == "1"
    await gate.catalogue.register([gate._bound(searches("3")[0])], by=OPERATOR)
    assert await version(gate, agent="") == "1"
    assert gate.catalogue.get("search").spec.version == "1"
    await promoted(gate, "3")
    assert await version(gate, agent="") == "3"
    assert await gate.catalogue.roll_back("search", by=OPERATOR, reason="it is slow") == DefaultVersion("1")
    assert await version(gate, agent="") == "1"
    with pytest.raises(SpecInvalid, match="no version before"):
        await gate.catalogue.roll_back("search", by=OPERATOR, reason=WHY)
    found = [*await records(gate, "tool.promoted"), *await records(gate, "tool.rolled_back")]
    assert [(each["version"], each["before"], each["reason"]) for each in found] == [
        ("1", "2", WHY),
        ("3", "1", WHY),
        ("1", "", "it is slow"),
    ]


async def test_after_its_window_a_promotion_is_not_taken_back_by_one_act() -> None:
    async with opened(":memory:", searches("1", "2")) as gate:
        await promoted(gate, "1", window_s=0)
        with pytest.raises(SpecInvalid, match="window"):
            await gate.catalogue.roll_back("search", by=OPERATOR, reason=WHY)
        with pytest.raises(SpecInvalid, match="not less than 0"):
            await promoted(gate, "2", window_s=-1)


async def test_the_default_that_nobody_has_set_can_be_set_so_that_it_stays(gate: Gate) -> None:
    assert await gate.catalogue.default("search") is None
    set_ = await promoted(gate, "2")
    assert (set_.version, set_.before, set_.followed) == ("2", "", True)
    assert await gate.catalogue.default("search", tenant="acme") == set_
    with pytest.raises(SpecInvalid, match="the default already"):
        await promoted(gate, "2")


async def test_a_name_follows_the_newest_again_by_one_act_that_can_be_taken_back(gate: Gate) -> None:
    with pytest.raises(SpecInvalid, match="last already"):
        await gate.catalogue.follow_newest("search", by=OPERATOR, reason=WHY)
    await promoted(gate, "1")
    followed = await gate.catalogue.follow_newest("search", by=OPERATOR, reason="1 is gone", window_s=60)
    assert (followed.version, followed.before) == ("", "1")
    assert await gate.catalogue.default("search") == followed
    assert await gate.catalogue.defaults(tenant="acme") == {"search": followed}
    assert await version(gate, agent="") == "2"
    await gate.catalogue.register([gate._bound(searches("3")[0])], by=OPERATOR)
    assert await version(gate, agent="") == "3"
    assert await gate.catalogue.roll_back("search", by=OPERATOR, reason=WHY) == DefaultVersion("1")
    assert await version(gate, agent="") == "1"
    told = [(each["version"], each["newest"], each["before"]) for each in await records(gate, "tool.promoted")]
    assert told == [("1", False, "2"), ("", True, "1")]


async def test_from_the_newest_a_promotion_goes_as_from_a_name_that_nobody_has_set(gate: Gate) -> None:
    await promoted(gate, "1")
    await gate.catalogue.follow_newest("search", by=OPERATOR, reason=WHY)
    assert (await promoted(gate, "1")).before == "2"
    await gate.catalogue.follow_newest("search", by=OPERATOR, reason=WHY)
    assert (await promoted(gate, "2")).followed


@pytest.mark.parametrize("first", ["1", "2"])
async def test_taking_back_the_first_promotion_lets_the_name_follow_what_is_published_last(
    gate: Gate, first: str
) -> None:
    await promoted(gate, first)
    assert await gate.catalogue.roll_back("search", by=OPERATOR, reason=WHY) == DefaultVersion("")
    assert await version(gate, agent="") == "2"
    await gate.catalogue.register([gate._bound(searches("3")[0])], by=OPERATOR)
    assert await version(gate, agent="") == "3"
    with pytest.raises(SpecInvalid, match="there is no promotion to go back from"):
        await gate.catalogue.roll_back("search", by=OPERATOR, reason=WHY)
    back = (await records(gate, "tool.rolled_back"))[-1]
    assert (back["version"], back["newest"]) == ("", True)


async def test_following_the_newest_passes_the_gates_of_a_promotion() -> None:
    async with opened(":memory:", searches("1", "2")) as gate:
        await promoted(gate, "1", window_s=60)
        for by in (ALICE, THEIRS):
            with pytest.raises(ActRefused):
                await gate.catalogue.follow_newest("search", by=by, reason=WHY)
        with pytest.raises(SpecInvalid, match="not less than 0"):
            await gate.catalogue.follow_newest("search", by=OPERATOR, reason=WHY, window_s=-1)
        with pytest.raises(ToolUnknown):
            await gate.catalogue.follow_newest("nope", by=OPERATOR, reason=WHY)
        for each in ("1", "2"):
            await gate.catalogue.move("search", Lifecycle.FROZEN, version=each, by=OPERATOR, reason=WHY)
        with pytest.raises(SpecInvalid, match="is frozen, which no default is"):
            await gate.catalogue.follow_newest("search", by=OPERATOR, reason=WHY)
        assert await gate.catalogue.default("search") == DefaultVersion(
            "1", "2", (await default(gate)).until_us, followed=True
        )


async def test_after_its_window_following_the_newest_is_not_taken_back_by_one_act() -> None:
    async with opened(":memory:", searches("1", "2")) as gate:
        await promoted(gate, "1")
        await gate.catalogue.follow_newest("search", by=OPERATOR, reason=WHY, window_s=0)
        with pytest.raises(SpecInvalid, match="window"):
            await gate.catalogue.roll_back("search", by=OPERATOR, reason=WHY)


@pytest.mark.parametrize("pin", [None, "bound"])
async def test_a_call_of_a_version_without_code_here_is_on_record_as_what_it_is(
    tmp_path: Path, pin: str | None
) -> None:
    where = str(tmp_path / "shared.db")
    async with opened(where, searches("1", "2")) as gate:
        digest = gate.catalogue.get("search").digest
        await promoted(gate, "2")
    async with opened(where, searches("1")) as gate:
        seen = await gate.propose(search(), Caller(ALICE, run="r1" if pin else None, pin=digest if pin else None))
        assert seen.error is not None
        assert (seen.error.code.value, "2" in seen.error.message) == ("TOOL_NOT_FOUND", False)
        refused = (await records(gate, "call.refused"))[-1]
        assert (refused["code"], refused["told"]) == ("TOOL_UNAVAILABLE", "TOOL_NOT_FOUND")
        assert (refused["tool"], refused["version"], refused["spec"]) == ("search", "2", None)
        await gate.propose(ToolCall("c2", "serch", {"query": "x"}), Caller(ALICE))
        assert (await records(gate, "call.refused"))[-1]["code"] == "TOOL_NOT_FOUND"


async def default(gate: Gate) -> DefaultVersion:
    found = await gate.catalogue.default("search")
    assert found is not None
    return found


async def test_only_operators_set_defaults_and_of_what_is_shared_those_of_the_installations_tenant() -> None:
    async with opened(":memory:", searches("1", "2")) as gate:
        for by in (ALICE, THEIRS):
            with pytest.raises(ActRefused):
                await gate.catalogue.promote("search", "1", by=by, reason=WHY)
            with pytest.raises(ActRefused):
                await gate.catalogue.roll_back("search", by=by, reason=WHY)
        assert await version(gate, agent="") == "2"


@pytest.mark.parametrize(
    ("name", "to", "fault"),
    [
        ("search", "9", ToolUnknown),
        ("search", "1\x00", ToolUnknown),
        ("nope", "1", ToolUnknown),
        ("a\x00", "1", ToolUnknown),
        ("x" * 1_000_000, "1", ToolUnknown),
        ("search", "1", SpecInvalid),
    ],
)
async def test_what_takes_no_calls_or_is_not_there_becomes_no_default(
    name: str, to: str, fault: type[Exception]
) -> None:
    async with opened(":memory:", searches("1", "2")) as gate:
        await gate.catalogue.move("search", Lifecycle.FROZEN, version="1", by=OPERATOR, reason=WHY)
        with pytest.raises(fault):
            await gate.catalogue.promote(name, to, by=OPERATOR, reason=WHY)
        assert await records(gate, "tool.promoted") == []


async def test_of_those_who_promote_at_once_each_follows_on_another_or_is_told(gate: Gate) -> None:
    done = await asyncio.gather(*[promoted(gate, each) for each in "1212"], return_exceptions=True)
    kept = [each for each in done if isinstance(each, DefaultVersion)]
    assert all(isinstance(each, DefaultVersion | DocumentChanged | SpecInvalid) for each in done)
    found = await records(gate, "tool.promoted")
    assert len(found) == len(kept) >= 1
    first = "2" if found[0]["version"] == "1" else ""  # whoever is first: nothing comes before what it meant already
    assert [each["before"] for each in found] == [first, *[each["version"] for each in found[:-1]]]


async def test_nobody_goes_back_to_a_version_that_is_closed_by_then() -> None:
    async with opened(":memory:", searches("1", "2")) as gate:
        await promoted(gate, "1")
        await gate.catalogue.move("search", Lifecycle.FROZEN, version="2", by=OPERATOR, reason=WHY)
        with pytest.raises(SpecInvalid, match="which no default is"):
            await gate.catalogue.roll_back("search", by=OPERATOR, reason=WHY)
        assert await version(gate, agent="") == "1"


@pytest.mark.parametrize("act", ACTS)
async def test_a_version_that_is_closed_in_the_same_moment_is_neither_promoted_nor_pinned(act: str) -> None:
    store = MemoryStore()
    async with on_store(store, ScriptedModel([]), searches("1", "2")) as gate:
        await gate.agents.save(clerk(), by=OPERATOR, reason=WHY)
        change = store.documents.change_versions

        async def late(*given: Any, **more: Any) -> int | None:
            """Somebody else is faster, once."""
            store.documents.change_versions = change  # type: ignore[method-assign]
            await gate.catalogue.move("search", Lifecycle.FROZEN, version="1", by=OPERATOR, reason=WHY)
            return await change(*given, **more)

        store.documents.change_versions = late  # type: ignore[method-assign]
        with pytest.raises(SpecInvalid, match="is frozen"):
            await ACTS[act](gate)
        assert await version(gate, agent="") == "2"
        assert (await gate.agents.get(CLERK, by=ALICE)).tools == ()


async def test_a_default_whose_code_is_elsewhere_is_not_replaced_by_another_version() -> None:
    store = MemoryStore()
    async with on_store(store, ScriptedModel([]), searches("1", "2")) as gate:
        await promoted(gate, "1")
        async with on_store(store, ScriptedModel([]), searches("2")) as other:
            assert await version(other, agent="") == "TOOL_NOT_FOUND"
            assert await version(gate, agent="") == "1"


async def test_a_default_that_cannot_be_read_takes_no_calls(caplog: pytest.LogCaptureFixture) -> None:
    async with opened(":memory:", searches("1", "2")) as gate:
        event = gate._records.act(EventKind.TOOL_PROMOTED, "acme", {"subject": "search"})
        found = Document("*", DocumentKind.DEFAULT, "search", 1, b"?")
        await gate._world.documents.save_documents((found,), event)
        assert await version(gate, agent="") == "TOOL_NOT_FOUND"
        assert "cannot be read" in caplog.text
