"""Opening a gate: everything is checked before anything can be called, and closing leaves the log signed."""

import sys
from pathlib import Path
from typing import Any

import pytest

from interlock import Gate, Host, PolicySource, Settings, ToolCall, tool
from interlock.core.audit_log import Verified
from interlock.core.errors import InterlockError, PolicyInvalid, SettingsInvalid, StoreClosed, VersionExists
from interlock.core.policy_terms import Mode
from interlock.keys import KeySigner
from interlock.settings import Publish
from tests.gates import ALICE, ALL, AnyTool, Shelf, code, opened, save, search


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


@pytest.mark.requirement("POL-1")
async def test_a_policy_that_does_not_fit_stops_the_opening() -> None:
    with pytest.raises(PolicyInvalid):
        async with opened(":memory:", Shelf().tools, 'permit (principal, action == Action::"nope", resource);'):
            pass


async def test_a_store_whose_driver_is_missing_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "interlock.store.postgres", None)
    with pytest.raises(SettingsInvalid, match="psycopg"):
        async with Gate.open("postgresql://x/y"):
            pass


@pytest.mark.parametrize("place", ["sqlite:///x.db", "postgresql+psycopg://me:hunter2@db/gate", "mysql://db/gate"])
async def test_a_store_of_another_kind_is_refused_and_its_password_not_shown(place: str) -> None:
    with pytest.raises(SettingsInvalid, match="postgresql://") as refused:
        async with Gate.open(place):
            pass
    assert "hunter2" not in str(refused.value)


async def test_a_gate_opens_on_postgresql_and_finds_its_keys_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres_url: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for number in range(2):
        async with opened(postgres_url, Shelf().tools) as gate:
            assert (await gate.call(search(), principal=ALICE)).status.value == "ok"
            verified = await gate.audit.verify()
            assert isinstance(verified, Verified)
            assert len(verified.heads) == 1
        assert (tmp_path / "postgres.key").exists(), number


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
        assert getattr(gate._runners["python"], "_threads")._threads_max == 1  # noqa: B009
        assert code(await gate.call(ToolCall("c", "count", ""), principal=ALICE)) == "ok"
    assert peak == [1]


@pytest.mark.requirement("AUD-2")
@pytest.mark.parametrize(
    ("lost", "says"),
    [
        ((0, 1), "is missing: restore it"),
        ((0,), "this store was signed by the key"),
        ((1,), "another master key"),
    ],
)
async def test_a_store_opens_only_with_the_keys_that_it_was_first_opened_with(
    tmp_path: Path, lost: tuple[int, ...], says: str
) -> None:
    path, file = str(tmp_path / "gate.db"), tmp_path / "gate.db.key"
    async with opened(path, Shelf().tools) as gate:
        key = gate.audit.fingerprint()
    kept = file.read_text()
    file.unlink()
    lines = ["0" * 64 if index in lost else line for index, line in enumerate(kept.splitlines())]
    if len(lost) == 1:
        file.write_text("\n".join(lines))
    with pytest.raises(SettingsInvalid, match=says) as refused:
        async with opened(path, Shelf().tools):
            pass
    assert (key in str(refused.value)) is (0 in lost)
    assert file.exists() is (len(lost) == 1)
    file.write_text(kept)
    async with opened(path, Shelf().tools) as gate:
        assert isinstance(await gate.audit.verify(), Verified)


@pytest.mark.requirement("AUD-2")
async def test_a_signer_of_the_host_is_held_to_the_store_as_well(tmp_path: Path) -> None:
    path = str(tmp_path / "gate.db")
    async with opened(path, Shelf().tools, host=Host(signer=KeySigner(b"1" * 32))):
        pass
    with pytest.raises(SettingsInvalid, match="this store was signed by the key"):
        async with opened(path, Shelf().tools, host=Host(signer=KeySigner(b"2" * 32))):
            pass


def search_that(says: str, version: str = "1") -> AnyTool:
    @tool(effect="read", owner="eng", name="search", version=version, description=says)
    async def search(query: str, limit: int = 5) -> list[str]:
        return [query][:limit]

    return search


@pytest.mark.requirement("REG-1")
async def test_a_store_can_be_read_with_a_changed_tool_which_then_cannot_be_called(tmp_path: Path) -> None:
    shelf, changed, gate_path = Shelf(), search_that("Search otherwise."), str(tmp_path / "gate.db")
    async with opened(gate_path, shelf.tools):
        pass
    with pytest.raises(VersionExists, match="search"):
        async with opened(gate_path, [changed, shelf.save]):
            pass
    for publish in (Publish.NEW, Publish.NOTHING):
        async with opened(gate_path, [changed, shelf.save], None, publish=publish) as gate:
            assert [spec.name for spec in gate.changed] == ["search"]
            assert code(await gate.call(search(), principal=ALICE)) == "TOOL_NOT_FOUND"
            assert code(await gate.call(save(), principal=ALICE, task="t")) == "ok"
    assert len(shelf.saved) == 1


@pytest.mark.requirement("REG-1")
@pytest.mark.parametrize(("publish", "versions"), [(Publish.NEW, 2), (Publish.NOTHING, 1)])
async def test_a_new_version_is_published_unless_nothing_is(tmp_path: Path, publish: Publish, versions: int) -> None:
    path = str(tmp_path / "gate.db")
    async with opened(path, Shelf().tools):
        pass
    async with opened(path, [search_that("Search anew.", "2")], None, publish=publish) as gate:
        assert gate.changed == ()
        assert len(await gate.catalogue.list_versions("search", tenant="acme")) == versions


async def test_a_gate_that_publishes_nothing_puts_no_policies_in_force() -> None:
    with pytest.raises(SettingsInvalid, match="put in force"):
        async with opened(":memory:", (), ALL, publish=Publish.NOTHING):
            pass


@pytest.mark.parametrize("policies", [None, (), [PolicySource("none", " ")], [PolicySource("try", ALL, Mode.LOG_ONLY)]])
async def test_a_gate_without_policies_in_force_says_so_when_it_opens(
    policies: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with Gate.open(tools=Shelf().tools, policies=policies):
        assert caplog.text.count("no policies are in force") == 1


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"limits": ()}, r"settings=Settings\(limits=...\)"),
        ({"policies": ALL}, "PolicySource"),
        ({"policies": [ALL]}, "PolicySource"),
        ({"tools": [len]}, "len, which is no tool"),
        ({"settings": {"tenant": "acme"}}, r"settings takes Settings\(...\)"),
    ],
)
async def test_what_opening_does_not_take_is_refused_before_anything_is_made(
    tmp_path: Path, given: dict[str, Any], says: str
) -> None:
    with pytest.raises(InterlockError, match=says):
        async with Gate.open(tmp_path / "gate.db", **given):
            pass
    assert names(tmp_path) == set()


def test_names_of_facts_may_be_any_collection_but_not_one_text() -> None:
    assert Host(fact_names=["score"]).fact_names == frozenset({"score"})  # type: ignore[arg-type]
    with pytest.raises(SettingsInvalid, match="fact_names"):
        Host(fact_names="score")  # type: ignore[arg-type]


async def test_without_policies_nothing_is_allowed() -> None:
    async with Gate.open(tools=Shelf().tools, policies=[PolicySource("none", "")], settings=Settings()) as gate:
        assert code(await gate.call(search(), principal=ALICE)) == "TOOL_NOT_FOUND"
