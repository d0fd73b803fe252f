"""Retention in SQLite: forgets what was kept whole, in steps that each fit into an ordinary transaction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from interlock.core.frozen import frozen
from interlock.store.rows import Cell
from interlock.store.sqlite_chain import place_of
from interlock.store.sqlite_db import Db
from interlock.store.sqlite_runs import place_of as run_place_of

STEP_ROWS: Final = 2_000


@frozen
class Step:
    """One query and its values."""

    query: str
    values: dict[str, Cell]


def steps(db: Db, *, before_us: int, windows_before_us: int | None = None) -> Iterator[Step]:
    """Everything that there is now, some thousand rows at a time.

    A call is emptied by one purge and its row dropped by the next: whoever looks it up meanwhile still learns how it
    ended. Open calls, questions that wait, unused grants and keys that answer are left as they are.
    """
    for chain, _, sequence, _ in db.all("select_chains"):
        for after in range(0, sequence, STEP_ROWS):
            span = {"after": place_of(chain, sequence=after), "last": place_of(chain, sequence=after + STEP_ROWS)}
            yield Step("purge_records", {**span, "before_us": before_us})
    for query, last in _BY_ROW:
        for after in range(0, (db.one(last) or (0,))[0], STEP_ROWS):
            yield Step(query, {"after": after, "last": after + STEP_ROWS, "before_us": before_us})
    yield from _windows(db, before_us=before_us if windows_before_us is None else windows_before_us)
    yield from _runs(db, before_us=before_us)
    yield Step("purge_look_ups", {})
    yield Step("purge_closings", {})
    yield Step("drop_compensated", {})
    yield Step("drop_plans", {"before_us": before_us})


_BY_ROW: Final = (
    ("drop_approvals", "select_last_approval"),
    ("drop_calls", "select_last_call"),
    ("purge_calls", "select_last_call"),
)


def _windows(db: Db, *, before_us: int) -> Iterator[Step]:
    start: tuple[Cell, ...] | None = ("", "", "", 0)
    while start is not None:
        end = db.one("select_usage_place", *start, STEP_ROWS)
        yield Step("drop_usage", {**_place("", start), **_place("end_", end), "before_us": before_us})
        start = end


def _runs(db: Db, *, before_us: int) -> Iterator[Step]:
    """What happened in runs that are over, then the runs: many short ones in one step, a long one in several."""
    first, last, rows = 0, 0, 0
    for number, version in db.all("select_runs_over", before_us):
        for done in range(STEP_ROWS, version, STEP_ROWS):
            span = {"after": run_place_of(number, sequence=0), "last": run_place_of(number, sequence=done)}
            yield Step("drop_run_entries", {**span, "before_us": before_us})
        first, last, rows = first or number, number, rows + (version - 1) % STEP_ROWS + 1
        if rows >= STEP_ROWS:
            yield from _whole_runs(first, last, before_us=before_us)
            first, rows = 0, 0
    if first:
        yield from _whole_runs(first, last, before_us=before_us)


def _whole_runs(first: int, last: int, *, before_us: int) -> Iterator[Step]:
    span = {"after": run_place_of(first, sequence=0), "last": run_place_of(last + 1, sequence=0)}
    yield Step("drop_run_entries", {**span, "before_us": before_us})
    yield Step("drop_runs", {"first": first, "last": last, "before_us": before_us})


def _place(prefix: str, place: tuple[Cell, ...] | None) -> dict[str, Cell]:
    values = place or (None,) * 4
    return {prefix + name: value for name, value in zip(("tenant", "kind", "id", "window_us"), values, strict=True)}


def purge(db: Db, *, step: Step) -> None:
    """Overwrite what is deleted, or free pages would keep it; SQLite's log has it until its next checkpoint."""
    db.connection.execute("PRAGMA secure_delete = ON")
    db.named(step.query, step.values)
    db.connection.execute("PRAGMA secure_delete = OFF")
