"""The audit chain of a store in memory: real records, really linked, gone with the process."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from interlock.core.chain import Head, Receipt, Record, genesis, link
from interlock.core.journal import RECORD, AuditQuery, AuditRecord, Event, Payload

Parts = tuple[tuple[str, bytes, bytes], ...]
"""Payloads as they are kept: name, salt, data."""

Kept = tuple[bytes, str, str, str, int, str, str, bytes, bytes, Parts]
"""Body and hash of a record, its tenant, kind, time, call and subject, salt and data of its first payload (the record
in full), and those kept beside it.

One tuple of nothing but texts, bytes and numbers, which the garbage collector need not look at again and again.
"""


class MemoryChain:
    """One chain, growing for as long as the process lives."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._digest = bytes.fromhex(genesis(name).hash)
        self._links: list[Kept] = []

    def append(self, event: Event) -> Receipt:
        """Link the event to the end of the chain."""
        sequence = len(self._links) + 1
        body = event.body(self._name, sequence)
        digest = self._digest = link(self._digest, body=body)
        digits, payloads = digest.hex(), event.payloads
        first, kind = payloads[0], str(event.kind)
        beside = () if len(payloads) == 1 else tuple([(each.name, each.salt, each.data) for each in payloads[1:]])
        self._links.append(
            (body, digits, event.tenant, kind, event.at_us, event.call, event.subject, first.salt, first.data, beside)
        )
        return Receipt(self._name, sequence, digits)

    def heads(self) -> tuple[Head, ...]:
        """The chain's head; none while nothing was written."""
        if not self._links:
            return ()
        return (Head(self._name, len(self._links), self._links[-1][1]),)

    def records(self, query: AuditQuery) -> tuple[AuditRecord, ...]:
        """The records that match, in order."""
        return tuple(islice(self._matching(query), query.limit))

    def purge(self, before_us: int, *, open_subjects: frozenset[str]) -> None:
        """Forget what was kept whole of events before then, but of calls that are still open."""
        for index, kept in enumerate(self._links):
            _, _, _, _, at_us, _, subject, *_ = kept
            if at_us < before_us and subject not in open_subjects:
                self._links[index] = (*kept[:-1], ())

    def _matching(self, query: AuditQuery) -> Iterator[AuditRecord]:
        for index in range(self._first(query.after), len(self._links)):
            body, digits, tenant, kind, at_us, call, subject, salt, data, beside = self._links[index]
            if _matches(self._links[index], query):
                record = Record(self._name, index + 1, digits, body)
                payloads = tuple([Payload(*each) for each in ((RECORD, salt, data), *beside)])
                yield AuditRecord(record, tenant, kind, at_us, call, subject, payloads)

    def _first(self, after: tuple[str, int] | None) -> int:
        if after is None or after[0] < self._name:
            return 0
        return after[1] if after[0] == self._name else len(self._links)


def _matches(kept: Kept, query: AuditQuery) -> bool:
    _, _, tenant, kind, at_us, call, subject, *_ = kept
    return (
        query.tenant in (None, tenant)
        and query.kind in (None, kind)
        and query.call in (None, call)
        and query.subject in (None, subject)
        and (query.since_us is None or at_us >= query.since_us)
    )
