"""Takes versions out of use in steps: notice, a time of watching, a word for the owner, and then for good.

A replacement says how calls map; the gate never maps one: a late caller is told, and proposes anew.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from interlock.core.call import Caller, Principal
from interlock.core.canonical import decode
from interlock.core.errors import ActRefused, MoveRefused, ToolUnknown
from interlock.core.journal import RECORD, AuditQuery, EventKind
from interlock.core.lifecycle import CLOSED, OPEN, Lifecycle, Need
from interlock.core.move_gates import Grounds, Halt, read_day, refuse_wordless
from interlock.core.policy import Visibility
from interlock.core.references import References
from interlock.core.retirement import Replacement, Retirement, day, misfits, read, written, wrong_with
from interlock.core.stored import caller_of
from interlock.core.tool import SHARED, ToolSpec
from interlock.core.tool_compile import compile_tool
from interlock.ports import Registered
from interlock.runtime.acts import OPERATORS, only_operators, signed_by
from interlock.runtime.changes import Planned
from interlock.runtime.common import Common
from interlock.runtime.moves import Moving, Wanted
from interlock.runtime.versions import Versions, spec_of

DAY_US: Final = 86_400_000_000

READ_MAX: Final = 100_000
"""How many records of calls are read to count those of a version that is watched."""

PAGE: Final = 1_000

Changed = Callable[[Registered, Versions], Awaitable[Retirement]]
"""What becomes of what is known about a version's retirement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What is announced: the day from which a version may be retired, why, and what takes its place.

    `known` are principals of whom it is worked out who may call the one version and not the other, beside those who
    wait for approvals.
    """

    retires_on: str
    reason: str
    replacement: Replacement | None = None
    known: tuple[Principal, ...] = ()


@dataclass(frozen=True, slots=True)
class Watched:
    """Calls of a version since its retirement was announced, by whom. `is_whole`: all records were read."""

    since_us: int
    calls: int
    by: tuple[tuple[str, int], ...]
    is_whole: bool


class Retiring:
    """What people do with versions that are to go."""

    def __init__(self, common: Common, moving: Moving) -> None:
        self._common = common
        self._moving = moving

    async def references(
        self, name: str, *, version: str | None = None, by: Principal
    ) -> tuple[tuple[Registered, References], ...]:
        """What rests on a version, or on each of a name. Raises `ActRefused` unless `by` is an operator."""
        _, versions = await self._common.views.versions()
        found = _named(name, version, versions, by=by)
        only_operators(
            by, "Listing what rests on a tool", tenants={each.tenant for each in found}, home=self._common.home
        )
        return tuple([(each, await self._common.referrers.of(each, versions)) for each in found])

    async def announce(
        self, name: str, *, version: str | None = None, by: Principal, notice: Notice
    ) -> tuple[Registered, ...]:
        """Say that a version, or all that are open, will go: callers are told beside results, and nothing closes yet.

        Raises `ActRefused`, `ToolUnknown`, or `MoveRefused` for a day that is past, a replacement that does not map, is
        not open, or is to go itself, and no reason.
        """
        refuse_wordless(Grounds(reason=notice.reason))
        retires_us, now_us = read_day(notice.retires_on), self._common.world.clock.now_us()
        if retires_us < now_us - DAY_US:
            raise MoveRefused(f"{notice.retires_on} is past: name a day that is to come")
        words = self._common.records.redactor.text(notice.reason)

        async def changed(held: Registered, versions: Versions) -> Retirement:
            instead = await self._checked(held, notice.replacement, versions, known=notice.known)
            return Retirement(now_us, retires_us, by.id, words, instead)

        wanted = Wanted(name, version, by, Grounds(reason=words))
        return await self._noted(wanted, changed, kind=EventKind.TOOL_ANNOUNCED, states=frozenset(OPEN) | _SHUT)

    async def recall(
        self, name: str, *, version: str | None = None, by: Principal, reason: str
    ) -> tuple[Registered, ...]:
        """Take an announcement back. Raises as `announce` does, and where nothing was announced."""
        refuse_wordless(Grounds(reason=reason))
        wanted = Wanted(name, version, by, Grounds(reason=self._common.records.redactor.text(reason)))
        return await self._noted(wanted, None, kind=EventKind.TOOL_ANNOUNCED, states=frozenset(OPEN) | _SHUT)

    async def confirm(self, name: str, *, version: str, by: Principal, reason: str) -> Registered:
        """Confirm for the owner that a version may go: `by` is the owner, of the group that owns it, or an operator.

        Raises `ActRefused`, `ToolUnknown`, or `MoveRefused` where no retirement was announced.
        """
        refuse_wordless(Grounds(reason=reason))
        held = await self._common.version(name, version, tenant=by.tenant)
        self._refuse_stranger(held, by)
        now_us, words = self._common.world.clock.now_us(), self._common.records.redactor.text(reason)

        async def changed(held: Registered, _: Versions) -> Retirement:
            going = _announced(held)
            return replace(going, confirmed_by=by.id, confirmed_why=words, confirmed_us=now_us)

        wanted = Wanted(name, version, by, Grounds(reason=words))
        (found,) = await self._noted(wanted, changed, kind=EventKind.TOOL_CONFIRMED, states=frozenset(OPEN) | _SHUT)
        return found

    async def retire(
        self,
        name: str,
        *,
        version: str | None = None,
        by: Principal,
        reason: str | Grounds,
        drain_until: str = "",
    ) -> tuple[Registered, ...]:
        """Take no more calls, for good. Runs that are bound to it may go on until the day `drain_until` begins.

        Where a day was announced it is kept, unless the grounds waive `Need.NOTICE`: callers have been told that day.

        What executes is finished and settled; what waits for approval is void; what is unknown is still looked up; what
        was done is still told under its key. Raises as `move` does, and `MoveRefused` where a promotion holds the name
        at a version that goes, while another could serve it.
        """
        until_us = read_day(drain_until) if drain_until else None
        grounds = reason if isinstance(reason, Grounds) else Grounds(reason=reason)
        wanted = Wanted(name, version, by, grounds, until_us)
        return await self._moving.carry(wanted, _all_that_can_go, to=Lifecycle.RETIRED)

    async def replace(
        self, name: str, replacement: Replacement, *, version: str | None = None, by: Principal, reason: str
    ) -> tuple[Registered, ...]:
        """Say what takes the place of a version that is retired or announced, or another. Raises as `announce`."""
        refuse_wordless(Grounds(reason=reason))
        words = self._common.records.redactor.text(reason)

        async def changed(held: Registered, versions: Versions) -> Retirement:
            instead = await self._checked(held, replacement, versions, known=())
            return replace(_announced(held), replacement=instead)

        wanted = Wanted(name, version, by, Grounds(reason=words))
        return await self._noted(wanted, changed, kind=EventKind.TOOL_REPLACED, states=frozenset(Lifecycle))

    async def watched(self, name: str, *, version: str, by: Principal) -> Watched:
        """Who still calls a version whose retirement was announced. Raises as `announce` does."""
        held = await self._common.version(name, version, tenant=by.tenant)
        only_operators(by, "Watching a tool", tenants={held.tenant}, home=self._common.home)
        since_us = _announced(held).announced_us
        tenant = None if held.tenant == SHARED else held.tenant
        counted: dict[str, int] = {}
        is_whole = True
        for kind in (EventKind.SETTLED, EventKind.CACHED):
            is_whole &= await self._count(AuditQuery(tenant, kind, since_us=since_us, limit=PAGE), held, counted)
        by_count = tuple(sorted(counted.items(), key=lambda each: (-each[1], each[0])))
        return Watched(since_us, sum(counted.values()), by_count, is_whole)

    async def _count(self, query: AuditQuery, held: Registered, counted: dict[str, int]) -> bool:
        for _ in range(READ_MAX // PAGE):
            page = await self._common.world.audit.records(query)
            for each in page:
                record = next((decode(part.data) for part in each.payloads if part.name == RECORD), None)
                if isinstance(record, dict) and record.get("spec") == held.digest:
                    who = f"{each.tenant}/{record.get('principal')}"
                    counted[who] = counted.get(who, 0) + 1
            if len(page) < PAGE:
                return True
            query = replace(query, after=(page[-1].record.chain, page[-1].record.sequence))
        return False

    async def _noted(
        self, wanted: Wanted, changed: Changed | None, *, kind: EventKind, states: frozenset[Lifecycle]
    ) -> tuple[Registered, ...]:
        plan = partial(self._noting, wanted, changed=changed, kind=kind, states=states)
        return await self._common.carried_out(plan)

    async def _noting(
        self,
        wanted: Wanted,
        versions: Versions,
        *,
        changed: Changed | None,
        kind: EventKind,
        states: frozenset[Lifecycle],
    ) -> Planned[tuple[Registered, ...]]:
        """Versions with other words about their retirement; none changes its state."""
        named = _named(wanted.name, wanted.version, versions, by=wanted.by)
        if kind is not EventKind.TOOL_CONFIRMED:
            only_operators(
                wanted.by, "Retiring a tool", tenants={each.tenant for each in named}, home=self._common.home
            )
        able = [each for each in named if each.state in states and (changed or each.retirement)]
        if not able:
            raise MoveRefused(_unsayable(named[-1], states))
        found = []
        for each in able:
            going = "" if changed is None else written(await changed(each, versions))
            found.append(replace(each, retirement=going))
        record = {
            "subject": wanted.name,
            **signed_by(wanted.by),
            "versions": [
                {
                    "tenant": each.tenant,
                    "version": each.version,
                    "retirement": decode(each.retirement.encode()) if each.retirement else None,
                    "references": (await self._common.referrers.of(each, versions)).told,
                }
                for each in found
            ],
            "reason": wanted.grounds.reason,
        }
        return Planned(tuple(found), tuple(found), (), self._common.records.act(kind, wanted.by.tenant, record))

    async def _checked(
        self,
        held: Registered,
        instead: Replacement | None,
        versions: Versions,
        *,
        known: Iterable[Principal],
    ) -> Replacement | None:
        """The replacement with who gains and who loses by it. Raises `MoveRefused` where it cannot take the place."""
        if instead is None:
            return None
        other = _replacing(held, instead, versions)
        old, new = spec_of(held), spec_of(other)
        wrong = [*wrong_with(old, new, instead), *misfits(compile_tool(new).input, instead)]
        if wrong:
            raise MoveRefused(f"{instead.name} does not take the place of {held.name}: {'; '.join(wrong)}")
        rests = await self._common.referrers.of(held, versions, at_once=True)
        if rests.replaces:
            raise MoveRefused(
                f"{held.name} {held.version} takes the place of {', '.join(rests.replaces)} itself: give those another"
                " first, so that no caller is sent from one to the next"
            )
        gains, losses = await self._who_changes(held, old, new, known=known)
        return replace(instead, gains=gains, losses=losses)

    async def _who_changes(
        self, held: Registered, old: ToolSpec, new: ToolSpec, *, known: Iterable[Principal]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Who of those that are known may call the new one and not the old, and the other way round, today."""
        people = {(each.tenant, each.id): each for each in known}
        for approval in await self._common.referrers.waiting(held):
            found = await self._common.world.approvals.approval(approval.tenant, approval.id)
            if found is not None:
                asks = caller_of(found[1].sealed).principal
                people.setdefault((asks.tenant, asks.id), asks)
        could = {place for place, each in people.items() if self._may(old, each)}
        can = {place for place, each in people.items() if self._may(new, each)}
        return tuple(map("/".join, sorted(can - could))), tuple(map("/".join, sorted(could - can)))

    def _may(self, spec: ToolSpec, principal: Principal) -> bool:
        if spec.tenant not in (SHARED, principal.tenant):
            return False
        policy = self._common.views.current.policies.slice(spec, tenant=principal.tenant)
        caller = Caller(principal)
        seen = policy.visibility(principal, environment=self._common.views.current.environment, origin=caller.origin)
        return seen is not Visibility.NEVER

    def _refuse_stranger(self, held: Registered, by: Principal) -> None:
        spec = spec_of(held)
        owners = {spec.owner, spec.business_owner} - {""}
        owns = by.id in owners or bool(owners & by.groups)
        ours = by.tenant in (held.tenant, self._common.home)
        if by.acts_for_another or not ours or not (owns or by.groups & OPERATORS):
            raise ActRefused(f"Confirming takes the owner of {held.name}, or an operator; {by.id} is none.")


