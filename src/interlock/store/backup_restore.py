"""Makes a store of a backup or a dump, in a place where there is none. It is proved before it is put there."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from interlock.core.errors import NotWritten
from interlock.store.backup_file import BLOCK_BYTES, Placed, Tell, beside, draft_of, placed, untold
from interlock.store.locks import FileLock
from interlock.store.seal import NoSeal
from interlock.store.sqlite_copies import Copy, be_restored
from interlock.store.sqlite_db import Db, prepare

Fill = Callable[[Path], None]
"""Writes what is restored into the empty file at this path."""

Check = Callable[[Path], Copy]
"""The copy that the store at this path becomes. Raises where it must not become one."""


def restore(target: Path, *, fill: Fill, check: Check) -> tuple[Placed, int]:
    """The store that was put in place, and how many unused questions and grants are void in it.

    Raises `NotWritten`, or whatever `check` raises of the copy that would be put there, and changes nothing then.
    """
    refuse_used(target)
    with draft_of(target) as draft:
        fill(draft)
        copy = check(draft)
        voided = _be_store(draft, copy=copy)
        refuse_used(target)
        return placed(draft, target), voided


def copied(backup: Path, draft: Path, *, tell: Tell = untold) -> None:
    """Fill a draft with a backup."""
    total, done = backup.stat().st_size, 0
    with backup.open("rb") as source, draft.open("r+b") as target:
        while block := source.read(BLOCK_BYTES):
            target.write(block)
            done += len(block)
            tell(done, total)


def refuse_used(target: Path) -> None:
    """Raise `NotWritten` where a store is, was a moment ago, or is still open though its file is gone."""
    left = beside(target)
    if left and not target.exists():
        names = ", ".join(each.name for each in left)
        raise NotWritten(f"{names} of another store lies there and would be mixed into this one: move it away first")
    mode = target.with_name(f"{target.name}-locks") / "mode"
    if not mode.exists():
        return
    with closing(FileLock(mode)) as lock:
        if not lock.try_exclusive():
            raise NotWritten(f"a process has the store {target} open: end it first")


def _be_store(draft: Path, *, copy: Copy) -> int:
    with closing(Db(draft, seal=NoSeal())) as db:
        prepare(db)
        db.connection.execute("BEGIN IMMEDIATE")
        voided = be_restored(db, copy=copy)
        db.connection.execute("COMMIT")
        db.connection.execute("PRAGMA journal_mode = DELETE")
        return voided
