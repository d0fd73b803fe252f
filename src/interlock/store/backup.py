"""Copies a SQLite store into one file while it is used.

The copy is one moment of the store: a reader holds it still for itself, and no writer waits. Only SQLite's log grows
until the copy is done, since what the reader sees must stay. The key is not in it: whoever finds a backup can neither
sign a log with it nor, where the store is sealed, read what it holds.
"""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final

import apsw

from interlock.core.errors import StoreError
from interlock.store.backup_file import Placed, Tell, draft_of, placed, untold
from interlock.store.seal import NoSeal
from interlock.store.sqlite_copies import Copy, be_copy, refuse_moved
from interlock.store.sqlite_db import Db, prepare

PAGES: Final = 2_048
"""How much is copied at a time: 8 MB."""


def back_up(source: Path, target: Path, *, copy: Copy, tell: Tell = untold) -> Placed:
    """Copy the store to a new file. Raises `StoreError`, and leaves nothing under that name then."""
    if not source.is_file():
        raise StoreError(f"there is no store {source}")
    with draft_of(target) as draft:
        _copy_pages(source, draft, tell=tell)
        _be_one_file(draft, copy=copy)
        return placed(draft, target)


def _copy_pages(source: Path, draft: Path, *, tell: Tell) -> None:
    with ExitStack() as opened:
        reader = opened.enter_context(closing(apsw.Connection(str(source))))
        reader.set_busy_timeout(5_000)
        reader.execute("PRAGMA query_only = ON")
        reader.execute("BEGIN")
        # The first read decides which moment it is; without one, a write in between would begin the copy anew.
        reader.execute("SELECT 1 FROM sqlite_schema").fetchone()
        writer = opened.enter_context(closing(apsw.Connection(str(draft))))
        # Durable once it is whole; before that nobody needs it.
        writer.execute("PRAGMA synchronous = OFF")
        with writer.backup("main", reader, "main") as copying:
            while not copying.done:
                copying.step(PAGES)
                tell(copying.page_count - copying.remaining, copying.page_count)


def _be_one_file(draft: Path, *, copy: Copy) -> None:
    """Say in the copy that it is one, and leave nothing of it in a log beside it."""
    with closing(Db(draft, seal=NoSeal())) as db:
        prepare(db)
        refuse_moved(db)
        be_copy(db, copy=copy)
        db.connection.execute("PRAGMA journal_mode = DELETE")
