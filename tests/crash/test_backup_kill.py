"""Killed in the middle of a copy, nothing stands under its name, and the next one succeeds all the same."""

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from interlock.store.backup import back_up
from interlock.store.backup_read import inspected
from interlock.store.sqlite import SqliteStore
from interlock.store.sqlite_copies import Copy
from interlock.testing.store_values import Values

# Kills itself once so much is copied, or whole but not in place yet.
COPIES = """
import os, signal, sys
from pathlib import Path
from interlock.store import backup, backup_file
from interlock.store.sqlite_copies import Copy

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def tell(done, total):
    if done * 2 > total:
        die()

backup.PAGES = 8
source, target, moment = sys.argv[1:]
if moment == "placing":
    backup_file._sync = die
backup.back_up(Path(source), Path(target), copy=Copy("a", 1), tell=tell if moment == "copying" else backup_file.untold)
"""


@pytest.mark.parametrize("moment", ["copying", "placing"])
async def test_a_copy_that_was_killed_leaves_nothing_under_its_name(tmp_path: Path, moment: str) -> None:
    store, values, target = await SqliteStore.open(tmp_path / "a.db", chain="main"), Values(), tmp_path / "b"
    await asyncio.gather(*[store.append(values.event(data=b"x" * 1_000)) for _ in range(300)])
    killed = await asyncio.create_subprocess_exec(sys.executable, "-c", COPIES, str(store.path), str(target), moment)
    assert await asyncio.wait_for(killed.wait(), 30) == -signal.SIGKILL
    assert (target.exists(), target.with_name("b.part").exists()) == (False, True)
    back_up(store.path, target, copy=Copy("b", 2))
    assert inspected(target).copy == Copy("b", 2)
    assert not target.with_name("b.part").exists()
    await store.append(values.event())
    await store.close()
