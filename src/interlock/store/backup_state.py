"""How a SQLite store stands, for people who look after it: its size, what is open, when it was signed and copied."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw

from interlock.core.frozen import frozen
from interlock.core.journal import EventKind
from interlock.store.rows import read_checkpoint
from interlock.store.seal import NoSeal
from interlock.store.sqlite_db import Db


@frozen
class StoreState:
    """Sizes are bytes, times microseconds since 1970 UTC; None where there is nothing of the kind.

    `log_bytes` is SQLite's write-ahead log, which grows while a reader holds one moment still.
    """

    size_bytes: int
    log_bytes: int
    free_bytes: int
    open_calls: int
    open_since_us: int | None
    checkpoint_us: int | None
    backed_up_us: int | None


def state_of(store: Path) -> StoreState:
    """Read from the side: no process that has the store open notices."""
    log = store.with_name(f"{store.name}-wal")
    with closing(Db(store, seal=NoSeal())) as db:
        db.connection.execute("PRAGMA query_only = ON")
        with db.one_moment():
            count, since_us = db.one("count_open") or (0, None)
            checkpoint = db.one("select_last_checkpoint")
            copied = db.one("last_of_kind", EventKind.BACKED_UP)
            return StoreState(
                store.stat().st_size,
                log.stat().st_size if log.exists() else 0,
                _pragma(db.connection, "freelist_count") * _pragma(db.connection, "page_size"),
                count,
                since_us,
                None if checkpoint is None else read_checkpoint(checkpoint[0]).time_us,
                None if copied is None else copied[0],
            )


def _pragma(connection: apsw.Connection, name: str) -> int:
    return int(connection.pragma(name))
