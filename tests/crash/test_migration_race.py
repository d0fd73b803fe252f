"""Processes that start at once on a file that is not there yet: one makes it, and all work."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from interlock.core.journal import AuditQuery
from interlock.store.sqlite import SqliteStore
from interlock.testing.store_contract_shared import verified
from tests.crash.test_store_processes import line, process

pytestmark = pytest.mark.crash


@pytest.mark.requirement("SCALE-1")
async def test_processes_that_start_at_once_migrate_once(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with ExitStack() as all_of_them:
        names = [f"p{number}" for number in range(4)]
        started = [all_of_them.enter_context(process("work", str(path), name, "16", "1000")) for name in names]
        for each in started:
            assert line(each) == "ready"
            assert line(each) == "won 16"
            assert each.wait() == 0
    store = await SqliteStore.open(path, chain="after")
    # Of each process eight effects with two records and eight reads with one.
    assert len(await store.records(AuditQuery())) == 4 * (8 * 2 + 8)
    await verified(store)
    await store.close()
