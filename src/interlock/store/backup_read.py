"""Reads a backup without changing a byte of it: whether it is whole, what it is, and its audit log."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.parse import quote

import apsw

from interlock.core.chain import Head
from interlock.core.checkpoint import Checkpoint
from interlock.core.errors import BackupInvalid, StoreNewer
from interlock.core.frozen import frozen
from interlock.core.journal import AuditQuery, AuditRecord
from interlock.core.key_mark import KeyMark
from interlock.store import sqlite_chain, sqlite_copies, sqlite_keys
from interlock.store.backup_file import beside
from interlock.store.queries import migrations
from interlock.store.seal import NoSeal, Seal
from interlock.store.sqlite_copies import Copy
from interlock.store.sqlite_db import Db

SINCE: Final = {"keys": 2, "copy": 3}
"""The version of the schema from which a table is there."""


class ClosedDb(Db):
    """A database that nobody uses, opened so that nothing is written, not even beside it."""

    def __init__(self, path: Path, *, seal: Seal) -> None:
        place = f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1"
        self._use(apsw.Connection(place, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI), seal=seal)


class ClosedLog:
    """The audit log of a backup."""

    def __init__(self, db: Db) -> None:
        self._db = db

    async def records(self, query: AuditQuery) -> tuple[AuditRecord, ...]:
        """Records in order of chain and sequence, with payloads where kept, at most `query.limit`."""
        return sqlite_chain.records(self._db, query=query)

    async def heads(self) -> tuple[Head, ...]:
        """Where every chain stands."""
        return sqlite_chain.heads(self._db)

    async def checkpoints(self) -> tuple[Checkpoint, ...]:
        """All of them, by number."""
        return sqlite_chain.checkpoints(self._db)


@frozen
class Found:
    """What a backup holds: which version of the schema, whose keys, which copy, and how far it goes.

    `open_calls` were claimed or unknown when it was taken, the oldest of them since `open_since_us`. `last_us` is the
    time of its newest record: of what came later it knows nothing.
    """

    schema: int
    keys: KeyMark | None
    copy: Copy | None
    open_calls: int
    open_since_us: int | None
    last_us: int | None


def inspected(path: Path) -> Found:
    """Look whether the file is a whole store. Raises `BackupInvalid` or `StoreNewer`."""
    _refuse_unlike(path)
    try:
        with closing(ClosedDb(path, seal=NoSeal())) as db:
            schema = _version(db)
            _refuse_damaged(db)
            return _found(db, schema=schema)
    except (apsw.NotADBError, apsw.CorruptError) as fault:
        raise BackupInvalid(f"{path} is damaged, or no store: {fault}") from fault


def _found(db: Db, *, schema: int) -> Found:
    count, since_us = db.one("count_open") or (0, None)
    last = db.one("last_record")
    return Found(
        schema,
        sqlite_keys.found(db) if schema >= SINCE["keys"] else None,
        sqlite_copies.copy_of(db) if schema >= SINCE["copy"] else None,
        count,
        since_us,
        None if last is None else last[0],
    )


def _refuse_unlike(path: Path) -> None:
    if not path.is_file():
        raise BackupInvalid(f"there is no file {path}")
    # What a reader keeps beside it (-shm) says nothing; what is in a log is not in the file yet.
    unsaved = [each.name for each in beside(path) if each.stat().st_size and not each.name.endswith("-shm")]
    if unsaved:
        raise BackupInvalid(
            f"{path} is a store in use, or one whose process was killed, with {', '.join(unsaved)} beside it: "
            "take a backup of it with `interlock backup create`"
        )


def _version(db: Db) -> int:
    version, known = int(db.connection.pragma("user_version")), len(migrations())
    if version > known:
        raise StoreNewer(f"the backup has version {version}; this Interlock knows versions up to {known}")
    tables = {row[0] for row in db.connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if version == 0 or not {"audit", "chains", "calls"} <= tables:
        raise BackupInvalid("the file is a database, but no store of Interlock")
    return version


def _refuse_damaged(db: Db) -> None:
    (says,) = db.connection.execute("PRAGMA integrity_check(1)").fetchone() or ("",)
    if says != "ok":
        raise BackupInvalid(f"the database is damaged: {says}")
