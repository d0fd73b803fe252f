"""Moves versions between the states of their lifecycle: each through its gate, with its evidence, as one change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from interlock.core.call import Principal, PrincipalKind
from interlock.core.canonical import canonical, decode
from interlock.core.default_versions import default_from_bytes
from interlock.core.documents import Document, DocumentKind
from interlock.core.errors import ActRefused, MoveRefused, ToolUnknown
from interlock.core.evidence_pack import MoveEvidence, Pack, review_day
from interlock.core.journal import EventKind
from interlock.core.lifecycle import CLOSED, MOVES, NAMED, OPEN, Lifecycle
from interlock.core.move_gates import Case, Grounds, Halt, Weighed, excused, refuse_lacking, refuse_wordless, weigh
from interlock.core.references import References
from interlock.core.retirement import Retirement, read, written
from interlock.core.sign_offs import SignOff, reviewers_of, sign_offs_from_bytes, sign_offs_to_bytes, signed_too
from interlock.core.stops import stopping
from interlock.core.stored import caller_of
from interlock.core.tool import SHARED, spec_to_json
from interlock.core.tool import Document as Json
from interlock.ports import Registered
from interlock.runtime.acts import OPERATORS, only_auditors, only_operators, signed_by
from interlock.runtime.changes import Planned
from interlock.runtime.common import Common
from interlock.runtime.documents import held_in, standing
from interlock.runtime.library import readiness
from interlock.runtime.packs import added, name_of, pack_of, packs_in, stood, submitter_of
from interlock.runtime.references import OpenRuns
from interlock.runtime.versions import Versions, contract_of, going_of, spec_to_move
from interlock.runtime.voids import void

REVIEWERS = OPERATORS | {"reviewer"}
"""Groups whose members may sign for a version that they have looked at."""

Going = Callable[[tuple[tuple[Registered, tuple[Pack, ...]], ...]], tuple[tuple[Registered, Lifecycle], ...]]
"""Which of the versions that are there, each with its packs, go where."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A move that somebody asks for: of one version or, without one, of those of the name that can go there."""

    name: str
    version: str | None
    by: Principal
    grounds: Grounds
    drains_until_us: int | None = None


@dataclass(frozen=True, slots=True)
class _Step:
    """One version on its way."""

    held: Registered
    moved: Registered
    pack: Pack
    document: Document


