"""Versions at the gate: one that breaks what its number promises is not published, and any two can be compared."""

from typing import Any

import pytest

from interlock import tool
from interlock.core.compatibility import Verdict
from interlock.core.errors import SpecInvalid, ToolUnknown
from tests.gates import OPERATOR, AnyTool, opened

pytestmark = pytest.mark.requirement("REG-5")


def first(version: str = "1.0.0") -> AnyTool:
    @tool(effect="read", owner="eng", name="search", version=version, description="Search notes.")
    async def search(query: str, limit: int = 5) -> list[str]:
        return [query][:limit]

    return search


def wider(version: str) -> AnyTool:
    @tool(effect="read", owner="eng", name="search", version=version, description="Search notes.")
    async def search(query: str, limit: int = 5, since: str | None = None) -> list[str]:
        return [query][:limit]

    return search


def narrower(version: str) -> AnyTool:
    @tool(effect="read", owner="eng", name="search", version=version, description="Search notes.")
    async def search(query: str, folder: str) -> list[str]:
        return [query, folder]

    return search


async def test_a_breaking_change_under_a_compatible_number_is_not_published(gate_path: str) -> None:
    async with opened(gate_path, [first()]) as gate:
        with pytest.raises(SpecInvalid, match=r"search 1.1.0 breaks what 1.0.0 promised.*folder.*such as") as refused:
            await gate.catalogue.register([narrower("1.1.0").spec()], by=OPERATOR)
        assert "new major version" in str(refused.value)
        assert await versions(gate) == ["1.0.0"]
        await gate.catalogue.register([wider("1.1.0").spec()], by=OPERATOR)
        await gate.catalogue.register([narrower("2.0.0").spec()], by=OPERATOR)
        assert await versions(gate) == ["1.0.0", "1.1.0", "2.0.0"]


async def test_a_version_is_held_against_the_nearest_that_it_promises_to_keep(gate_path: str) -> None:
    async with opened(gate_path, [first(), narrower("2.0.0")]) as gate:
        await gate.catalogue.register([first("1.0.1").spec()], by=OPERATOR)
        with pytest.raises(SpecInvalid, match=r"2.0.1 breaks what 2.0.0 promised"):
            await gate.catalogue.register([first("2.0.1").spec()], by=OPERATOR)


async def test_versions_that_are_published_together_are_held_against_each_other(gate_path: str) -> None:
    async with opened(gate_path, [first()]) as gate:
        both = [narrower("3.1.0").spec(), first("3.0.0").spec()]
        with pytest.raises(SpecInvalid, match=r"3.1.0 breaks what 3.0.0 promised"):
            await gate.catalogue.register(both, by=OPERATOR)


@pytest.mark.parametrize(("old", "new"), [("1", "2"), ("v1", "v2"), ("2026-11-01", "2026-11-30"), ("0.1.0", "0.2.0")])
async def test_versions_without_an_order_may_break(gate_path: str, old: str, new: str) -> None:
    async with opened(gate_path, [first(old)]) as gate:
        await gate.catalogue.register([narrower(new).spec()], by=OPERATOR)
        assert (await gate.catalogue.diff("search", old, new)).verdict is Verdict.BREAKING


async def test_below_one_a_minor_may_break_and_a_patch_may_not(gate_path: str) -> None:
    async with opened(gate_path, [first("0.1.0")]) as gate:
        with pytest.raises(SpecInvalid, match=r"0.1.1 breaks what 0.1.0 promised"):
            await gate.catalogue.register([narrower("0.1.1").spec()], by=OPERATOR)


async def test_two_versions_are_compared_with_what_changed(gate_path: str) -> None:
    async with opened(gate_path, [first(), narrower("2.0.0")]) as gate:
        found = await gate.catalogue.diff("search", "1.0.0", "2.0.0")
        assert (found.old_version, found.new_version, found.is_promised) == ("1.0.0", "2.0.0", False)
        kinds = {(each.path, each.kind) for each in found.findings if each.verdict is Verdict.BREAKING}
        assert {("", "required-added"), ("/limit", "member-refused"), ("/limit", "parameter-gone")} <= kinds
        back = await gate.catalogue.diff("search", "2.0.0", "1.0.0")
        assert back.new_digest == found.old_digest
        for name, version in (("search", "9"), ("nothing", "1.0.0")):
            with pytest.raises(ToolUnknown, match=r"has no version"):
                await gate.catalogue.diff(name, "1.0.0", version)


async def test_what_would_follow_is_compared_and_not_published(gate_path: str) -> None:
    async with opened(gate_path, [first()]) as gate:
        found = await gate.catalogue.successions([first().spec(), wider("1.1.0").spec(), narrower("2.0.0").spec()])
        assert [(each.new_version, each.verdict.value) for each in found] == [
            ("1.1.0", "compatible"),
            ("2.0.0", "breaking"),
        ]
        assert await versions(gate) == ["1.0.0"]


async def versions(gate: Any) -> list[str]:
    return [each.version for each in await gate.catalogue.list_versions("search")]
