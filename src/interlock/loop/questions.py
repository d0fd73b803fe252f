"""Which question stands in the place of one that an approver has edited."""

from __future__ import annotations

from interlock.core.approval import Approval, ApprovalState
from interlock.loop.view import RunView
from interlock.ports import Approvals


async def replacement(approvals: Approvals, view: RunView, *, void: Approval) -> Approval | None:
    """The question that this run puts in the place of a void one; None: there is none, or not yet."""
    for each in await approvals.approvals(view.tenant, None):
        if each.replaces == void.id and each.run == view.id:
            return each
    return None


async def standing(approvals: Approvals, view: RunView, *, asked: str) -> str | None:
    """The id of the question that stands where `asked` was put, however often it was edited; None: none does."""
    held = await approvals.approval(view.tenant, asked)
    found = None if held is None else held[0]
    while found is not None and found.state is ApprovalState.VOID:
        found = await replacement(approvals, view, void=found)
    return None if found is None else found.id
