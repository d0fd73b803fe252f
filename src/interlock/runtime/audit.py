"""Reads, proves and exports the audit log; reading is itself authorized, and an export is itself on record."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace

from interlock.core.audit_entry import decode_entry
from interlock.core.audit_log import LogItem, LogReading, Verified, records_of, unlike_ends
from interlock.core.call import Principal
from interlock.core.canonical import decode
from interlock.core.chain import Break, Damage, Head, PayloadCheck, explained, verify_payload
from interlock.core.checkpoint import Checkpoint, Mark, Span, draw_up, signed, spans
from interlock.core.decision import Deny
from interlock.core.export import export_lines
from interlock.core.export_lines import Kept, Shown
from interlock.core.journal import RECORD, AuditQuery, AuditRecord, EventKind
from interlock.core.refusals import Code
from interlock.core.signing import fingerprint
from interlock.core.tool import SHARED
from interlock.runtime.acts import only_operators, signed_by
from interlock.runtime.records import Records
from interlock.runtime.world import World

PAGE = 2_000
"""How many records are read at once."""

AUDITORS = frozenset({"auditor", "operator"})
"""Groups whose members may read their tenant's log."""


class AuditDesk:
    """What people do with the audit log. Every method reads within the tenant of `by`."""

    def __init__(self, world: World, records: Records, *, home: str) -> None:
        self._world = world
        self._home = home
        self._records = records

    async def query(self, query: AuditQuery, *, by: Principal) -> tuple[AuditRecord, ...] | Deny:
        """Records of the tenant of `by` that match, with their redacted record and without what is sealed."""
        refused = _may_not_read(by)
        if refused is not None:
            return refused
        found = await self._world.audit.records(replace(query, tenant=by.tenant))
        return tuple(_unsealed(each) for each in found)

    def fingerprint(self) -> str:
        """The fingerprint of the key that signs the log, to be kept elsewhere."""
        return fingerprint(self._world.signer.public_key())

    async def checkpoint(self) -> Checkpoint:
        """Sign where every chain stands now."""
        key = self.fingerprint()

        def draw(heads: tuple[Head, ...], after: Mark) -> Checkpoint:
            drawn = draw_up(heads, after=after, time_us=self._world.clock.now_us(), key_fingerprint=key)
            return signed(drawn, signature=self._world.signer.sign(drawn.statement))

        return await self._world.audit.checkpoint(draw)

    async def seal(self) -> None:
        """Sign where the log stands, unless the last checkpoint says so already."""
        heads = await self._world.audit.heads()
        checkpoints = await self._world.audit.checkpoints()
        signed_heads = frozenset(checkpoints[-1].heads) if checkpoints else frozenset()
        if frozenset(heads) - signed_heads:
            await self.checkpoint()

    async def verify(
        self, *, keys: frozenset[bytes] | None = None, outside: tuple[Head | Mark, ...] = ()
    ) -> Verified | Break:
        """Prove the whole log with every payload that is kept, or name the first break.

        `keys` are the raw public keys that are trusted (default: this signer's), `outside` heads, receipts and marks
        that were kept elsewhere: only they can show that the end was cut off or that all of it was written anew.
        """
        reading = LogReading(keys or frozenset({self._world.signer.public_key()}), outside=outside)
        before = await self._world.audit.heads()
        async for page in self._pages():
            for index, item in enumerate(page):
                broken = reading.take(item.record if isinstance(item, AuditRecord) else item)
                if broken is not None:
                    return explained(broken, rest=records_of(_bare(page[index + 1 :])))
                altered = self._altered(item) if isinstance(item, AuditRecord) else None
                if altered is not None:
                    return altered
        after = await self._world.audit.heads()
        return unlike_ends(reading.heads(), before=before, after=after) or reading.finish()

    async def export(self, *, by: Principal) -> tuple[bytes, ...] | Deny:
        """The log for the tenant of `by` as lines that verify by themselves plus the key's fingerprint."""
        refused = _may_not_read(by)
        if refused is not None:
            return refused
        record = {"subject": "audit", **signed_by(by)}
        await self._world.audit.append(self._records.act(EventKind.EXPORTED, by.tenant, record))
        await self.checkpoint()
        items = [_shown(item) for item in [item async for page in self._pages() for item in page]]
        keys = frozenset({self._world.signer.public_key()})
        return tuple(export_lines(items, tenant=self._records.key(by.tenant).mark, keys=keys))

    def _altered(self, item: AuditRecord) -> Break | None:
        """The break of a record whose chain is whole but beside which something is not what was recorded."""
        wrong = next(self._differences(item), None)
        if wrong is None:
            return None
        says = f"the {wrong} of this record is not what was recorded"
        return Break(Damage.EDITED, says, item.record.chain, item.record.sequence)

    def _differences(self, item: AuditRecord) -> Iterator[str]:
        """What differs of the columns and payloads that stand beside the chain, by name."""
        entry, key = decode_entry(item.record.body), self._records.key(item.tenant)
        if entry is None:
            yield "body"
            return
        beside = {"kind": item.kind, "time": item.at_us, "tenant": key.mark}
        hashed = {"kind": entry.kind, "time": entry.time_us, "tenant": entry.tenant}
        subject = key.keyed(item.subject) if item.subject else ""
        beside["subject"], hashed["subject"] = subject, dict(entry.ids).get("subject", "")
        yield from (name for name, value in beside.items() if hashed[name] != value)
        commitments = dict(entry.commitments)
        if RECORD not in [each.name for each in item.payloads]:  # retention leaves it
            yield RECORD
        for each in item.payloads:
            committed = commitments.get(each.name, "")
            if verify_payload(committed, salt=each.salt, payload=each.data) is not PayloadCheck.MATCHES:
                yield each.name
            elif each.name == RECORD and _call_of(each.data) != item.call:
                yield "call"

    async def purge(self, before_us: int, *, by: Principal) -> None:
        """Forget what was kept whole of closed calls from before then. The redacted records and the chains stay.

        Raises `ActRefused` unless `by` is an operator of the installation's own tenant: it concerns all tenants.
        """
        only_operators(by, "Purging", tenants={SHARED}, home=self._home)
        record = {"subject": "audit", **signed_by(by), "before_us": before_us}
        await self._world.audit.append(self._records.act(EventKind.PURGED, by.tenant, record))
        await self._world.retention.purge(before_us)

    async def _pages(self) -> AsyncIterator[Sequence[AuditRecord | Checkpoint]]:
        """The log as it is proved: records up to a checkpoint, the checkpoint, and so on, then the unsigned rest."""
        before: Checkpoint | None = None
        for checkpoint in await self._world.audit.checkpoints():
            for span in spans(checkpoint, after=before):
                async for page in self._span(span):
                    yield page
            yield (checkpoint,)
            before = checkpoint
        async for page in self._unsigned({head.chain: head.sequence for head in before.heads} if before else {}):
            yield page

    async def _unsigned(self, signed_to: Mapping[str, int]) -> AsyncIterator[Sequence[AuditRecord]]:
        """Every chain from where it is signed to its last row, whatever the store says of its end: rows that lie beyond
        it are served like any other."""
        after = ("", 0)
        while found := await self._world.audit.records(AuditQuery(after=after, limit=1)):
            chain = found[0].record.chain
            after = (chain, max(signed_to.get(chain, 0), found[0].record.sequence - 1))
            async for page in self._span(Span(chain, after[1], sys.maxsize)):
                yield page
                after = (chain, page[-1].record.sequence)

    async def _span(self, span: Span) -> AsyncIterator[Sequence[AuditRecord]]:
        after = span.after
        while after < span.through:
            query = AuditQuery(after=(span.chain, after), limit=min(PAGE, span.through - after))
            page = [each for each in await self._world.audit.records(query) if each.record.chain == span.chain]
            if not page:
                return
            yield page
            after = page[-1].record.sequence


def _bare(items: Sequence[AuditRecord | Checkpoint]) -> Iterator[LogItem]:
    return (item.record if isinstance(item, AuditRecord) else item for item in items)


def _shown(item: AuditRecord | Checkpoint) -> Shown | Checkpoint:
    if isinstance(item, Checkpoint):
        return item
    return Shown(item.record, tuple((each.name, Kept(each.salt, each.data)) for each in item.payloads))


def _call_of(record: bytes) -> str:
    value = decode(record)
    return str(value.get("call_id", "")) if isinstance(value, dict) else ""


def _unsealed(item: AuditRecord) -> AuditRecord:
    return replace(item, payloads=tuple(each for each in item.payloads if each.name == RECORD))


def _may_not_read(by: Principal) -> Deny | None:
    if by.groups & AUDITORS:
        return None
    return Deny(
        Code.PERMISSION_DENIED, f"Reading the audit log takes one of these groups: {', '.join(sorted(AUDITORS))}."
    )
