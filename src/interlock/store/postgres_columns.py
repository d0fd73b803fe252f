"""The columns of rows as they are written to PostgreSQL: as arrays for many rows, as values for one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final

from interlock.core.budget import Reservation, ScopeKey
from interlock.core.run import RunFacts
from interlock.store.postgres_arrays import bigints, blobs, bools, texts
from interlock.store.postgres_rows import CallRow
from interlock.store.rows import write_holds, write_run


def scope_columns(rows: list[tuple[bytes, ScopeKey]]) -> tuple[object, ...]:
    """Places with what their scopes are known by."""
    scopes = [scope for _, scope in rows]
    return (
        blobs([place for place, _ in rows]),
        texts([scope.tenant for scope in scopes]),
        texts([scope.kind for scope in scopes]),
        texts([scope.id for scope in scopes]),
        bigints([scope.window_us for scope in scopes]),
    )


def columns(rows: Sequence[object], *, of: Mapping[str, Callable[[list[Any]], object]]) -> tuple[object, ...]:
    """Each column of these rows as an array."""
    return tuple([column(list(map(attrgetter(name), rows))) for name, column in of.items()])


def facts_columns(runs: list[RunFacts]) -> tuple[object, ...]:
    """What runs have done."""
    versions, facts = bigints([run.version for run in runs]), blobs([write_run(run) for run in runs])
    return versions, facts, texts([run.ended for run in runs])


def value_of(row: CallRow, name: str) -> object:
    """One of its columns as a value."""
    return write_holds(row.holds) if name == "holds" else getattr(row, name)


def _held(holds: list[tuple[Reservation, ...]]) -> object:
    return blobs([write_holds(each) for each in holds])


WHAT_CHANGES: Final[Mapping[str, Callable[[list[Any]], object]]] = {
    "place": blobs,
    "state": texts,
    "fence": bigints,
    "taken_over": bools,
    "owner": bigints,
    "settled_us": bigints,
    "holds_key": bools,
    "holds": _held,
    "labels": blobs,
    "observation_sealed": blobs,
    "looks_count": bigints,
    "looks_next_us": bigints,
    "looks_escalated": bools,
}

CALL: Final[Mapping[str, Callable[[list[Any]], object]]] = {
    "place": blobs,
    "tenant": texts,
    "id": texts,
    "state": texts,
    "fence": bigints,
    "taken_over": bools,
    "owner": bigints,
    "at_us": bigints,
    "until_us": bigints,
    "settled_us": bigints,
    "key_place": blobs,
    "holds_key": bools,
    "run": texts,
    "task": texts,
    "head": blobs,
    "holds": _held,
    "labels": blobs,
    "operation_sealed": blobs,
    "observation_sealed": blobs,
}

APPROVAL: Final[Mapping[str, Callable[[list[Any]], object]]] = {
    "place": blobs,
    "tenant": texts,
    "id": texts,
    "state": texts,
    "key_place": blobs,
    "asked_at_us": bigints,
    "run_place": blobs,
    "approval_sealed": blobs,
    "operation_sealed": blobs,
}
