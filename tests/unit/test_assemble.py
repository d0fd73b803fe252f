"""Opening a gate: everything is checked before anything can be called, and closing leaves the log signed."""

from pathlib import Path

import pytest

from interlock import Gate, PolicySource, Settings, ToolCall, tool
from interlock.assemble import read_policies
from interlock.core.errors import PolicyInvalid, SettingsInvalid, StoreClosed
from tests.gates import ALICE, ALL, Shelf, code, opened, search


def names(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


@pytest.mark.requirement("SCALE-1")
async def test_a_gate_opens_in_memory_or_on_a_file_with_a_key_of_its_own(tmp_path: Path) -> None:
    async with opened(":memory:", Shelf().tools) as gate:
        assert code(await gate.call(search(), principal=ALICE)) == "ok"
    assert names(tmp_path) == set()
    async with opened(str(tmp_path / "gate.db"), Shelf().tools) as gate:
        assert code(await gate.call(search(), principal=ALICE)) == "ok"
    assert {"gate.db", "gate.db.key"} <= names(tmp_path)


async def test_policies_may_be_a_folder_and_without_any_the_store_keeps_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "policies"
    folder.mkdir()
    (folder / "all.cedar").write_text(ALL)
    path = tmp_path / "gate.db"
    for policies in (folder, str(folder), None):
        async with Gate.open(path, tools=Shelf().tools, policies=policies) as gate:
            assert [each.name for each in await gate.policies.sources()] == ["all"]
            assert code(await gate.call(search(), principal=ALICE)) == "ok"


def test_a_folder_without_policies_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match="interlock init"):
        read_policies(tmp_path)


@pytest.mark.requirement("POL-1")
async def test_a_policy_that_does_not_fit_stops_the_opening() -> None:
    with pytest.raises(PolicyInvalid):
        async with opened(":memory:", Shelf().tools, 'permit (principal, action == Action::"nope", resource);'):
            pass


async def test_a_store_that_is_not_there_yet_is_said_so() -> None:
    with pytest.raises(SettingsInvalid, match="SQLite"):
        async with Gate.open("postgresql://x/y"):
            pass


async def test_a_closed_gate_takes_no_calls(tmp_path: Path) -> None:
    async with opened(str(tmp_path / "gate.db"), Shelf().tools) as gate:
        pass
    with pytest.raises(StoreClosed):
        await gate.call(search(), principal=ALICE)


async def test_threads_are_bounded_as_the_settings_say() -> None:
    running: list[int] = []
    peak: list[int] = []

    @tool(effect="read")
    def count() -> int:
        """Count who runs."""
        running.append(1)
        peak.append(len(running))
        running.pop()
        return 1

    async with opened(":memory:", [count], threads_max=1) as gate:
        assert gate._python._threads._threads_max == 1
        assert code(await gate.call(ToolCall("c", "count", ""), principal=ALICE)) == "ok"
    assert peak == [1]


async def test_without_policies_nothing_is_allowed() -> None:
    async with Gate.open(tools=Shelf().tools, policies=[PolicySource("none", "")], settings=Settings()) as gate:
        assert code(await gate.call(search(), principal=ALICE)) == "TOOL_NOT_FOUND"
