"""Finds out what became of calls whose worker died or whose outcome was lost, or says that it cannot.

Nothing here runs an effect again: an orphaned read is let go, an effect is looked up by its tool's `reconcile`, and
what cannot be told is listed unknown until a repeat, a later look-up or a person closes it. A look-up that finds
nothing proves nothing while somebody may still be at work, so a call is looked up only once nobody is.
"""

from __future__ import annotations

from dataclasses import dataclass

from interlock.core.budget import NOTHING, Amounts
from interlock.core.call import Principal, PrincipalKind
from interlock.core.decision import Deny
from interlock.core.effect import CallEvent, CallState
from interlock.core.journal import EventKind
from interlock.core.labels import NO_LABELS
from interlock.core.observation import Observation, from_bytes, to_bytes
from interlock.core.observe import closed_by, lost
from interlock.core.outcome import Outcome
from interlock.core.refusals import Code
from interlock.core.settle import settled_as
from interlock.ports import Claim, OpenCall, Settlement
from interlock.runtime.acts import OPERATORS, signed_by
from interlock.runtime.gate import Gate
from interlock.runtime.proposal import Found
from interlock.runtime.records import Records
from interlock.runtime.world import World


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a pass over open calls came to, as counts."""

    released: int = 0
    found_out: int = 0
    unknown: int = 0


@dataclass(frozen=True, slots=True)
class _End:
    """How a call is settled that did not end by itself; without an observation it is let go."""

    what: CallEvent
    seen: Observation | None
    why: str
    spent: Amounts = NOTHING
    kept: bytes | None = None


class RecoveryDesk:
    """What is done about calls that did not end."""

    def __init__(self, gate: Gate, world: World, records: Records) -> None:
        self._gate = gate
        self._world = world
        self._records = records
        gate.look_again_with(self.look_again)

    async def recover(self) -> Recovered:
        """Settle every call that a dead worker left claimed, and look up again what is unknown."""
        released = found_out = unknown = 0
        for call in await self._world.recovery.open_calls():
            if not call.orphaned:
                unknown += call.state is CallState.UNKNOWN
            elif call.operation.key is None:
                spent = self._gate.unreported(call.operation)
                end = _End(CallEvent.PROVE_NOTHING_HAPPENED, None, "its reader died", spent)
                released += await self._settle(call, end)
            elif (found := await self._gate.look_up(call)) is not None:
                found_out += await self._settle(call, _found_out(found, "looked up by its tool"))
            elif call.state is CallState.CLAIMED:
                spent = self._gate.unreported(call.operation)
                end = _End(CallEvent.LOSE_OUTCOME, self._lost(call), "its worker died", spent)
                unknown += await self._settle(call, end)
            else:
                unknown += 1
        return Recovered(released, found_out, unknown)

    async def look_again(self, claim: Claim, late: Outcome) -> None:
        """Look an unknown call up once the work that went on has ended; what came late of it is evidence, no more.

        A look-up that denies what the work itself reports is not believed: the call stays unknown, for a later one.
        """
        call = await self._world.recovery.find(claim.tenant, claim.operation_id)
        if call is None or call.state is not CallState.UNKNOWN or call.fence != claim.fence or not call.orphaned:
            return
        found = await self._gate.look_up(call)
        if found is not None and (_happened(found.outcome) or not _happened(late)):
            await self._settle(call, _found_out(found, "looked up by its tool once its work had ended"))

    async def unknown(self, by: Principal) -> tuple[OpenCall, ...]:
        """The tenant's calls of which it is not known whether they happened, oldest first."""
        calls = await self._world.recovery.open_calls(by.tenant)
        return tuple(each for each in calls if each.state is CallState.UNKNOWN)

    async def close(self, operation_id: str, *, by: Principal, happened: bool, evidence: str) -> Observation | Deny:
        """Close an unknown call by hand: a person says whether it happened, and what shows it."""
        is_person = by.kind is PrincipalKind.HUMAN and not by.acts_for_another
        if not is_person or not by.groups & OPERATORS or not evidence.strip():
            says = "Closing an unknown call takes a person who is an operator, and evidence in words."
            return Deny(Code.PERMISSION_DENIED, says)
        call = await self._world.recovery.find(by.tenant, operation_id)
        if call is None or call.state is not CallState.UNKNOWN:
            says = "No call of this id is unknown: it has come to its end, or there is none."
            return Deny(Code.PRECONDITION_FAILED, says)
        if not happened and not call.orphaned:
            return Deny(Code.CONTENDED, "Work on it goes on, and may still do it; close it once that has ended.")
        what = CallEvent.SUCCEED if happened else CallEvent.PROVE_NOTHING_HAPPENED
        seen = closed_by(
            by.id, self._lost(call) if call.observation is None else from_bytes(call.observation), happened=happened
        )
        spent = self._gate.unreported(call.operation) if happened else NOTHING
        if await self._settle(call, _End(what, seen, evidence, spent), by=by):
            return seen
        return Deny(Code.CONTENDED, "It was closed at the same time; look again.")

    async def _settle(self, call: OpenCall, end: _End, *, by: Principal | None = None) -> int:
        """Take the call over and settle it, on record; 0 where another was faster.

        Both or neither: between them the call is claimed by this process, whose claims nobody may take over.
        """
        return await self._gate.see_through(self._take_over_and_settle(call, end, by=by))

    async def _take_over_and_settle(self, call: OpenCall, end: _End, *, by: Principal | None) -> int:
        operation, seen = call.operation, end.seen
        record: dict[str, object] = {
            "subject": operation.id,
            "call_id": operation.call_id,
            "tool": operation.tool,
            "version": operation.version,
            **({"principal": operation.principal, "actor": ""} if by is None else signed_by(by)),
            "why": end.why,
            "step": end.what.value,
            "status": "released" if seen is None else seen.status.value,
        }
        claim = await self._world.recovery.take_over(
            call, self._records.act(EventKind.TAKEN_OVER, operation.tenant, {**record, "status": "taken over"})
        )
        if claim is None:
            return 0
        receipt = await self._world.calls.settle(
            Settlement(
                claim,
                end.what,
                self._records.act(EventKind.CLOSED, operation.tenant, record),
                self._world.clock.now_us(),
                observation=end.kept if seen is None or end.kept is not None else to_bytes(seen),
                spent=end.spent,
                labels=NO_LABELS if seen is None else seen.labels or NO_LABELS,
            )
        )
        return int(receipt is not None)

    def _lost(self, call: OpenCall) -> Observation:
        operation = call.operation
        return lost(
            call_id=operation.call_id,
            tool=operation.tool,
            version=operation.version,
            operation_id=operation.id,
            at_us=call.claimed_at_us,
        )


def _found_out(found: Found, why: str) -> _End:
    return _End(settled_as(found.outcome), found.observation, why, found.spent, found.kept)


def _happened(outcome: Outcome) -> bool:
    return settled_as(outcome) in (CallEvent.SUCCEED, CallEvent.SUCCEED_PARTLY)
