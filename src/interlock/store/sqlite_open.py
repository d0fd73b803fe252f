"""Opens a SQLite store: who else is here, the schema, this process's chain and owner, and the two connections."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import apsw

from interlock.core.errors import StoreError
from interlock.core.frozen import frozen
from interlock.store import sqlite_catalogue, sqlite_copies
from interlock.store.full_disk import full_disk
from interlock.store.locks import Presence
from interlock.store.seal import Seal
from interlock.store.sqlite_books import SqliteBooks
from interlock.store.sqlite_chain import SqliteChain
from interlock.store.sqlite_db import Db, prepare
from interlock.store.sqlite_desk import Desk


@frozen
class Opened:
    """What an open store works with: the desk of the connection that writes, and the connection that only reads."""

    path: Path
    desk: Desk
    reader: Db


def opened(path: Path, *, chain: str, seal: Seal) -> Opened:
    """Everything open, or nothing left behind. Waits for other processes, so not for an event loop.

    Raises `StoreFull` where the disk is full, and as `SqliteStore.open` says.
    """
    try:
        return _opened(path, chain=chain, seal=seal)
    except apsw.Error as fault:
        full = full_disk(fault, path)
        if full is None:
            raise
        raise full from fault


def _opened(path: Path, *, chain: str, seal: Seal) -> Opened:
    if path.is_dir():
        raise StoreError(f"{path} is a folder: name a file in it for the store")
    if not path.parent.is_dir():
        raise StoreError(f"there is no folder {path.parent} for the store")
    with ExitStack() as undo:
        presence = Presence(path.with_name(path.name + "-locks"))
        undo.callback(presence.leave)
        presence.enter()
        with presence.turnstile.passed():
            _create(path)
            db = Db(path, seal=seal)
            undo.callback(db.close)
            prepare(db)
            desk = _move_in(db, presence=presence, chain=chain)
            reader = desk.books.source = _reader(path, seal=seal)
        undo.pop_all()
        return Opened(path, desk, reader)


def _create(path: Path) -> None:
    """A new file is for its owner's eyes only; an old one must not be opened, which would drop SQLite's own locks."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return


def _move_in(db: Db, *, presence: Presence, chain: str) -> Desk:
    sqlite_copies.refuse_moved(db)
    sqlite_copies.refuse_backup(db)
    name = next(name for name in _names(chain + sqlite_copies.branch(db)) if presence.take_chain(name))
    db.connection.execute("BEGIN IMMEDIATE")
    own = SqliteChain(db, name=name)
    row = db.one("insert_owner", own.id)
    if row is None:
        raise StoreError("the store has no place for this process")
    presence.sweep()
    presence.be_owner(row[0])
    desk = Desk(db, SqliteBooks(db), own, presence, row[0], sqlite_catalogue.epoch(db))
    db.connection.execute("COMMIT")
    return desk


def _names(chain: str) -> Iterator[str]:
    """The chain as named, and what it is called while another process writes that."""
    return (chain if number == 1 else f"{chain}.{number}" for number in count(1))


def _reader(path: Path, *, seal: Seal) -> Db:
    reader = Db(path, seal=seal)
    reader.connection.execute("PRAGMA query_only = ON")
    return reader
