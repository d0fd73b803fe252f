"""Reads the audit log and the catalogue of one tenant for a review of its tools; that it was read is on record."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final

from interlock.core.call import Principal
from interlock.core.compatibility import compare
from interlock.core.decision import Deny
from interlock.core.documents import DocumentKind
from interlock.core.effect import CallState
from interlock.core.errors import SpecInvalid
from interlock.core.evidence_pack import review_day
from interlock.core.example import ToolExample
from interlock.core.example_stale import stale
from interlock.core.journal import AuditQuery, AuditRecord, EventKind
from interlock.core.move_gates import read_day
from interlock.core.refusals import Code
from interlock.core.review import Frame, Review, review
from interlock.core.review_rules import DEFAULTS, ReviewRules
from interlock.core.review_tally import Tally
from interlock.core.review_tool import Published, Version
from interlock.core.tool import SHARED, ToolSpec
from interlock.ports import Registered
from interlock.runtime.acts import signed_by
from interlock.runtime.audit import may_not_read
from interlock.runtime.library import examples_in
from interlock.runtime.packs import name_of, packs_in
from interlock.runtime.records import Records
from interlock.runtime.versions import spec_of
from interlock.runtime.world import World

PAGE: Final = 500
"""How many records are read at once; who calls meanwhile waits for one page."""

COMPARED_MAX: Final = 500
"""How many pairs of versions one review compares that were not compared before."""

REMEMBERED_MAX: Final = 65_536
DETOURS_MAX: Final = 20
UNCOMPARED: Final = "uncompared"


class ReviewDesk:
    """What is read for reviews. Within the tenant of `by`, as all that is read of the log."""

    def __init__(self, world: World, records: Records, *, home: str) -> None:
        self._world = world
        self._home = home
        self._records = records
        self._verdicts: dict[tuple[str, str], str] = {}

    async def review(
        self,
        *,
        by: Principal,
        since_us: int | None,
        tenant: str | None,
        rules: ReviewRules = DEFAULTS,
    ) -> Review | Deny:
        """A review of the tools that the tenant of `by` may be allowed to use, by what its own log says of them.

        Memory grows with the tools, not with the records. A refusal says why `by` may not read it.
        """
        refused = may_not_read(by)
        if refused is None and tenant not in (None, by.tenant):
            refused = Deny(
                Code.PERMISSION_DENIED, f"{by.id} is one of {by.tenant}, and reads the log of no other tenant."
            )
        if refused is not None:
            return refused
        record = {"subject": "tools", **signed_by(by), "since_us": since_us}
        await self._world.audit.append(self._records.act(EventKind.REVIEWED, by.tenant, record))
        tally = await self._tally(by.tenant, since_us)
        catalogue = await self._catalogue(by.tenant)
        frame = Frame(by.tenant, self._world.clock.now_us(), since_us, rules)
        tallies = tally.tallies(detour_times=rules.detour_times, detours_max=DETOURS_MAX)
        # In a thread: where many tools are alike it takes long, and calls go on meanwhile.
        return await asyncio.to_thread(review, tallies, catalogue, frame)

    async def _tally(self, tenant: str, since_us: int | None) -> Tally:
        tally = Tally()
        if since_us is not None:  # when tools were published matters also where it was before
            published = AuditQuery(tenant=tenant, kind=EventKind.TOOL_REGISTERED, limit=PAGE)
            async for record in self._read(published):
                tally.take_published(record)
        async for record in self._read(AuditQuery(tenant=tenant, since_us=since_us, limit=PAGE)):
            tally.take(record)
        return tally

    async def _read(self, query: AuditQuery) -> AsyncIterator[AuditRecord]:
        """All records that match, page by page."""
        while True:
            page = await self._world.audit.records(query)
            for record in page:
                yield record
            if len(page) < query.limit:
                return
            query = replace(query, after=(page[-1].record.chain, page[-1].record.sequence))
            await asyncio.sleep(0)

    async def _catalogue(self, tenant: str) -> Mapping[str, Published]:
        """What is published that the tenant may be allowed to use, by name."""
        _, versions = await self._world.catalogue.versions()
        by_name: dict[str, list[Registered]] = {}
        for each in versions:
            if each.tenant in (tenant, SHARED):
                by_name.setdefault(each.name, []).append(each)
        unknown = await self._unknown(tenant)
        days, examples = await self._days(tenant), await self._examples()
        left = COMPARED_MAX
        found: dict[str, Published] = {}
        for name, known in by_name.items():
            verdicts, used = self._compared(known, most=left)
            left -= used
            shown = (Version(each.version, each.state, each.digest, verdicts[each.digest]) for each in known)
            spec = next(filter(None, map(_spec, reversed(known))), None)
            if spec is None:
                continue  # the log says so where it is opened
            found[name] = Published(
                spec,
                tuple(shown),
                unknown[name],
                days.get((spec.tenant, name_of(known[-1]))),
                self._stale(examples.get(name), spec),
            )
            await asyncio.sleep(0)
        return found

    async def _days(self, tenant: str) -> Mapping[tuple[str, str], int]:
        """When versions were to be looked at again, by tenant and name of the evidence."""
        found: dict[tuple[str, str], int] = {}
        for each in (await self._world.documents.documents(DocumentKind.EVIDENCE))[1]:
            packs = packs_in(each) if each.tenant in (tenant, SHARED) else ()
            day = review_day(packs)
            if day:
                found[each.tenant, each.name] = read_day(day)
        return found

    async def _examples(self) -> Mapping[str, list[ToolExample]]:
        """The examples that the installation keeps, by tool."""
        kept = (await self._world.documents.documents(DocumentKind.EXAMPLE, tenant=self._home))[1]
        found: dict[str, list[ToolExample]] = {}
        for each in examples_in(kept):
            found.setdefault(each.tool, []).append(each)
        return found

    def _stale(self, examples: list[ToolExample] | None, spec: ToolSpec) -> int | None:
        """How many examples say nothing of this version any more; None: there are none."""
        today = datetime.fromtimestamp(self._world.clock.now_us() // 1_000_000, UTC).date()
        return None if examples is None else sum(bool(stale(each, spec, today=today)) for each in examples)

    async def _unknown(self, tenant: str) -> Counter[str]:
        """Calls of which nobody knows now whether they happened, by tool."""
        calls = await self._world.recovery.open_calls(tenant)
        return Counter(each.operation.tool for each in calls if each.state is CallState.UNKNOWN)

    def _compared(self, known: Iterable[Registered], *, most: int) -> tuple[Mapping[str, str], int]:
        """What each version broke of the one before it, by digest; how many pairs were compared for that."""
        known, used = [*known], 0
        verdicts = {known[0].digest: ""}
        for old, new in pairwise(known):
            pair = (old.digest, new.digest)
            if pair not in self._verdicts and used < most:
                if len(self._verdicts) >= REMEMBERED_MAX:
                    self._verdicts.clear()
                self._verdicts[pair] = _verdict(old, new)
                used += 1
            verdicts[new.digest] = self._verdicts.get(pair, UNCOMPARED)
        return verdicts, used


def _verdict(old: Registered, new: Registered) -> str:
    try:
        return compare(spec_of(old), spec_of(new)).verdict.value
    except SpecInvalid:
        return UNCOMPARED


def _spec(found: Registered) -> ToolSpec | None:
    """What a version says of itself; None: it cannot be read."""
    try:
        return spec_of(found)
    except SpecInvalid:
        return None
