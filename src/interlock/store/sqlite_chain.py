"""The audit chains in SQLite: this process appends to one of them and reads all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from interlock.core.chain import Head, Receipt, Record, genesis, link
from interlock.core.checkpoint import BEGINNING, Checkpoint, Mark
from interlock.core.journal import RECORD, AuditQuery, AuditRecord, Event, Payload
from interlock.store.rows import frame, framed, read_checkpoint, unframe, write_checkpoint
from interlock.store.seal import of_record
from interlock.store.sqlite_db import Db, Row

_PLACE_BITS: Final = 40
_LAST: Final = (1 << _PLACE_BITS) - 1


class SqliteChain:
    """The chain of this process; no other writes it, so its head is known without reading it."""

    def __init__(self, db: Db, *, name: str) -> None:
        self._db = db
        self._name = name
        row = db.one("select_chain", name)
        if row is None:
            digest = bytes.fromhex(genesis(name).hash)
            created = db.one("insert_chain", name, digest) or (0,)
            row = (created[0], 0, digest)
        self.id, self._sequence, self._digest = row
        self._written = self._sequence
        self._insert = db.statement("insert_record")

    def append(self, event: Event) -> Receipt:
        """Write the event at the chain's end: an op's last statement, so that no rollback leaves the head too far."""
        sequence = self._sequence + 1
        body = event.body(self._name, sequence)
        digest = link(self._digest, body=body)
        place = place_of(self.id, sequence=sequence)
        payloads, sealed = event.payloads, None
        if len(payloads) == 1 and payloads[0].name == RECORD:  # as most are
            first: bytes | None = framed(payloads[0])
        else:
            first, kept = _split(payloads)
            sealed = None if kept is None else self._db.seal.seal(kept, context=of_record(place))
        self._insert(
            (place, digest, body, event.tenant, event.kind, event.at_us, event.call, event.subject, first, sealed)
        )
        # Only now: an event that could not be written leaves the chain where it was.
        self._sequence, self._digest = sequence, digest
        return Receipt(self._name, sequence, digest.hex())

    @property
    def stand(self) -> tuple[int, bytes]:
        """What `go_back` takes: sequence and hash of the last record."""
        return self._sequence, self._digest

    @property
    def head(self) -> Head:
        """Where the chain stands, this transaction's records included."""
        return Head(self._name, self._sequence, self._digest.hex())

    def go_back(self, stand: tuple[int, bytes]) -> None:
        """Stand there again: the records after it were rolled back."""
        self._sequence, self._digest = stand

    def write(self) -> None:
        """Write the head, once for all records of the transaction."""
        if self._written != self._sequence:
            self._db.run("advance_chain", self._sequence, self._digest, self.id)
            self._written = self._sequence


def place_of(chain: int, *, sequence: int) -> int:
    """The row of a record."""
    return chain << _PLACE_BITS | sequence


def heads(db: Db) -> tuple[Head, ...]:
    """Where every chain stands that has a record."""
    rows = db.all("select_chains")
    return tuple(Head(name, sequence, digest.hex()) for _, name, sequence, digest in rows if sequence)


def records(db: Db, *, query: AuditQuery) -> tuple[AuditRecord, ...]:
    """Records in order of chain and sequence."""
    found: list[AuditRecord] = []
    for chain, name, _, _ in db.all("select_chains"):
        start = _start(name, after=query.after)
        left = query.limit - len(found)
        if start is not None and left > 0:
            rows = db.named(_select(query), {**_values(query), **_span(chain, start=start), "limit": left})
            found += [_record(db, name=name, row=row) for row in rows]
    return tuple(found)


def checkpoints(db: Db) -> tuple[Checkpoint, ...]:
    """All of them, by number."""
    return tuple(read_checkpoint(row[0]) for row in db.all("select_checkpoints"))


def checkpoint(db: Db, *, chain: SqliteChain, draw: Callable[[tuple[Head, ...], Mark], Checkpoint]) -> Checkpoint:
    """Draw the next one of all heads, this transaction's records included, and write it."""
    row = db.one("select_last_checkpoint")
    others = (head for head in heads(db) if head.chain != chain.head.chain)
    stand = sorted((*others, chain.head), key=lambda head: head.chain)
    drawn = draw(tuple(head for head in stand if head.sequence), BEGINNING if row is None else _mark(row))
    db.run("insert_checkpoint", drawn.number, write_checkpoint(drawn))
    return drawn


def _mark(row: Row) -> Mark:
    return read_checkpoint(row[0]).mark


def _split(payloads: tuple[Payload, ...]) -> tuple[bytes | None, bytes | None]:
    """The redacted record, which is shown, apart from what is kept whole, which is sealed."""
    return (
        frame([each for each in payloads if each.name == RECORD]),
        frame([each for each in payloads if each.name != RECORD]),
    )


def _record(db: Db, *, name: str, row: Row) -> AuditRecord:
    place, digest, body, tenant, kind, at_us, call, subject, first, sealed = row
    record = Record(name, place & _LAST, digest.hex(), body)
    payloads = unframe(first)
    if sealed is not None:
        payloads += unframe(db.seal.open(sealed, context=of_record(place)))
    return AuditRecord(record, tenant, kind, at_us, call, subject, payloads)


def _select(query: AuditQuery) -> str:
    if query.subject:
        return "select_records_of_subject"
    return "select_records_of_call" if query.call else "select_records"


def _values(query: AuditQuery) -> dict[str, str | int | None]:
    return {
        "tenant": query.tenant,
        "kind": query.kind,
        "call": query.call,
        "subject": query.subject,
        "since_us": query.since_us,
    }


def _span(chain: int, *, start: int) -> dict[str, int]:
    return {"after": place_of(chain, sequence=start), "last": place_of(chain, sequence=_LAST)}


def _start(name: str, *, after: tuple[str, int] | None) -> int | None:
    """After which sequence of this chain to read; None: nothing of it."""
    if after is None or name > after[0]:
        return 0
    return after[1] if name == after[0] else None
