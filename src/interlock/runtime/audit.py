"""Reads, proves and exports the audit log; reading is itself authorized, and an export is itself on record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from interlock.core.audit_log import LogReading, Verified
from interlock.core.call import Principal
from interlock.core.chain import Break, Head
from interlock.core.checkpoint import Checkpoint, Mark, draw_up, signed
from interlock.core.decision import Deny
from interlock.core.export import export_lines
from interlock.core.export_lines import Kept, Shown
from interlock.core.frozen import frozen
from interlock.core.journal import RECORD, AuditQuery, AuditRecord, EventKind
from interlock.core.limits import longest_window_us
from interlock.core.refusals import Code
from interlock.core.signing import fingerprint
from interlock.core.tool import SHARED
from interlock.runtime.acts import AUDITORS, only_operators, signed_by
from interlock.runtime.proof import pages, prove
from interlock.runtime.records import Records
from interlock.runtime.world import World
from interlock.settings import Settings


@frozen
class Purgeable:
    """What a purge would forget: of so many records the payloads that are kept whole, and how long these are."""

    records: int
    size_bytes: int
    oldest_us: int | None
    newest_us: int | None


class AuditDesk:
    """What people do with the audit log. Every method reads within the tenant of `by`."""

    def __init__(self, world: World, records: Records, *, settings: Settings) -> None:
        self._world = world
        self._home = settings.tenant
        self._window_us = longest_window_us(settings.limits)
        self._records = records

    async def query(self, query: AuditQuery, *, by: Principal) -> tuple[AuditRecord, ...] | Deny:
        """Records of the tenant of `by` that match, with their redacted record and without what is sealed."""
        refused = may_not_read(by)
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

    async def sign(self) -> None:
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
        return await prove(self._world.audit, reading, records=self._records, provers=self._world.provers)

    async def export(self, *, by: Principal) -> tuple[bytes, ...] | Deny:
        """The log for the tenant of `by` as lines that verify by themselves plus the key's fingerprint."""
        refused = may_not_read(by)
        if refused is not None:
            return refused
        record = {"subject": "audit", **signed_by(by)}
        await self._world.audit.append(self._records.act(EventKind.EXPORTED, by.tenant, record))
        await self.checkpoint()
        items = [_shown(item) for item in [item async for page in pages(self._world.audit) for item in page]]
        keys = frozenset({self._world.signer.public_key()})
        return tuple(export_lines(items, tenant=self._records.key(by.tenant).mark, keys=keys))

    async def act(self, kind: EventKind, record: Mapping[str, object], *, by: Principal) -> None:
        """Put on record what was done with the store as a whole: copied, restored, moved.

        Raises `ActRefused` unless `by` is an operator of the installation's own tenant: it concerns all tenants.
        """
        only_operators(by, "This", tenants={SHARED}, home=self._home)
        await self._world.audit.append(self._records.act(kind, by.tenant, {**signed_by(by), **record}))

    async def purgeable(self, before_us: int, *, by: Principal) -> Purgeable:
        """What `purge` would take out of the log. Raises `ActRefused` as that does, and changes nothing."""
        only_operators(by, "Purging", tenants={SHARED}, home=self._home)
        still_open = {each.operation.id for each in await self._world.recovery.open_calls()}
        going = Purgeable(0, 0, None, None)
        async for page in pages(self._world.audit):
            for item in page:
                kept = _kept_bytes(item)
                if isinstance(item, AuditRecord) and kept and item.at_us < before_us and item.subject not in still_open:
                    oldest_us = min(item.at_us, going.oldest_us or item.at_us)
                    newest_us = max(item.at_us, going.newest_us or item.at_us)
                    going = Purgeable(going.records + 1, going.size_bytes + kept, oldest_us, newest_us)
        return going

    async def purge(self, before_us: int, *, by: Principal) -> None:
        """Forget what was kept whole of closed calls from before then. The redacted records and the chains stay.

        Rows of calls that an earlier purge emptied go, closed questions, and rate windows that are over: by the longest
        of this process's limits, which the others have to share. Open calls, questions that wait, unused grants and
        keys that still answer are left as they are: a time to come means now.

        Raises `ActRefused` unless `by` is an operator of the installation's own tenant: it concerns all tenants.
        """
        only_operators(by, "Purging", tenants={SHARED}, home=self._home)
        now_us = self._world.clock.now_us()
        before_us = min(before_us, now_us)
        record = {"subject": "audit", **signed_by(by), "before_us": before_us}
        await self._world.audit.append(self._records.act(EventKind.PURGED, by.tenant, record))
        windows_before_us = min(before_us, now_us - self._window_us)
        await self._world.retention.purge(before_us, windows_before_us=windows_before_us)
        await self._world.artifacts.forget(before_us)


def _shown(item: AuditRecord | Checkpoint) -> Shown | Checkpoint:
    if isinstance(item, Checkpoint):
        return item
    return Shown(item.record, tuple((each.name, Kept(each.salt, each.data)) for each in item.payloads))


def _kept_bytes(item: AuditRecord | Checkpoint) -> int:
    """How much is kept whole beside a record."""
    return sum(len(each.data) for each in item.payloads if each.name != RECORD) if isinstance(item, AuditRecord) else 0


def _unsealed(item: AuditRecord) -> AuditRecord:
    return replace(item, payloads=tuple(each for each in item.payloads if each.name == RECORD))


def may_not_read(by: Principal) -> Deny | None:
    """Why this one may not read the tenant's log; None where they may."""
    if by.groups & AUDITORS:
        return None
    return Deny(
        Code.PERMISSION_DENIED, f"Reading the audit log takes one of these groups: {', '.join(sorted(AUDITORS))}."
    )
