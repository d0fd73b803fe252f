"""Killed in the midst of a copy or a move, nothing half is left under its name, and the next one succeeds."""

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from interlock.core.errors import StoreMoved
from interlock.store.backup import back_up
from interlock.store.backup_read import inspected
from interlock.store.move import move
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

# Kills itself once the old store says where it went, before the new one is in its place.
MOVES = """
import os, signal, sys
from pathlib import Path
from interlock.store import move

move.placed = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
move.move(Path(sys.argv[1]), Path(sys.argv[2]), at_us=1, check=lambda _: None)
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


async def test_a_move_that_was_killed_leaves_one_store_at_most_and_is_finished_by_the_next(tmp_path: Path) -> None:
    source, target = tmp_path / "a.db", tmp_path / "b.db"
    store, values = await SqliteStore.open(source, chain="main"), Values()
    await store.claim(values.intent("k"))
    await store.close()
    killed = await asyncio.create_subprocess_exec(sys.executable, "-c", MOVES, str(source), str(target))
    assert await asyncio.wait_for(killed.wait(), 30) == -signal.SIGKILL
    assert not target.exists()
    with pytest.raises(StoreMoved):
        await SqliteStore.open(source, chain="main")
    move(source, target, at_us=2, check=lambda _: None)
    moved = await SqliteStore.open(target, chain="main")
    assert [call.orphaned for call in await moved.open_calls()] == [True]
    await moved.close()
