"""What the ops of a SQLite store work with: one connection, the books, the chain, and who this process is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from interlock.core.budget import Reservation
from interlock.core.effect import CallState
from interlock.core.frozen import frozen
from interlock.ports import Intent
from interlock.store.locks import Presence
from interlock.store.rows import Cell
from interlock.store.sqlite_books import SqliteBooks
from interlock.store.sqlite_chain import SqliteChain
from interlock.store.sqlite_db import Db

Place = tuple[str, str]
"""Tenant and operation id."""

KEYS_MAX = 50_000
"""How many keys are remembered: 6 MB at most."""


@frozen
class Standing:
    """Where a call stands, as far as settling it has to know: from this process's own claim, or read from its row."""

    rowid: int
    state: CallState
    fence: int
    run: str | None
    holds: tuple[Reservation, ...]


@dataclass(slots=True)
class Desk:
    """What ops work with. `may_ask` is false only while surely no question waits for an answer.

    `fused` are the reads that are held in memory alone, `claimed` the claims that this process has made and will
    settle, which nobody else can change while it lives. Both by tenant and operation id. `keys` are some that calls
    had: a look for one of them guesses nothing. `insert_call` and `settle_call` write the two rows of a call.
    """

    db: Db
    books: SqliteBooks
    chain: SqliteChain
    presence: Presence
    owner: int
    epoch: int = 0
    may_ask: bool = True
    fused: dict[Place, Intent] = field(default_factory=dict)
    claimed: dict[Place, Standing] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    insert_call: Callable[[Sequence[Cell]], object] = field(init=False)
    settle_call: Callable[[Sequence[Cell]], object] = field(init=False)

    def __post_init__(self) -> None:
        self.insert_call, self.settle_call = self.db.statement("insert_call"), self.db.statement("settle_call")

    def know_key(self, key: str | None) -> None:
        """Remember that a call has this key, or had it; all are forgotten now and then."""
        if len(self.keys) >= KEYS_MAX:
            self.keys.clear()
        if key is not None:
            self.keys.add(key)
