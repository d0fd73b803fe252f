"""Exports a log for one tenant as a document that verifies by itself plus the fingerprint of its key.

The tenant's own records are shown whole, with the payloads that are still kept. Of everyone else's only the hashes
leave, whatever the caller hands in; they keep the chains linked. A record that cannot be read counts as someone else's.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final, TypeAlias

from interlock.core.audit_entry import AuditEntry, decode_entry
from interlock.core.audit_log import LogReading, Verified
from interlock.core.chain import Break, Damage, Head, PayloadCheck, Record, Veiled, explained, verify_payload
from interlock.core.checkpoint import Checkpoint, Mark
from interlock.core.export_lines import Header, Line, Shown, Trailer, read, spell
from interlock.core.journal import RECORD
from interlock.core.signing import fingerprint

ExportItem: TypeAlias = Shown | Checkpoint

_UNREADABLE: Final = Break(Damage.MALFORMED, "the line is not one of an audit export", None, 0)
_MISCOUNTED: Final = Break(Damage.TRUNCATED, "the trailer counts other lines than are there", None, 0)
_WITHHELD: Final = "A payload that is not there may have been purged or withheld: its commitment does not say which."


def export_lines(
    items: Iterable[ExportItem], *, tenant: str, keys: frozenset[bytes], since: int = 0
) -> Iterator[bytes]:
    """The document's lines, each with its newline.

    `items` come in the order that `interlock.core.audit_log` describes, with at least one checkpoint. `tenant` is the
    keyed id as it stands in the records, `keys` the public keys of the checkpoints, `since` the number of the
    checkpoint that comes first where the log is not shown from its beginning.
    """
    yield spell(Header(tenant, tuple(sorted(keys)), since))
    counts = Trailer(0, 0, 0)
    for item in items:
        line = _for_tenant(item, tenant=tenant)
        counts = _counted(counts, line=line)
        yield spell(line)
    yield spell(counts)


def verify_export(
    lines: Iterable[bytes], *, fingerprints: frozenset[str], outside: tuple[Head | Mark, ...] = ()
) -> Verified | Break:
    """What the document shows, or its first break; never an exception, whatever the lines hold.

    `fingerprints` are those of the keys that are trusted, `outside` heads, receipts and marks that were kept elsewhere.
    """
    rest = iter(lines)
    header = read(next(rest, b""))
    if not isinstance(header, Header):
        return replace(_UNREADABLE, line=1)
    reading = _ExportReading(header, fingerprints=fingerprints, outside=outside)
    for number, data in enumerate(rest, 2):
        line = read(data)
        broken = _UNREADABLE if line is None else reading.take(line)
        if broken:
            return replace(explained(broken, rest=_records_of(rest)), line=number)
    return reading.finish()


class _ExportReading:
    """How far a document has been read."""

    def __init__(self, header: Header, *, fingerprints: frozenset[str], outside: tuple[Head | Mark, ...]) -> None:
        self._tenant = header.tenant
        trusted = frozenset(key for key in header.keys if fingerprint(key) in fingerprints)
        self._log = LogReading(trusted, since=header.since, outside=outside)
        self._counts = Trailer(0, 0, 0)
        self._purged = 0
        self._ended = False

    def take(self, line: Line) -> Break | None:
        if self._ended or isinstance(line, Header):
            return Break(Damage.MALFORMED, "the line is not between header and trailer", None, 0)
        if isinstance(line, Trailer):
            self._ended = True
            return None if line == self._counts else _MISCOUNTED
        self._counts = _counted(self._counts, line=line)
        if isinstance(line, Shown):
            return self._log.take(line.record) or self._unshown(line)
        return self._log.take(line)

    def finish(self) -> Verified | Break:
        found = self._log.finish()
        if isinstance(found, Break):
            return found
        if not self._ended:
            return Break(Damage.TRUNCATED, "the document has no trailer: its end is cut off", None, 0)
        if not self._counts.checkpoints:
            return Break(Damage.FORGED, "the document has no checkpoint: nothing in it is signed", None, 0)
        return replace(found, payloads=self._counts.payloads, purged=self._purged, limits=self._limits(found))

    def _unshown(self, line: Shown) -> Break | None:
        """What is wrong with a record that links but does not say what a record in its place must."""
        record = line.record
        entry = decode_entry(record.body)
        if entry is None:
            return Break(Damage.MALFORMED, "the record does not say what a record says", record.chain, record.sequence)
        if (entry.tenant, entry.chain, entry.sequence) != (self._tenant, record.chain, record.sequence):
            sentence = "the record speaks of another tenant or another place than its own"
            return Break(Damage.EDITED, sentence, record.chain, record.sequence)
        return self._unlike_payloads(line, entry=entry)

    def _unlike_payloads(self, line: Shown, *, entry: AuditEntry) -> Break | None:
        committed = dict(entry.commitments)
        if RECORD in committed and RECORD not in dict(line.payloads):
            sentence = "the record does not say what happened, which retention never deletes"
            return Break(Damage.MISSING, sentence, line.record.chain, line.record.sequence)
        for name, kept in line.payloads:
            check = verify_payload(committed.get(name, ""), salt=kept.salt, payload=kept.payload)
            if check is not PayloadCheck.MATCHES:
                sentence = f"payload {ascii(name)[:80]} is not the one that the record committed to"
                return Break(Damage.EDITED, sentence, line.record.chain, line.record.sequence)
        self._purged += len(committed) - len(line.payloads)
        return None

    def _limits(self, found: Verified) -> tuple[str, ...]:
        limits = found.limits
        if found.veiled:
            limits += (f"That {found.veiled} records shown by hash are other tenants' is the exporter's word.",)
        if self._purged:
            limits += (_WITHHELD,)
        return limits


def _for_tenant(item: ExportItem, *, tenant: str) -> Line:
    if isinstance(item, Checkpoint):
        return item
    record = item.record
    entry = decode_entry(record.body)
    if entry is not None and entry.tenant == tenant:
        return item
    return Veiled(record.chain, record.sequence, record.hash, record.body_digest)


def _counted(counts: Trailer, *, line: Line) -> Trailer:
    if isinstance(line, Checkpoint):
        return replace(counts, checkpoints=counts.checkpoints + 1)
    payloads = len(line.payloads) if isinstance(line, Shown) else 0
    return replace(counts, records=counts.records + 1, payloads=counts.payloads + payloads)


def _records_of(lines: Iterable[bytes]) -> Iterator[Record | Veiled]:
    for line in map(read, lines):
        if isinstance(line, Shown):
            yield line.record
        elif isinstance(line, Veiled):
            yield line