class Moving:
    """What people do with versions that are published. Every move is on record with its evidence."""

    def __init__(self, common: Common) -> None:
        self._common = common

    def find_runs_with(self, open_runs: OpenRuns) -> None:
        """Have open runs that are bound to a version be found by somebody who knows them."""
        self._common.referrers.open_runs = open_runs

    async def move(
        self, name: str, state: Lifecycle, *, version: str | None = None, by: Principal, reason: str | Grounds
    ) -> tuple[Registered, ...]:
        """Freeze, release, restrict, quarantine or retire a version, as one change that takes hold at once.

        Without a version it closes every version that may go there; it opens those that stand where the newest that
        may go there stands, so that releasing what was frozen opens nothing that is quarantined.

        Raises `ActRefused`, `ToolUnknown`, `MoveRefused` where the gate of the move lacks something, no reason is
        given, or none may go there from where it stands.
        """
        wanted = Wanted(name, version, by, _grounds(reason))
        return await self.carry(wanted, partial(_going, state=state), to=state)

    async def freeze(
        self, name: str, *, version: str | None = None, by: Principal, reason: str | Grounds
    ) -> tuple[Registered, ...]:
        """Take no more calls, in every process from its next claim on, bound runs included, until it is released.

        New versions of a name that is frozen as a whole are frozen too.
        """
        return await self.move(name, Lifecycle.FROZEN, version=version, by=by, reason=reason)

    async def release(
        self, name: str, *, version: str | None = None, by: Principal, reason: str | Grounds
    ) -> tuple[Registered, ...]:
        """Open what is frozen, each version where it stood before; nothing that is quarantined or retired opens."""
        return await self.carry(Wanted(name, version, by, _grounds(reason)), _back, to=None)

    async def sign_off(self, name: str, *, version: str, by: Principal, reason: str) -> Registered:
        """Sign for one version: `by` has looked at exactly this one, and says at what. The gates of moves ask for it.

        Raises `ActRefused` unless `by` is a person in the group `operator` or `reviewer`, `ToolUnknown`, `MoveRefused`.
        """
        refuse_wordless(Grounds(reason=reason))
        found = await self._common.version(name, version, tenant=by.tenant)
        if not by.groups & REVIEWERS or by.kind is not PrincipalKind.HUMAN or by.acts_for_another:
            raise ActRefused(f"Signing for a version takes a person who is an operator or a reviewer; {by.id} is none.")
        if by.tenant not in (found.tenant, self._common.home):
            raise ActRefused(f"Signing for what all share takes somebody of the tenant {self._common.home}.")
        kept = await self._kept(DocumentKind.SIGN_OFF, found)
        words = self._common.records.redactor.text(reason)
        mine = SignOff(by=by.id, why=words, at_us=self._common.world.clock.now_us(), digest=found.digest)
        record = {"subject": name, **signed_by(by), "version": version, "spec": found.digest, "reason": words}
        event = self._common.records.act(EventKind.TOOL_SIGNED_OFF, by.tenant, record)
        changed = kept.changed(sign_offs_to_bytes(signed_too(_signed_in(kept), mine)))
        await self._common.world.documents.save_documents((changed,), event)
        return found

    async def evidence(self, name: str, *, version: str, by: Principal) -> MoveEvidence:
        """All that is kept of a version's moves. Raises `ActRefused` unless `by` may read the log, `ToolUnknown`, and
        `SpecInvalid` where its contract cannot be read.
        """
        found = await self._common.version(name, version, tenant=by.tenant)
        self._refuse_unread(found, by, "Reading the evidence of")
        packs = packs_in(await self._kept(DocumentKind.EVIDENCE, found))
        contract = contract_of(found)
        return MoveEvidence(name=name, version=version, digest=found.digest, contract=contract, packs=packs)

    async def review_days(self, *, tenant: str) -> Mapping[tuple[str, str], str]:
        """The day on which each version is to be looked at again, where one was named, by name and version."""
        _, documents = await self._common.world.documents.documents(DocumentKind.EVIDENCE)
        found = [packs_in(each) for each in documents if each.tenant in (tenant, SHARED)]
        return {(packs[-1].name, packs[-1].version): day for packs in found if (day := review_day(packs))}

    async def of_digest(self, digest: str, *, tenant: str) -> Registered:
        """The version that was ever published with this digest, whatever became of it. Raises `ToolUnknown`."""
        _, versions = await self._common.views.versions()
        found = versions.digested(digest)
        if found is not None and found.tenant in (tenant, SHARED):
            return found
        raise ToolUnknown(f"no version has the digest {digest[:64]!r}")

    async def readies(
        self, name: str, state: Lifecycle, *, version: str, by: Principal, reason: str | Grounds = "asked only"
    ) -> tuple[Weighed, ...]:
        """How the gate of such a move would stand if it were made now; nothing is moved.

        Raises as `move` does, and `ActRefused` unless `by` may read the log.
        """
        found = await self._common.version(name, version, tenant=by.tenant)
        self._refuse_unread(found, by, "Weighing a move of")
        if state not in MOVES[found.state]:
            raise self._stands(found, state)
        _, versions = await self._common.views.versions()
        packs = packs_in(await self._kept(DocumentKind.EVIDENCE, found))
        wanted = Wanted(name, version, by, _grounds(reason))
        case = await self._case(found, wanted, state, packs=packs, versions=versions)
        return weigh(MOVES[found.state][state], case)

    async def carry(self, wanted: Wanted, going: Going, *, to: Lifecycle | None) -> tuple[Registered, ...]:
        """Move what `going` says through its gates, as one change; `to` is where it was to go, for who is refused."""
        refuse_wordless(wanted.grounds)
        wanted = replace(wanted, grounds=self._redacted(wanted.grounds))
        moved = await self._common.carried_out(partial(self._planned, wanted, going=going, to=to))
        for each in moved:
            if each.state is Lifecycle.RETIRED:
                await self._void_all(each, wanted)
        return moved

    async def _void_all(self, gone: Registered, wanted: Wanted) -> None:
        """No question waits for what may not run any more, but those of runs that may go on until their date."""
        for approval in await self._common.referrers.waiting(gone):
            found = await self._common.world.approvals.approval(approval.tenant, approval.id)
            is_bound = found is not None and caller_of(found[1].sealed).pin is not None and approval.run is not None
            if not (is_bound and wanted.drains_until_us):
                await void(
                    self._common.world,
                    self._common.records,
                    approval,
                    by=wanted.by,
                    note=f"retired: {wanted.grounds.reason}",
                )

    async def _planned(
        self, wanted: Wanted, versions: Versions, *, going: Going, to: Lifecycle | None
    ) -> Planned[tuple[Registered, ...]]:
        found = tuple(
            each
            for each in versions.named(wanted.name, (wanted.by.tenant, SHARED))
            if wanted.version in (None, each.version)
        )
        only_operators(wanted.by, "Moving a tool", tenants={each.tenant for each in found}, home=self._common.home)
        if not found:
            which = "" if wanted.version is None else f" of version {wanted.version[:128]!r}"
            raise ToolUnknown(f"there is no tool named {wanted.name!r}{which}")
        kept = {each: await self._kept(DocumentKind.EVIDENCE, each) for each in found}
        steps = going(tuple((each, packs_in(document)) for each, document in kept.items()))
        if not steps:
            raise self._stands(found[-1], to)
        await self._refuse_promoted(steps, versions)
        done = [await self._step(held, to, wanted, kept=kept[held], versions=versions) for held, to in steps]
        return Planned(
            tuple(each.moved for each in done),
            tuple(each.moved for each in done),
            tuple(each.document for each in done),
            self._common.records.act(EventKind.TOOL_MOVED, wanted.by.tenant, _record(wanted, done), kept=_packs(done)),
        )

    async def _refuse_promoted(self, steps: tuple[tuple[Registered, Lifecycle], ...], versions: Versions) -> None:
        """Raise where a promotion would hold a name at what is gone for good, though others could serve it."""
        going = [held for held, to in steps if to is Lifecycle.RETIRED]
        for held in going:
            others = [each for each in versions.of(held.tenant, held.name) if each not in going]
            if not any(each.state in NAMED for each in others):
                continue
            kept = await self._kept(DocumentKind.DEFAULT, held, name=held.name)
            default = held_in(kept, default_from_bytes, what=f"the default version of {held.name}")
            if default is not None and default.version == held.version:
                says = f"{held.name} was promoted to {held.version}, and would stay closed with it"
                raise MoveRefused(says, replace(self._halt(held, Lifecycle.RETIRED), promoted=True))

    async def _step(
        self, held: Registered, to: Lifecycle, wanted: Wanted, *, kept: Document, versions: Versions
    ) -> _Step:
        """One version through its gate, with its pack."""
        packs = packs_in(kept)
        case = await self._case(held, wanted, to, packs=packs, versions=versions)
        weighed = weigh(MOVES[held.state][to], case)
        gate = weighed if self._common.gated else excused(weighed, case)
        refuse_lacking(gate, at=self._halt(held, to))
        # What closes must not wait until all runs have been looked at.
        at_once = to in (Lifecycle.FROZEN, Lifecycle.QUARANTINED)
        rests = await self._common.referrers.of(held, versions, at_once=at_once)
        moved = _moved(held, to, wanted, case=case)
        if to is Lifecycle.RETIRED:
            _refuse_replacing(held, rests)
        pack = replace(
            pack_of(held, to=to, by=wanted.by, at_us=case.now_us, grounds=wanted.grounds),
            started=held.state,
            held_to=self._common.gated,
            gate=gate,
            impact=Json.of(rests.told),
            readiness=Json.of({} if case.readiness is None else spec_to_json(case.readiness)),
            retirement=Json.of(decode(moved.retirement.encode()) if moved.retirement else {}),
        )
        return _Step(held, moved, pack, added(kept, pack))

    async def _case(
        self,
        held: Registered,
        wanted: Wanted,
        to: Lifecycle,
        *,
        packs: tuple[Pack, ...],
        versions: Versions,
    ) -> Case:
        signed = _signed_in(await self._kept(DocumentKind.SIGN_OFF, held))
        beside = [each for each in versions.of(held.tenant, held.name) if each.digest != held.digest]
        back = next((each.version for each in reversed(beside) if each.state in OPEN), "")
        return Case(
            spec=spec_to_move(held, to),
            digest=held.digest,
            grounds=wanted.grounds,
            by=wanted.by.id,
            now_us=self._common.world.clock.now_us(),
            to=to,
            was=stood(packs, now=held.state),
            submitter=submitter_of(packs),
            reviewers=reviewers_of(signed, held.digest),
            readiness=await readiness(self._common.world.documents, held.digest, home=self._common.home),
            rollback=f"version {back}" if back else "",
            retirement=read(held.retirement),
        )

    async def _kept(self, kind: DocumentKind, found: Registered, *, name: str = "") -> Document:
        """The document of this kind about a version, or about its `name`; an empty one where there is none yet."""
        named = name or name_of(found)
        return await standing(self._common.world.documents, kind, tenant=found.tenant, name=named)

    def _stands(self, found: Registered, to: Lifecycle | None) -> MoveRefused:
        """Why a version cannot go there, or be released: it is there already, or no way leads there."""
        state, where = found.state.value, "be released: none is frozen" if to is None else f"become {to.value}"
        cannot = "already" if found.state is to else f"and cannot {where}"
        return MoveRefused(f"{found.name} {found.version} is {state} {cannot}", self._halt(found, to))

    def _halt(self, found: Registered, to: Lifecycle | None) -> Halt:
        """Where a version stands that is to move, with what closes it beside that."""
        going, stops = going_of(found), self._common.views.current.catalogue.stops
        covering = stopping(stops, spec_to_move(found, Lifecycle.FROZEN), tenant=found.tenant)
        return Halt(
            found.name,
            found.version,
            found.state,
            to,
            retires_us=None if going is None else going.retires_us,
            stops=tuple(each.id for each in covering),
        )

    def _refuse_unread(self, found: Registered, by: Principal, what: str) -> None:
        only_auditors(by, f"{what} {found.name}", tenants={found.tenant, self._common.home})

    def _redacted(self, grounds: Grounds) -> Grounds:
        """What people say goes where the log goes: without secrets."""
        text = self._common.records.redactor.text
        return Grounds(
            reason=text(grounds.reason),
            samples=tuple(map(text, grounds.samples)),
            disposition=text(grounds.disposition),
            rollback=text(grounds.rollback),
            review_on=grounds.review_on,
            expand_when=tuple(map(text, grounds.expand_when)),
            withdraw_when=tuple(map(text, grounds.withdraw_when)),
            waive={need: text(why) for need, why in grounds.waive.items()},
        )


