"""Rows of calls and approvals as a PostgreSQL store works on them, and the places that they have."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from hashlib import sha256
from operator import attrgetter

import orjson

from interlock.core.budget import Reservation, ScopeKey
from interlock.core.effect import CallState
from interlock.core.recovery import NO_LOOKS, Looks
from interlock.ports import OpenCall, StoredOperation
from interlock.store.postgres_line import Row
from interlock.store.rows import read_holds
from interlock.store.seal import Seal, of_call

NOBODY = 0
"""The owner of a call that nobody is at work on; owners count from 1."""


@lru_cache(8_192)
def place_of(*parts: str) -> bytes:
    """Where a row stands: one size for texts of any length, which cannot be moved from one part to the next.

    Remembered, for what is said of one call names its place a dozen times.
    """
    return sha256("\x00".join(parts).encode()).digest()


@lru_cache(65_536)
def place_of_scope(scope: ScopeKey) -> bytes:
    """Where a scope's usage stands. Remembered, for most calls meet the same scopes."""
    tenant, kind, name, window_us = scope
    return place_of(tenant, kind, name, str(window_us))


@dataclass(slots=True)
class CallRow:
    """One call. Of one that this process has claimed itself, what settling it needs not is left empty."""

    place: bytes
    tenant: str
    id: str
    state: CallState
    fence: int
    taken_over: bool
    owner: int
    at_us: int
    until_us: int
    settled_us: int | None
    key_place: bytes | None
    holds_key: bool
    run: str | None
    task: str | None
    head: bytes
    holds: tuple[Reservation, ...]
    labels: bytes | None
    operation_sealed: bytes
    observation_sealed: bytes | None
    looks_count: int
    looks_next_us: int
    looks_escalated: bool
    owner_lives: bool

    @property
    def looks(self) -> Looks:
        """How often it was looked up under this fence."""
        return Looks(self.looks_count, self.looks_next_us, self.looks_escalated)

    @looks.setter
    def looks(self, looks: Looks) -> None:
        self.looks_count, self.looks_next_us, self.looks_escalated = looks.count, looks.next_us, looks.escalated


def copied(row: CallRow) -> CallRow:
    """Another like it, to be changed."""
    return CallRow(*_CELLS(row))


def read_call(row: Row) -> CallRow:
    """A row of `select_calls`."""
    found = CallRow(*row)
    found.state, found.holds = CallState(row[3]), read_holds(row[15])
    return found


def write_head(operation: StoredOperation) -> bytes:
    """What an operation is known by, beside what has a column."""
    return orjson.dumps(dict(zip(_HEAD, _HEADS(operation), strict=True)))


def open_call(row: CallRow, *, seal: Seal, looks: Looks = NO_LOOKS) -> OpenCall:
    """The call as recovery finds it."""
    place = (row.tenant, row.id)
    sealed = open_sealed(seal, place=place, sealed=row.operation_sealed) or b""
    operation = StoredOperation(
        id=row.id, tenant=row.tenant, run=row.run, task=row.task, sealed=sealed, **orjson.loads(row.head)
    )
    orphaned = not row.state.is_final and not row.owner_lives
    observation = open_sealed(seal, place=place, sealed=row.observation_sealed)
    return OpenCall(operation, row.state, row.fence, row.at_us, orphaned, row.taken_over, observation, looks)


def open_sealed(seal: Seal, *, place: tuple[str, str], sealed: bytes | None) -> bytes | None:
    """Retention leaves an empty operation, which was never sealed."""
    return seal.open(sealed, context=of_call(*place)) if sealed else sealed


_CELLS = attrgetter(*(each.name for each in fields(CallRow)))

_HEAD = (
    "tool",
    "source",
    "version",
    "spec_digest",
    "digest",
    "model_digest",
    "principal",
    "call_id",
    "key",
    "repeatable",
)
_HEADS = attrgetter(*_HEAD)


@dataclass(slots=True)
class ApprovalRow:
    """One approval with its operation, both sealed."""

    place: bytes
    tenant: str
    id: str
    state: str
    approval_sealed: bytes
    operation_sealed: bytes
    key_place: bytes | None
    asked_at_us: int = 0
    run_place: bytes | None = None
