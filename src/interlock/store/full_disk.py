"""Says of a fault of SQLite whether the disk is full, which is no fault of the store and is mended by making room."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import apsw

from interlock.core.errors import StoreFull

_NO_ROOM: Final = frozenset({apsw.SQLITE_IOERR_SHMSIZE})
"""I/O errors that say nothing but that a file could not grow."""


def full_disk(fault: BaseException, path: str | Path) -> StoreFull | None:
    """The fault to raise where a disk was full; None where something else went wrong."""
    is_full = isinstance(fault, apsw.FullError)
    if not is_full and not (isinstance(fault, apsw.IOError) and getattr(fault, "extendedresult", None) in _NO_ROOM):
        return None
    return StoreFull(
        f"the disk of {path} is full, so nothing can be put on record and nothing more is run: make room there, then"
        " open the gate anew, which looks up what was on its way"
    )
