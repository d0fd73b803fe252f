"""What the ops of a SQLite store work with: one connection, the books, the chain, and who this process is."""

from __future__ import annotations

from dataclasses import dataclass, field

from interlock.ports import Intent
from interlock.store.locks import Presence
from interlock.store.sqlite_books import SqliteBooks
from interlock.store.sqlite_chain import SqliteChain
from interlock.store.sqlite_db import Db

Place = tuple[str, str]
"""Tenant and operation id."""


@dataclass(slots=True)
class Desk:
    """What ops work with. `fused` are the reads that are held in memory alone, by tenant and operation id."""

    db: Db
    books: SqliteBooks
    chain: SqliteChain
    presence: Presence
    owner: int
    epoch: int = 0
    fused: dict[Place, Intent] = field(default_factory=dict)
