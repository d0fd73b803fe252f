"""Moves everything in a SQLite store elsewhere: one of the two opens at any moment, never both.

    nobody has it open -> load and prove the other -> the old one says where it went -> the other is in its place

Killed between the last two steps, neither opens; the same move again finishes it, since the old one still holds all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from interlock.core.dump import Whole
from interlock.core.errors import StoreError
from interlock.store.backup_file import Placed, Tell, draft_of, placed, untold
from interlock.store.dump import lines_of, load
from interlock.store.locks import FileLock, Presence
from interlock.store.seal import NoSeal
from interlock.store.sqlite_copies import be_here, be_moved, moved_to, refuse_moved
from interlock.store.sqlite_db import Db, prepare

Check = Callable[[Path], None]
"""Raises where the store at this path does not hold."""


def move(source: Path, target: Path, *, at_us: int, check: Check, tell: Tell = untold) -> tuple[Placed, Whole]:
    """Move a store to a new file. Raises `StoreError`, or what `check` raises, and leaves it where it was then."""
    target = target.absolute()
    with draft_of(target) as draft, still_here(source, destination=str(target)) as db:
        with db.one_moment():
            whole = load(lines_of(db.connection, tell=tell), draft)
        check(draft)
        with leaving(db, destination=str(target), at_us=at_us):
            return placed(draft, target), whole


@contextmanager
def still_here(source: Path, *, destination: str) -> Iterator[Db]:
    """A store that nobody else has open, and that has not gone elsewhere than where it is to go now."""
    with nobody_else(source), closing(Db(source, seal=NoSeal())) as db:
        prepare(db)
        if moved_to(db) != destination:
            refuse_moved(db)
        yield db


@contextmanager
def leaving(db: Db, *, destination: str, at_us: int) -> Iterator[None]:
    """The store opens no more, unless what is done inside fails."""
    with ExitStack() as undo:
        be_moved(db, destination=destination, at_us=at_us)
        undo.callback(be_here, db)
        yield
        undo.pop_all()


@contextmanager
def nobody_else(store: Path) -> Iterator[None]:
    """Nobody has the store open, nor opens it meanwhile. Raises `StoreError` where somebody has."""
    if not store.is_file():
        raise StoreError(f"there is no store {store}")
    folder = store.with_name(f"{store.name}-locks")
    Presence(folder).leave()  # makes the folder
    with closing(FileLock(folder / "mode")) as lock:
        if not lock.try_exclusive():
            raise StoreError(f"a process has the store {store} open: end it first")
        yield
