"""`interlock doctor` says how the store stands, and what to do where that could be better."""

from pathlib import Path

import pytest

from interlock.core.journal import EventKind
from interlock.doors.cli import doctor_store
from interlock.doors.cli.doctor import GOOD, WANTING, Check
from interlock.doors.cli.doctor_store import store_checks
from interlock.store.sqlite import SqliteStore
from interlock.testing.store_values import Values
from tests.unit.doors.cli.conftest import Cli


async def checks(store: Path) -> dict[str, Check]:
    return {each.name: each for each in await store_checks(store)}


@pytest.mark.requirement("DOOR-6")
async def test_a_store_that_nobody_copied_says_how_to(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "a.db", chain="main")
    await store.close()
    found = await checks(store.path)
    assert {name for name, each in found.items() if each.state == WANTING} == {"checkpoint", "backup"}
    assert "backup create" in found["backup"].next_step
    assert "MB" in found["store size"].found


@pytest.mark.requirement("DOOR-6")
def test_doctor_tells_it_with_the_rest_and_a_copy_is_seen(cli: Cli, project: Path, waiting: str) -> None:
    assert cli("backup", "create", "b.bak").code == 0
    states = {each["name"]: each["state"] for each in cli("doctor", "--json").document["checks"]}
    assert {name: states[name] for name in ("store size", "open calls", "checkpoint", "backup")} == dict.fromkeys(
        ("store size", "open calls", "checkpoint", "backup"), GOOD
    )


async def test_what_is_old_or_large_could_be_better(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, values = await SqliteStore.open(tmp_path / "a.db", chain="main"), Values()
    await store.claim(values.intent("k"))
    await store.append(values.event(EventKind.BACKED_UP))
    monkeypatch.setattr(doctor_store, "LOG_BYTES_MAX", 1)
    found = await checks(store.path)
    assert {name: each.state for name, each in found.items() if each.name != "checkpoint"} == dict.fromkeys(
        ("store size", "open calls", "backup"), WANTING
    )
    assert "recover" in found["open calls"].next_step
    await store.close()
