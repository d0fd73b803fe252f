"""Opening what the world is reached by: stores and runners, and what is said where one is missing."""

import sys
from pathlib import Path

import pytest

from interlock.adapters import Outside, open_store, runners_for, sandbox_missing
from interlock.core.errors import SettingsInvalid
from interlock.core.redaction import Redactor
from interlock.runners.spool import Spools
from interlock.settings import Settings
from interlock.store.memory import MemoryStore
from interlock.store.sqlite import SqliteStore
from interlock.system import SystemClock


async def test_a_path_is_a_file_and_its_own_name_is_memory(tmp_path: Path) -> None:
    assert isinstance(await open_store(":memory:"), MemoryStore)
    store = await open_store(str(tmp_path / "a.db"))
    assert isinstance(store, SqliteStore)
    await store.close()


async def test_an_address_that_is_no_database_is_refused() -> None:
    with pytest.raises(SettingsInvalid, match="postgresql"):
        await open_store("mysql://x/y")


async def test_a_driver_that_is_missing_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "interlock.store.postgres", None)
    with pytest.raises(SettingsInvalid, match="psycopg"):
        await open_store("postgresql://x/y")


@pytest.mark.requirement("TOOL-6")
async def test_there_is_a_runner_for_every_kind_and_one_that_is_missing_is_said_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spools = Spools(MemoryStore().artifacts, SystemClock(), lambda: "1")
    runners = runners_for(Settings(), redactor=Redactor(), spools=spools, outside=Outside())
    assert [*runners] == ["python", "sandbox", "http", "grpc", "mcp"]
    monkeypatch.setitem(sys.modules, "interlock.runners.mcp", None)
    with pytest.raises(SettingsInvalid, match=r"interlock\[mcp\]"):
        runners["mcp"]
    await runners.close()


async def test_why_programs_cannot_run_here_is_told_in_words_or_not_at_all() -> None:
    assert isinstance(await sandbox_missing(), str)
