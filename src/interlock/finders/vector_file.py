"""Keeps vectors of texts in a file, so that a process need not work out again what another has.

What is in it can be worked out anew at any time: one that cannot be used is left alone, and said once.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import apsw

log = logging.getLogger("interlock.finding")

ASKED_AT_ONCE: Final = 500
BUSY_MS: Final = 2_000
_CREATE: Final = "CREATE TABLE IF NOT EXISTS vectors (digest TEXT PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"
_KEEP: Final = "INSERT OR IGNORE INTO vectors (digest, vector) VALUES (?, ?)"
_FIND: Final = "SELECT digest, vector FROM vectors WHERE digest IN (SELECT value FROM json_each(?))"


class VectorFile:
    """One file for one model; several processes may use it. `size_bytes` is that of one vector."""

    def __init__(self, path: Path, *, size_bytes: int) -> None:
        self._path = path
        self._size_bytes = size_bytes
        self._db: apsw.Connection | None = None
        self._is_lost = False

    def found(self, digests: Iterable[str]) -> dict[str, bytes]:
        """Those of the vectors that are in it."""
        wanted, found = list(digests), dict[str, bytes]()
        for at in range(0, len(wanted), ASKED_AT_ONCE):
            listed = "[" + ",".join(f'"{each}"' for each in wanted[at : at + ASKED_AT_ONCE]) + "]"
            found |= self._done(_FIND, [(listed,)])
        return found

    def keep(self, vectors: Mapping[str, bytes]) -> None:
        """Put these in it."""
        self._done(_KEEP, list(vectors.items()))

    def _done(self, sql: str, rows: Sequence[tuple[str | bytes, ...]]) -> dict[str, bytes]:
        if self._is_lost or not rows:
            return {}
        said: list[tuple[str, bytes]] = []
        try:
            db = self._opened()
            with db:
                said += db.executemany(sql, rows)
        except (apsw.Error, OSError, TypeError, ValueError) as fault:
            self._is_lost = True
            log.warning("vectors of tools are not kept in %s, which cannot be used: %s", self._path, fault)
        return {digest: vector for digest, vector in said if len(vector) == self._size_bytes}

    def _opened(self) -> apsw.Connection:
        if self._db is None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._db = apsw.Connection(str(self._path))
            self._db.set_busy_timeout(BUSY_MS)
            self._db.execute(_CREATE)
        return self._db
