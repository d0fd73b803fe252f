"""The audit chain of a store in memory: real records, really linked, gone with the process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from interlock.core.chain import Head, Receipt, Record, genesis, link
from interlock.core.frozen import maker
from interlock.core.journal import AuditQuery, AuditRecord, Event
from interlock.store.rules import without_kept

make_receipt = maker(Receipt)


class MemoryChain:
    """One chain, growing for as long as the process lives."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._digest = bytes.fromhex(genesis(name).hash)
        self._links: list[tuple[Event, bytes, str]] = []

    def append(self, event: Event) -> Receipt:
        """Link the event to the end of the chain."""
        sequence = len(self._links) + 1
        body = event.body(self._name, sequence)
        digest = self._digest = link(self._digest, body=body)
        digits = digest.hex()
        self._links.append((event, body, digits))
        return make_receipt(self._name, sequence, digits)

    def heads(self) -> tuple[Head, ...]:
        """The chain's head; none while nothing was written."""
        if not self._links:
            return ()
        return (Head(self._name, len(self._links), self._links[-1][2]),)

    def records(self, query: AuditQuery) -> tuple[AuditRecord, ...]:
        """The records that match, in order."""
        return tuple(islice(self._matching(query), query.limit))

    def purge(self, before_us: int, *, open_subjects: frozenset[str]) -> None:
        """Forget what was kept whole of events before then, but of calls that are still open."""
        for index, (event, body, digits) in enumerate(self._links):
            if event.at_us < before_us and event.subject not in open_subjects:
                self._links[index] = (replace(event, payloads=without_kept(event.payloads)), body, digits)

    def _matching(self, query: AuditQuery) -> Iterator[AuditRecord]:
        for index in range(self._first(query.after), len(self._links)):
            event, body, digits = self._links[index]
            if _matches(event, query):
                record = Record(self._name, index + 1, digits, body)
                yield AuditRecord(
                    record, event.tenant, event.kind.value, event.at_us, event.call, event.subject, event.payloads
                )

    def _first(self, after: tuple[str, int] | None) -> int:
        if after is None or after[0] < self._name:
            return 0
        return after[1] if after[0] == self._name else len(self._links)


def _matches(event: Event, query: AuditQuery) -> bool:
    return (
        query.tenant in (None, event.tenant)
        and query.kind in (None, event.kind.value)
        and query.call in (None, event.call)
        and query.subject in (None, event.subject)
        and (query.since_us is None or event.at_us >= query.since_us)
    )