_SHUT: Final = frozenset(CLOSED) - {Lifecycle.CANDIDATE, Lifecycle.RETIRED}
"""States of versions that were in use, and take no calls at present."""


def _all_that_can_go(found: tuple[tuple[Registered, object], ...]) -> tuple[tuple[Registered, Lifecycle], ...]:
    return tuple((each, Lifecycle.RETIRED) for each, _ in found if each.state is not Lifecycle.RETIRED)


def _named(name: str, version: str | None, versions: Versions, *, by: Principal) -> tuple[Registered, ...]:
    found = [each for each in versions.named(name, (by.tenant, SHARED)) if version in (None, each.version)]
    if not found:
        raise ToolUnknown(f"there is no tool named {name!r}" + (f" of version {version!r}" if version else ""))
    return tuple(found)


def _unsayable(held: Registered, states: frozenset[Lifecycle]) -> str:
    """Why nothing about a retirement can be said of a version."""
    if held.state in states:
        return f"the retirement of {held.name} {held.version} was not announced"
    return f"{held.name} {held.version} is {held.state.value}: its retirement can be neither announced nor taken back"


def _announced(held: Registered) -> Retirement:
    going = read(held.retirement)
    if going is None:
        lacks = Halt(held.name, held.version, held.state, lacking=(Need.NOTICE,))
        raise MoveRefused(f"the retirement of {held.name} {held.version} was not announced", lacks)
    return going


def _replacing(held: Registered, instead: Replacement, versions: Versions) -> Registered:
    """The version that is meant: open, and not to go itself."""
    beside = [each for each in versions.named(instead.name, (held.tenant, SHARED)) if each.digest != held.digest]
    meant = [each for each in beside if instead.version in ("", each.version) and each.state in OPEN]
    if not meant:
        which = f"{instead.name} {instead.version}".strip()
        raise MoveRefused(f"{which} cannot take its place: there is no such tool, or it takes no calls")
    other = meant[-1]
    going = read(other.retirement)
    if going is not None:
        raise MoveRefused(f"{other.name} {other.version} cannot take its place: it is to go on {day(going.retires_us)}")
    return other
