"""What a SQLite store knows of being a copy, and of having been moved away.

A copy never continues the chains that it was taken with: its original may have continued them, and two different
records would stand at one place of one chain. So it begins chains of its own, whose names end in its branch, which is
random: two copies of one copy are told apart as well.
"""

from __future__ import annotations

from interlock.core.errors import StoreError, StoreMoved
from interlock.core.frozen import frozen
from interlock.store.sqlite_db import Db


@frozen
class Copy:
    """Which copy a store is: its branch, when it was taken, and when a store was made of it, in microseconds, UTC."""

    branch: str
    taken_us: int
    restored_us: int | None = None


def copy_of(db: Db) -> Copy | None:
    """Which copy this is; None for a store that never was one."""
    row = db.one("select_copy")
    return None if row is None else Copy(*row)


def branch(db: Db) -> str:
    """What the names of this store's own chains end in."""
    copy = copy_of(db)
    return "" if copy is None else f"~{copy.branch}"


def be_copy(db: Db, *, copy: Copy) -> None:
    """From now on this is that copy."""
    db.run("upsert_copy", copy.branch, copy.taken_us, copy.restored_us)


def be_restored(db: Db, *, copy: Copy) -> int:
    """Make a store of a copy; how many questions and grants are void with it.

    Nobody knows what its original did since. A grant that is unused here may have been used there, and would be good a
    second time. A call that is open here may have been taken over there, under a fence that would be given twice; so
    may a run have been. A plan that was undoing effects may be through, and goes on only where a person says so.
    """
    be_copy(db, copy=copy)
    db.run("fence_open")
    db.run("fence_runs")
    db.run("stop_plans")
    db.run("void_unused")
    return db.changes()


def refuse_backup(db: Db) -> None:
    """Raise `StoreError` where this is a copy of which no store was made: what it must not use is still good in it."""
    copy = copy_of(db)
    if copy is not None and copy.restored_us is None:
        raise StoreError("this file is a backup: `interlock backup restore` makes a store of it")


def moved_to(db: Db) -> str | None:
    """Where everything went; None where it is still here."""
    row = db.one("select_moved")
    return None if row is None else str(row[0])


def refuse_moved(db: Db) -> None:
    """Raise `StoreMoved` where everything has gone elsewhere."""
    destination = moved_to(db)
    if destination is not None:
        raise StoreMoved(f"everything in this store was moved to {destination}: open that one instead")


def be_moved(db: Db, *, destination: str, at_us: int) -> None:
    """From now on the store opens no more."""
    db.run("insert_moved", destination, at_us)


def be_here(db: Db) -> None:
    """It did not move after all."""
    db.run("delete_moved")
