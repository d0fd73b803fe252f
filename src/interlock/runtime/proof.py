"""Proves a whole log with every payload that is kept beside it, wherever it is read from: a store or a copy of one."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Final, Protocol

import orjson

from interlock.core.audit_entry import AuditEntry, decode_entry
from interlock.core.audit_log import LogItem, LogReading, Verified, records_of, unlike_ends
from interlock.core.canonical import decode
from interlock.core.chain import (
    SALT_BYTES,
    Break,
    Damage,
    Head,
    PayloadCheck,
    Stretch,
    explained,
    genesis,
    verify_payload,
)
from interlock.core.checkpoint import Checkpoint, Span, spans
from interlock.core.entry import TenantKey
from interlock.core.journal import RECORD, AuditQuery, AuditRecord
from interlock.ports import Provers
from interlock.runtime.proof_ahead import Skip, nothing_ahead, planned, proved_ahead
from interlock.runtime.records import Records

PAGE = 500
"""How many records are read at once."""

PIECE_PAGES = 4
"""How many pages another process proves at once."""

APART_FROM = 50_000
"""From how many records on starting other processes is worth its while."""

_NONCE: Final = b'"nonce":"'


class Rows(Protocol):
    """The records of a log."""

    async def records(self, query: AuditQuery) -> tuple[AuditRecord, ...]:
        """Records in order of chain and sequence, with payloads where kept, at most `query.limit`."""


class Log(Rows, Protocol):
    """What can be read of a log."""

    async def heads(self) -> tuple[Head, ...]:
        """Where every chain stands."""

    async def checkpoints(self) -> tuple[Checkpoint, ...]:
        """All of them, by number."""


async def prove(log: Log, reading: LogReading, *, records: Records, provers: Provers | None = None) -> Verified | Break:
    """What the whole log shows, or its first break. `records` knows the tenants' keys.

    What `provers` have proved ahead is passed over; whatever they say nothing of, or find wrong, is read here. So what
    comes of it is the same with them and without.
    """
    before, checkpoints = await log.heads(), await log.checkpoints()
    is_long = sum(head.sequence for head in before) >= APART_FROM
    spans = planned(checkpoints, before, size=PIECE_PAGES * PAGE)
    proved = provers.prove(spans, held=reading.held) if provers is not None and is_long else None
    async with proved_ahead(proved, reading) as skip:
        async for page in _pages(log, checkpoints, skip):
            broken = _broken(page, reading, records)
            if broken is not None:
                return broken
            await asyncio.sleep(0)  # who calls meanwhile waits for one page
    after = await log.heads()
    return unlike_ends(reading.heads(), before=before, after=after) or reading.finish()


async def stretch_of(log: Rows, span: Span, *, held: tuple[Head, ...], records: Records) -> Stretch | None:
    """What a span is, where its records and all beside them hold as far as one sees who has read nothing else."""
    start = await _start(log, span)
    among = tuple(each for each in held if each.chain == span.chain and span.after < each.sequence <= span.through)
    reading = LogReading(frozenset(), outside=among)
    if start is None or reading.begin(start) is not None:
        return None
    async for page in _span(log, span, nothing_ahead):
        if _broken(page, reading, records) is not None:
            return None
    found = reading.stretch(start)
    return found if found.end.sequence == span.through else None


async def _start(log: Rows, span: Span) -> Head | None:
    """The head that a span follows, as the log has it."""
    if span.after == 0:
        return genesis(span.chain)
    for each in await log.records(AuditQuery(after=(span.chain, span.after - 1), limit=1)):
        if (each.record.chain, each.record.sequence) == (span.chain, span.after):
            return each.record.head
    return None


async def pages(log: Log) -> AsyncIterator[Sequence[AuditRecord | Checkpoint]]:
    """The log as it is proved: records up to a checkpoint, the checkpoint, and so on, then the unsigned rest."""
    async for page in _pages(log, await log.checkpoints(), nothing_ahead):
        yield page


async def _pages(
    log: Log, checkpoints: tuple[Checkpoint, ...], skip: Skip
) -> AsyncIterator[Sequence[AuditRecord | Checkpoint]]:
    before: Checkpoint | None = None
    for checkpoint in checkpoints:
        for span in spans(checkpoint, after=before):
            async for page in _span(log, span, skip):
                yield page
        yield (checkpoint,)
        before = checkpoint
    async for page in _unsigned(log, {head.chain: head.sequence for head in before.heads} if before else {}, skip):
        yield page


async def _unsigned(log: Rows, signed_to: Mapping[str, int], skip: Skip) -> AsyncIterator[Sequence[AuditRecord]]:
    """Every chain from where it is signed to its last row, whatever the store says of its end: rows that lie beyond
    it are served like any other."""
    after = ("", 0)
    while found := await log.records(AuditQuery(after=after, limit=1)):
        chain = found[0].record.chain
        begin = max(signed_to.get(chain, 0), found[0].record.sequence - 1)
        async for page in _span(log, Span(chain, begin, sys.maxsize), skip):
            yield page
        after = (chain + "\x00", 0)  # no name lies between


async def _span(log: Rows, span: Span, skip: Skip) -> AsyncIterator[Sequence[AuditRecord]]:
    after = span.after
    while after < span.through:
        proved = await skip(Span(span.chain, after, span.through))
        if proved > after:
            after = proved
            continue
        query = AuditQuery(after=(span.chain, after), limit=min(PAGE, span.through - after))
        page = [each for each in await log.records(query) if each.record.chain == span.chain]
        if not page:
            return
        yield page
        after = page[-1].record.sequence


def _broken(page: Sequence[AuditRecord | Checkpoint], reading: LogReading, records: Records) -> Break | None:
    """The first break in a page: of its chain, or of what lies beside a record."""
    whole = reading.follow([item.record for item in page if isinstance(item, AuditRecord)])
    for index, item in enumerate(page):
        if index >= whole:
            broken = reading.take(item.record if isinstance(item, AuditRecord) else item)
            if broken is not None:
                return explained(broken, rest=records_of(_bare(page[index + 1 :])))
        altered = _altered(item, records) if isinstance(item, AuditRecord) else None
        if altered is not None:
            return altered
    return None


def _altered(item: AuditRecord, records: Records) -> Break | None:
    """The break of a record whose chain is whole but beside which something is not what was recorded."""
    key = records.key(item.tenant)
    if _is_as_written(item, key):
        return None
    entry = decode_entry(item.record.body)
    wrong = "body" if entry is None else _unlike(item, entry, key) or _payload_unlike(item, entry)
    if not wrong:
        return None
    says = f"the {wrong} of this record is not what was recorded"
    return Break(Damage.EDITED, says, item.record.chain, item.record.sequence)


def _is_as_written(item: AuditRecord, key: TenantKey) -> bool:
    """Whether writing down all that is kept makes the body again, as it does of most: nothing has to be read then.

    False proves nothing; what was purged, for one, cannot be written again.
    """
    record, commitments = item.record, dict[str, str]()
    shown: bytes | None = None
    for each in item.payloads:
        name, salt, data = each.name, each.salt, each.data
        if len(salt) != SALT_BYTES or name in commitments:
            return False
        commitments[name] = sha256(salt + data).hexdigest()
        shown = data if name == RECORD else shown
    body = record.body
    start = body.find(_NONCE) + len(_NONCE)
    fields = {
        "chain": record.chain,
        "commitments": commitments,
        "ids": {"subject": key.keyed(item.subject)} if item.subject else {},
        "kind": item.kind,
        "nonce": body[start : body.find(b'"', start)].decode("ascii", "replace"),
        "sequence": record.sequence,
        "tenant": key.mark,
        "time_us": item.at_us,
    }
    try:
        written = orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # somebody has put something into a column that never was there
        return False
    return written == body and shown is not None and _call_of(shown) == item.call


def _unlike(item: AuditRecord, entry: AuditEntry, key: TenantKey) -> str:
    """Which of the columns beside the chain is not what the chain hashes; empty where all are."""
    if item.kind != entry.kind:
        return "kind"
    if item.at_us != entry.time_us:
        return "time"
    if key.mark != entry.tenant:
        return "tenant"
    hashed = next((value for name, value in entry.ids if name == "subject"), "")
    return "" if hashed == (key.keyed(item.subject) if item.subject else "") else "subject"


def _payload_unlike(item: AuditRecord, entry: AuditEntry) -> str:
    """Which payload is not what the record committed to; empty where all are. The redacted record is always kept."""
    commitments, has_record = dict(entry.commitments), False
    for each in item.payloads:
        committed = commitments.get(each.name, "")
        if verify_payload(committed, salt=each.salt, payload=each.data) is not PayloadCheck.MATCHES:
            return each.name
        if each.name == RECORD:
            has_record = True
            if _call_of(each.data) != item.call:
                return "call"
    return "" if has_record else RECORD


def _bare(items: Sequence[AuditRecord | Checkpoint]) -> Iterator[LogItem]:
    return (item.record if isinstance(item, AuditRecord) else item for item in items)


def _call_of(record: bytes) -> str:
    try:
        value = orjson.loads(record)
    except orjson.JSONDecodeError:  # an integer past 64 bits
        value = decode(record)
    return str(value.get("call_id", "")) if isinstance(value, dict) else ""
