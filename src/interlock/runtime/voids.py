"""Takes approvals out of play whose operation may not run any more as it was asked for."""

from __future__ import annotations

from dataclasses import replace

from interlock.core.approval import Approval, ApprovalEvent, ApprovalState, next_state
from interlock.core.call import Principal
from interlock.core.journal import EventKind
from interlock.ports import ApprovalChange
from interlock.runtime.acts import about, signed_by
from interlock.runtime.records import Records
from interlock.runtime.world import World

LIVE = (ApprovalState.PENDING, ApprovalState.GRANTED)
"""Approvals that can still let something run."""


async def void(world: World, records: Records, approval: Approval, *, by: Principal, note: str) -> None:
    """Offer it to nobody any more, on record, unless it has come to its end meanwhile."""
    found: Approval | None = approval
    while found is not None and (state := next_state(found.state, ApprovalEvent.VOID)) is not None:
        record = {**about(found), **signed_by(by), "note": note}
        event = records.act(EventKind.APPROVAL_VOID, found.tenant, {**record, "state": state.value})
        change = ApprovalChange(found, replace(found, state=state), event)
        if await world.approvals.change(change) is not None:
            return
        stored = await world.approvals.approval(found.tenant, found.id)
        found = None if stored is None else stored[0]
