"""Settles calls that did not end by themselves: each is taken over by one who settles it, both on record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from interlock.core.budget import NOTHING, Amounts
from interlock.core.call import Principal
from interlock.core.effect import CallEvent
from interlock.core.journal import Event, EventKind
from interlock.core.labels import NO_LABELS
from interlock.core.observation import Observation, to_bytes
from interlock.core.observe_lost import in_part_before, lost
from interlock.core.recovery import Closing
from interlock.ports import OpenCall, Settlement
from interlock.runtime.acts import signed_by
from interlock.runtime.gate import Gate
from interlock.runtime.records import Records
from interlock.runtime.world import World


@dataclass(frozen=True, slots=True)
class End:
    """How a call is settled that did not end by itself, and who knew; without an observation it is let go."""

    what: CallEvent
    seen: Observation | None
    why: str
    spent: Amounts = NOTHING
    kept: bytes | None = None
    first: Closing | None = None
    closer: str = "tool"


class TakingOver:
    """How open calls are settled by whoever was faster."""

    def __init__(self, gate: Gate, world: World, *, records: Records) -> None:
        self._gate = gate
        self._world = world
        self._records = records

    async def settle(self, call: OpenCall, end: End, *, by: Principal | None = None) -> int:
        """Take the call over and settle it, on record; 0 where another was faster.

        Both or neither: between them the call is claimed by this process, whose claims nobody may take over.
        """
        return await self._gate.see_through(self._take_over_and_settle(call, end, by=by))

    async def _take_over_and_settle(self, call: OpenCall, end: End, *, by: Principal | None) -> int:
        seen = end.seen
        signed = {} if by is None else signed_by(by)
        if end.first is not None:
            signed |= {"proposed_by": end.first.by, "proposed_why": end.first.evidence}
        status = "released" if seen is None else seen.status.value
        record = {**signed, "why": end.why, "step": end.what.value, "status": status, "closer": end.closer}
        taking = event_of(call, EventKind.TAKEN_OVER, {**record, "status": "taken over"}, records=self._records)
        claim = await self._world.recovery.take_over(call, taking)
        if claim is None:
            return 0
        receipt = await self._world.calls.settle(
            Settlement(
                claim,
                end.what,
                event_of(call, EventKind.CLOSED, record, records=self._records),
                self._world.clock.now_us(),
                observation=end.kept if seen is None or end.kept is not None else to_bytes(seen),
                spent=end.spent,
                labels=NO_LABELS if seen is None else seen.labels or NO_LABELS,
            )
        )
        return int(receipt is not None)


def event_of(call: OpenCall, kind: EventKind, record: Mapping[str, object], *, records: Records) -> Event:
    """The record of what is done about a call: in the name of whoever made it, unless `record` says who did it."""
    operation = call.operation
    about: dict[str, object] = {
        "subject": operation.id,
        "call_id": operation.call_id,
        "tool": operation.tool,
        "version": operation.version,
        "principal": operation.principal,
        "actor": "",
    }
    return records.act(kind, operation.tenant, {**about, **record})


def lost_call(call: OpenCall) -> Observation:
    """What is known of a claimed call whose worker is gone."""
    operation = call.operation
    seen = lost(
        call_id=operation.call_id,
        tool=operation.tool,
        version=operation.version,
        operation_id=operation.id,
        at_us=call.claimed_at_us,
    )
    return seen if call.observation is None else in_part_before(seen, call.observation)
