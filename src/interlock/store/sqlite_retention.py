"""Retention in SQLite: forgets what was kept whole, in steps that each fit into an ordinary transaction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from interlock.core.frozen import frozen
from interlock.store.rows import Cell
from interlock.store.sqlite_chain import place_of
from interlock.store.sqlite_db import Db

STEP_ROWS: Final = 2_000


@frozen
class Step:
    """One query and its values."""

    query: str
    values: dict[str, Cell]


def steps(db: Db, *, before_us: int) -> Iterator[Step]:
    """Every record and call that there is now, some thousand at a time."""
    for chain, _, sequence, _ in db.all("select_chains"):
        for after in range(0, sequence, STEP_ROWS):
            span = {"after": place_of(chain, sequence=after), "last": place_of(chain, sequence=after + STEP_ROWS)}
            yield Step("purge_records", {**span, "before_us": before_us})
    last = db.one("select_last_call") or (0,)
    for after in range(0, last[0], STEP_ROWS):
        yield Step("purge_calls", {"after": after, "last": after + STEP_ROWS, "before_us": before_us})
    yield Step("purge_usage", {"before_us": before_us})
    yield Step("purge_look_ups", {})


def purge(db: Db, *, step: Step) -> None:
    """Overwrite what is deleted, or free pages would keep it; SQLite's log has it until its next checkpoint."""
    db.connection.execute("PRAGMA secure_delete = ON")
    db.named(step.query, step.values)
    db.connection.execute("PRAGMA secure_delete = OFF")
