"""The books of a SQLite store: a cache of usage and runs, written once for each transaction.

What a read holds in memory alone counts here and is left out on the disk: nobody would release it after a crash.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from interlock.core.budget import (
    NOTHING,
    Amounts,
    Counted,
    Reservation,
    ScopeKey,
    ScopeKind,
    Taken,
    Usage,
    packed,
    unpacked,
)
from interlock.core.run import RunFacts
from interlock.ports import Intent
from interlock.store.books import UNUSED, Books, RunBook, RunKey, UsageBook
from interlock.store.rows import Cell, read_run, write_run
from interlock.store.sqlite_db import Db

CACHED_MAX: Final = 100_000


class SqliteBooks(Books):
    """Reads what it lacks from `source`: the connection that writes during a transaction, else the one that reads."""

    usage: _CachedUsage
    runs: _CachedRuns

    def __init__(self, source: Db) -> None:
        self.source = source
        super().__init__(_CachedUsage(self), runs=_CachedRuns(self))

    def load(self, holds: Iterable[Reservation]) -> None:
        """Know these scopes, so that changing them later reads nothing and cannot fail."""
        self.usage.of(holds.scopes if type(holds) is Taken else [scope for scope, _, _ in holds])

    def write(self, db: Db, *, fused: Iterable[Intent]) -> None:
        """Write what has changed, without what the `fused` reads hold."""
        if self.changed_usage:
            db.run_each("upsert_usage", rows=self._rows(fused))
            self.changed_usage.clear()
        if self.changed_runs:
            runs = [(key, self.runs[key]) for key in self.changed_runs]
            db.run_each("upsert_run", rows=[(*key, run.version, write_run(run), run.ended) for key, run in runs])
            self.changed_runs.clear()

    def forget(self) -> None:
        """Another process has written: read everything anew."""
        self.usage.clear()
        self.runs.clear()

    def trim(self, *, fused: Iterable[Intent]) -> None:
        """Between transactions: forget what can be read again, once there is too much of it."""
        if len(self.usage) > CACHED_MAX:
            kept = self.changed_usage | _held_by(fused).keys()
            self._keep({scope: self.usage[scope] for scope in kept})
        if len(self.runs) > CACHED_MAX:
            changed = {key: self.runs[key] for key in self.changed_runs}
            self.runs.clear()
            self.runs.update(changed)

    def _keep(self, usage: dict[ScopeKey, Counted]) -> None:
        self.usage.clear()
        self.usage.update(usage)

    def _rows(self, fused: Iterable[Intent]) -> list[tuple[Cell, ...]]:
        usage, unwritten = self.usage, _held_by(fused)
        counted = [(scope, *usage[scope]) for scope in self.changed_usage]
        if unwritten:
            counted = [(scope, used, held - packed(unwritten.get(scope, NOTHING))) for scope, used, held in counted]
        return [(*scope, *unpacked(used), *unpacked(held)) for scope, used, held in counted]


def _held_by(fused: Iterable[Intent]) -> dict[ScopeKey, Amounts]:
    """What reads hold in memory alone; they are few, as only those in flight are."""
    held: dict[ScopeKey, Amounts] = {}
    for intent in fused:
        for scope, amounts, _ in intent.reservations:
            held[scope] = held[scope].plus(amounts) if scope in held else amounts
    return held


class _CachedUsage(UsageBook):
    def __init__(self, books: SqliteBooks) -> None:
        self._books = books

    def __missing__(self, scope: ScopeKey) -> Usage:
        usage = self[scope] = stored_usage(self._books.source, scope=scope)
        return usage


class _CachedRuns(RunBook):
    def __init__(self, books: SqliteBooks) -> None:
        self._books = books

    def __missing__(self, key: RunKey) -> RunFacts:
        run = self[key] = stored_run(self._books.source, key=key)
        return run


def stored_usage(db: Db, *, scope: ScopeKey) -> Usage:
    """One scope as it is on the disk."""
    row = db.one("select_usage", *scope)
    return UNUSED if row is None else Usage(Amounts._make(row[:6]), Amounts._make(row[6:]))


def stored_run(db: Db, *, key: RunKey) -> RunFacts:
    """One run as it is on the disk."""
    row = db.one("select_run", *key)
    return RunFacts(key[1]) if row is None else read_run(key[1], version=row[0], facts=row[1], ended=row[2])


def usage_of(db: Db, *, tenant: str) -> dict[ScopeKey, Usage]:
    """Every scope of a tenant as it is on the disk."""
    return {
        ScopeKey(tenant, ScopeKind(kind), name, window_us): Usage(Amounts._make(row[:6]), Amounts._make(row[6:]))
        for kind, name, window_us, *row in db.all("select_usage_of_tenant", tenant)
    }
