"""Puts a new file in its place whole or not at all, whatever happens while it is written: full disk, kill, power.

It is written as `NAME.part` beside its place, under a lock, made durable, then linked under its name, which overwrites
nothing. What a killed process left is a `.part` that nobody holds, and the next one writes over it.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Final

import apsw

from interlock.core.errors import NotWritten
from interlock.core.frozen import frozen

Tell = Callable[[int, int], None]
"""Told how much is done, of how much."""

BLOCK_BYTES: Final = 1 << 20

_BESIDE: Final = ("-wal", "-shm", "-journal")
_NO_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS})
_FULL: Final = frozenset({errno.ENOSPC, errno.EFBIG, errno.EDQUOT})


@frozen
class Placed:
    """A file that is in its place: how long it is, and the SHA-256 of its bytes in hex."""

    path: Path
    size_bytes: int
    sha256: str


def untold(done: int, total: int) -> None:
    """Tells nobody."""


@contextmanager
def draft_of(target: Path) -> Iterator[Path]:
    """A file to write into; it is gone afterwards, `placed` or not. Raises `NotWritten` where there can be none."""
    refuse_taken(target)
    path = target.with_name(f"{target.name}.part")
    file = _held(path)
    try:
        os.ftruncate(file, 0)
        _remove_beside(path)
        yield path
    except (OSError, apsw.Error) as fault:
        raise _explained(fault, target) from fault
    finally:
        path.unlink(missing_ok=True)
        _remove_beside(path)
        os.close(file)


def placed(draft: Path, target: Path) -> Placed:
    """Make the draft durable and put it in its place."""
    size, digest = measured(draft)
    _sync(draft)
    try:
        os.link(draft, target)
    except FileExistsError:
        raise _taken(target) from None
    except OSError as fault:
        if fault.errno not in _NO_LINKS:
            raise
        refuse_taken(target)  # the file system has no links: all that is left is to look first
        draft.rename(target)
    _sync(target.parent)
    return Placed(target, size, digest)


def measured(path: Path) -> tuple[int, str]:
    """A file's length and the SHA-256 of its bytes."""
    digest = sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            digest.update(block)
        return file.tell(), digest.hexdigest()


def refuse_taken(target: Path) -> None:
    """Raise `NotWritten` where something is in that place already, or nothing can be."""
    if not target.parent.is_dir():
        raise NotWritten(f"there is no folder {target.parent}: make it first")
    if os.path.lexists(target):
        raise _taken(target)


def beside(path: Path) -> tuple[Path, ...]:
    """What lies beside a database while it is used, or after its process was killed."""
    return tuple(each for suffix in _BESIDE if (each := path.with_name(path.name + suffix)).exists())


def _taken(target: Path) -> NotWritten:
    return NotWritten(f"{target} exists already, and nothing is overwritten: give another name, or move it away")


def _held(path: Path) -> int:
    """The draft, open, and nobody else at it."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    if not _is_ours(file, path):
        os.close(file)
        raise NotWritten(f"another process is writing {path} just now: wait for it, or give another name")
    return file


def _is_ours(file: int, path: Path) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return path.exists() and os.path.samestat(os.fstat(file), path.stat())


def _remove_beside(path: Path) -> None:
    for each in beside(path):
        each.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _explained(fault: Exception, target: Path) -> NotWritten:
    full = isinstance(fault, apsw.FullError) or getattr(fault, "errno", None) in _FULL
    if full or _is_short_write(fault):
        return NotWritten(f"there is no room for {target}: make room or choose another disk; nothing was left there")
    return NotWritten(f"{target} could not be written, and nothing was left there: {fault}")


def _is_short_write(fault: Exception) -> bool:
    """A limit on the size of files comes as an I/O error of writing, with the cause on record of the connection."""
    return isinstance(fault, apsw.IOError) and getattr(fault, "extendedresult", 0) == apsw.SQLITE_IOERR_WRITE
