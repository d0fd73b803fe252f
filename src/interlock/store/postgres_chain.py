"""The audit chains of a PostgreSQL store, read: records in order, whichever process wrote them."""

from __future__ import annotations

from interlock.core.chain import Record
from interlock.core.journal import AuditQuery, AuditRecord
from interlock.store.postgres_line import Line, Row
from interlock.store.postgres_sheet import place_in_chain
from interlock.store.rows import unframe
from interlock.store.seal import Seal, of_record

_SEQUENCES = (1 << 40) - 1


async def read_records(line: Line, *, query: AuditQuery, seal: Seal) -> tuple[AuditRecord, ...]:
    """Records in order of chain and sequence, at most `query.limit`."""
    found: list[AuditRecord] = []
    (chains,) = await line.trip(("select_chains", ()))
    for chain, name, _, _ in chains:
        start, left = _start(name, after=query.after), query.limit - len(found)
        if start is not None and left > 0:
            span = {"after": place_in_chain(chain, sequence=start), "last": place_in_chain(chain, sequence=_SEQUENCES)}
            (rows,) = await line.trip((_select(query), {**_values(query), **span, "limit": left}))
            found += [_record(row, name=name, seal=seal) for row in rows]
    return tuple(found)


def _record(row: Row, *, name: str, seal: Seal) -> AuditRecord:
    place, digest, body, tenant, kind, at_us, call, subject, first, sealed = row
    kept = None if sealed is None else seal.open(sealed, context=of_record(place))
    record = Record(name, place & _SEQUENCES, digest.hex(), body)
    return AuditRecord(record, tenant, kind, at_us, call, subject, unframe(first) + unframe(kept))


def _select(query: AuditQuery) -> str:
    if query.subject:
        return "select_records_of_subject"
    return "select_records_of_call" if query.call else "select_records"


def _values(query: AuditQuery) -> dict[str, object]:
    return {
        "tenant": query.tenant,
        "kind": query.kind,
        "call": query.call,
        "subject": query.subject,
        "since_us": query.since_us,
    }


def _start(name: str, *, after: tuple[str, int] | None) -> int | None:
    """After which sequence of this chain to read; None: nothing of it."""
    if after is None or name > after[0]:
        return 0
    return after[1] if name == after[0] else None
