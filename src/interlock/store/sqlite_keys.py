"""The mark of the keys that a SQLite store was first opened with."""

from __future__ import annotations

from interlock.core.errors import StoreError
from interlock.core.key_mark import KeyMark
from interlock.store.sqlite_db import Db


def found(db: Db) -> KeyMark | None:
    """The mark; None for a store that has none yet."""
    row = db.one("select_keys")
    return None if row is None else KeyMark(*row)


def keep(db: Db, *, mark: KeyMark) -> KeyMark:
    """The mark that the store has from now on: this one, unless it has one already."""
    db.run("insert_keys", mark.fingerprint, mark.check)
    kept = found(db)
    if kept is None:
        raise StoreError("the store does not keep the mark of its keys")
    return kept
