"""Approvals: people decide on stored operations, and what they approved runs once.

Who decides is who the authenticated channel says, never a model. An unclear decision is a denial; a decision is
guarded in the store, so of two that race one wins.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from interlock.core.approval import (
    Approval,
    ApprovalEvent,
    ApprovalState,
    Vote,
    may_vote,
    next_state,
    tally,
)
from interlock.core.call import Caller, Principal, ToolCall
from interlock.core.catalogue import Catalogue
from interlock.core.decision import Deny
from interlock.core.errors import ApprovalUnknown
from interlock.core.journal import EventKind
from interlock.core.observation import Observation
from interlock.core.operation import Operation
from interlock.core.refusals import Code
from interlock.core.stored import arguments_of, caller_of, thaw
from interlock.ports import ApprovalChange, StoredOperation
from interlock.runtime.acts import about, signed_by
from interlock.runtime.gate import Gate
from interlock.runtime.records import Records
from interlock.runtime.sight import Sight, may_see, took_part
from interlock.runtime.world import World

MISSING = Deny(Code.APPROVAL_MISMATCH, "There is no such approval.")
TRIES = 5

Decided = Callable[[str, str], Awaitable[None]]
"""Told tenant and run of an approval that waits no more."""

ENDED: Mapping[ApprovalState, Code] = {
    ApprovalState.GRANTED: Code.APPROVAL_MISMATCH,
    ApprovalState.USED: Code.APPROVAL_MISMATCH,
    ApprovalState.DENIED: Code.APPROVAL_DENIED,
    ApprovalState.EXPIRED: Code.APPROVAL_EXPIRED,
    ApprovalState.WITHDRAWN: Code.APPROVAL_MISMATCH,
    ApprovalState.VOID: Code.APPROVAL_MISMATCH,
}
"""What deciding one is refused with that is decided already, whoever it is that comes late."""


class ApprovalDesk:
    """What people do with approvals. Every method acts within the tenant of `by`.

    Approvals are seen by those who asked, edited or decided, by those whose decision they take, and by operators and
    auditors. To all others there are none.
    """

    def __init__(self, gate: Gate, world: World, *, records: Records, sight: Sight) -> None:
        self._gate = gate
        self._sight = sight
        self._world = world
        self._records = records
        self._then: Decided | None = None

    def and_then(self, then: Decided) -> None:
        """Have something go on at once that waits for decisions; it finds them by itself too, a little later."""
        self._then = then

    async def list(self, *, by: Principal, state: ApprovalState | None = None) -> tuple[Approval, ...]:
        """The approvals that `by` may see, oldest first; those whose time has passed are expired first."""
        for approval in await self._world.approvals.approvals(by.tenant, ApprovalState.PENDING):
            await self._expire(approval)
        found = await self._world.approvals.approvals(by.tenant, state)
        return tuple(each for each in found if may_see(each, by))

    async def show(self, approval_id: str, *, by: Principal) -> Approval | None:
        """One approval, or None where there is none of that id that `by` may see."""
        found = await self._world.approvals.approval(by.tenant, approval_id)
        return None if found is None or not may_see(found[0], by) else await self._expire(found[0])

    async def approve(self, approval_id: str, *, by: Principal, note: str = "") -> Approval | Deny:
        """Vote for it. The approval is granted once its roles and quorum are met. A refusal says why."""
        return await self._vote(approval_id, by, approve=True, note=note)

    async def decline(self, approval_id: str, *, by: Principal, note: str = "") -> Approval | Deny:
        """Vote against it: one is enough, and final for that operation in that run."""
        return await self._vote(approval_id, by, approve=False, note=note)

    async def withdraw(self, approval_id: str, *, by: Principal, note: str = "") -> Approval | Deny:
        """Take back a waiting question or an unused grant: by who asked, or by who approved."""
        found = await self._world.approvals.approval(by.tenant, approval_id)
        if found is None:
            return MISSING
        approval = found[0]
        if by.id not in approval.requesters and not approval.has_vote_of(by.id):
            return Deny(Code.PERMISSION_DENIED, "Only who asked or who approved may withdraw it.")
        return await self._step(approval, ApprovalEvent.WITHDRAW, EventKind.APPROVAL_WITHDRAWN, by=by, note=note)

    async def resume(self, approval_id: str, *, by: Principal) -> Observation:
        """Run what was approved: the stored operation, decided anew for the requester of today, once.

        `by` is who brings it about, on record before it runs; what runs, runs for the one who asked. Repeating it
        replays the result. The result is shown to those who asked or decided, and to whom policy would let make the
        same call; others hear only how it stands.

        Raises `ApprovalUnknown`.
        """
        found = await self._world.approvals.approval(by.tenant, approval_id)
        if found is None:
            raise ApprovalUnknown(f"there is no approval {approval_id!r}; list those that are there")
        approval, stored = await self._expire(found[0]), found[1]
        caller = caller_of(stored.sealed)
        principal = await self._today(caller.principal)
        call = ToolCall(approval.call_id, stored.tool, expectation=approval.expectation)
        today = replace(caller, principal=principal or caller.principal)

        def operation(catalogue: Catalogue) -> Operation | Deny:
            if principal is None:
                return Deny(Code.PERMISSION_DENIED, "Who asked for this is no longer known.")
            return thaw(stored.sealed, catalogue, principal=principal)

        is_part = took_part(approval, by)
        verdict = None if is_part else await self._sight.verdict(stored, by)
        record = {**self._record(approval, by, note=""), "visible": is_part or verdict is not None}
        await self._world.audit.append(self._records.act(EventKind.APPROVAL_RESUMED, by.tenant, record))
        seen = await self._gate.resume(call, today, operation, approval=approval)
        return seen if is_part else self._sight.shown(seen, verdict)

    async def edit(self, approval_id: str, *, by: Principal, arguments: str) -> Observation | Deny:
        """Put other arguments in its place: a new operation of the same requester, decided and asked for afresh."""
        found = await self._world.approvals.approval(by.tenant, approval_id)
        if found is None:
            return MISSING
        approval, stored = found
        refused = self._may_not(approval, by)
        if refused is not None:
            return refused
        call = ToolCall(approval.call_id, stored.tool, arguments, approval.expectation)
        caller = await self._requester(stored)
        if self._gate.is_operation(call, caller):
            replaced = await self._step(approval, ApprovalEvent.VOID, EventKind.APPROVAL_VOID, by=by, note="edited")
            if isinstance(replaced, Deny):
                return replaced
        return await self._gate.propose(call, caller, replaces=approval.edited_by(by.id))

    async def reveal(self, approval_id: str, *, by: Principal) -> bytes | Deny:
        """The whole arguments as JSON, secrets included, for one who may decide; that they were shown is on record."""
        found = await self._world.approvals.approval(by.tenant, approval_id)
        if found is None:
            return MISSING
        approval, stored = found
        refused = self._may_not(approval, by)
        if refused is not None:
            return refused
        record = self._record(approval, by, note="arguments")
        await self._world.audit.append(self._records.act(EventKind.REVEALED, by.tenant, record))
        return arguments_of(stored.sealed)

    async def _requester(self, stored: StoredOperation) -> Caller:
        caller = caller_of(stored.sealed)
        principal = await self._today(caller.principal)
        return replace(caller, principal=principal or replace(caller.principal, groups=frozenset()))

    async def _today(self, principal: Principal) -> Principal | None:
        if self._world.principals is None:
            return principal
        return await self._world.principals.current(principal)

    async def _vote(self, approval_id: str, by: Principal, *, approve: bool, note: str) -> Approval | Deny:
        for _ in range(TRIES):
            found = await self._world.approvals.approval(by.tenant, approval_id)
            if found is None:
                return MISSING
            approval = await self._expire(found[0])
            refused = self._may_not(approval, by)
            if refused is not None:
                return refused
            vote = Vote(by.id, by.groups, approve, self._world.clock.now_us(), note)
            changed = await self._write(approval, vote, by)
            if changed is not None:
                return changed
        return Deny(Code.CONTENDED, "Others decided at the same time; look again.")

    def _may_not(self, approval: Approval, by: Principal) -> Deny | None:
        ended = ENDED.get(approval.state)
        if ended is not None:
            return Deny(ended, f"The approval is {approval.state.value}.")
        why = may_vote(approval, by=by, now_us=self._world.clock.now_us())
        return None if why is None else Deny(Code.PERMISSION_DENIED, why)

    async def _write(self, approval: Approval, vote: Vote, by: Principal) -> Approval | None:
        votes = (*approval.votes, vote)
        event = tally(approval.requirement, votes)
        state = (next_state(approval.state, event) if event is not None else None) or approval.state
        changed = replace(approval, votes=votes, state=state)
        record = self._record(approval, by, note=vote.note)
        record |= {"approve": vote.approve, "state": state.value, "roles": sorted(by.groups)}
        written = self._records.act(EventKind.APPROVAL_VOTED, by.tenant, record, kept=approval.summary.encode())
        receipt = await self._world.approvals.change(ApprovalChange(approval, changed, written))
        return None if receipt is None else await self._told(changed)

    async def _step(
        self, approval: Approval, event: ApprovalEvent, kind: EventKind, *, by: Principal, note: str
    ) -> Approval | Deny:
        state = next_state(approval.state, event)
        if state is None:
            return Deny(Code.APPROVAL_MISMATCH, f"The approval is {approval.state.value}.")
        changed = replace(approval, state=state)
        written = self._records.act(kind, by.tenant, {**self._record(approval, by, note=note), "state": state.value})
        receipt = await self._world.approvals.change(ApprovalChange(approval, changed, written))
        if receipt is None:
            return Deny(Code.CONTENDED, "It was decided at the same time; look again.")
        return await self._told(changed)

    async def _told(self, changed: Approval) -> Approval:
        """The approval, once what waits for it was told."""
        if self._then is not None and changed.run is not None and changed.state is not ApprovalState.PENDING:
            await self._then(changed.tenant, changed.run)
        return changed

    async def _expire(self, approval: Approval) -> Approval:
        """The approval as it is now: expired, on record, where its time has passed."""
        state = next_state(approval.state, ApprovalEvent.EXPIRE)
        if state is None or not approval.is_expired(self._world.clock.now_us()):
            return approval
        changed = replace(approval, state=state)
        record = {**about(approval), "state": state.value}
        written = self._records.act(EventKind.APPROVAL_EXPIRED, approval.tenant, record)
        await self._world.approvals.change(ApprovalChange(approval, changed, written))
        return changed

    @staticmethod
    def _record(approval: Approval, by: Principal, *, note: str) -> dict[str, object]:
        return {**about(approval), **signed_by(by), "note": note}