def _grounds(reason: str | Grounds) -> Grounds:
    return reason if isinstance(reason, Grounds) else Grounds(reason=reason)


def _going(
    found: tuple[tuple[Registered, tuple[Pack, ...]], ...], *, state: Lifecycle
) -> tuple[tuple[Registered, Lifecycle], ...]:
    """Which of these versions move there, oldest first."""
    able = [each for each, _ in found if state in MOVES[each.state]]
    if state not in CLOSED:
        able = [each for each in able if each.state is able[-1].state]
    return tuple((each, state) for each in able)


def _back(found: tuple[tuple[Registered, tuple[Pack, ...]], ...]) -> tuple[tuple[Registered, Lifecycle], ...]:
    """Where frozen versions stood before. What was published while its name was frozen never stood anywhere."""
    frozen = [(each, stood(packs, now=each.state)) for each, packs in found if each.state is Lifecycle.FROZEN]
    return tuple((each, Lifecycle.AVAILABLE if was not in OPEN else was) for each, was in frozen)


def _moved(held: Registered, to: Lifecycle, wanted: Wanted, *, case: Case) -> Registered:
    if to is not Lifecycle.RETIRED:
        return replace(held, state=to)
    now_us, why = case.now_us, wanted.grounds.reason
    going = case.retirement or Retirement(now_us, now_us, by=wanted.by.id, reason=why)
    gone = replace(going, retired_us=now_us, drains_until_us=wanted.drains_until_us)
    return replace(held, state=to, retirement=written(gone))


def _refuse_replacing(held: Registered, rests: References) -> None:
    if rests.replaces:
        raise MoveRefused(
            f"{held.name} {held.version} takes the place of {', '.join(rests.replaces)}: give those another first, so"
            " that no caller is sent from one retired tool to the next"
        )


def _record(wanted: Wanted, done: list[_Step]) -> dict[str, object]:
    targets = sorted({each.moved.state.value for each in done})
    waived = {each.need.value: each.says for step in done for each in step.pack.gate if each.by}
    return {
        "subject": wanted.name,
        **signed_by(wanted.by),
        "versions": [
            {"tenant": each.held.tenant, "version": each.held.version, "from": each.held.state.value} for each in done
        ],
        "to": ", ".join(targets),
        "reason": wanted.grounds.reason,
        **({"waived": waived} if waived else {}),
    }


def _packs(done: list[_Step]) -> bytes:
    return canonical([spec_to_json(each.pack) for each in done])


def _signed_in(document: Document) -> tuple[SignOff, ...]:
    """Who has signed for a version, as it is kept. Raises `StoreError` where that cannot be read."""
    return held_in(document, sign_offs_from_bytes, what=f"the signatures {document.name}") or ()
