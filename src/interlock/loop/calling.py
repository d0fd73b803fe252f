"""The half of a run's work in which the calls of a turn go to the gate, and people are waited for."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Final

from interlock.core.approval import Approval, ApprovalState
from interlock.core.call import Caller, Principal
from interlock.core.decision import Deny
from interlock.core.frozen import frozen
from interlock.core.observation import Observation, Status
from interlock.core.recovery import NO_LOOKS
from interlock.core.refusals import Code
from interlock.loop.entries import Ended, HandedOff, Moved, Observed, Step
from interlock.loop.hand_off import handed_to
from interlock.loop.machine import Cause, State
from interlock.loop.noting import Noting
from interlock.loop.offer import NOT_OFFERED, Planned, planned
from interlock.loop.questions import replacement
from interlock.loop.reach import caller_for
from interlock.loop.verdict import calls_over, is_near
from interlock.loop.view import Round, RunView
from interlock.models.turn import Proposed
from interlock.runtime.batch import TurnSoFar, call_many

if TYPE_CHECKING:
    from interlock.loop.drive import Drive


Seen = tuple[int, Observation]
"""What came of a call, by its place among those that are planned."""


@frozen
class Came:
    """What came of a call, by its position in the turn. `invented`, `edited`: as in `Observed`."""

    position: int
    seen: Observation
    invented: bool = False
    edited: bool = False


FIXABLE: Final = frozenset({Code.INVALID_JSON, Code.TOOL_ARGUMENT_INVALID, Code.TOOL_NOT_FOUND, Code.TOOL_NOT_ALLOWED})
"""What a model can mend by proposing otherwise."""

IN_PROGRESS_S: Final = 0.5
IN_PROGRESS_TRIES: Final = 120
"""How often a call is proposed again that a dead process has left claimed: recovery comes to it in between."""

LOST_TRIES: Final = 20
"""How often a call is that a dead process has left unknown: recovery looks it up in between."""

EDIT_LOOKS: Final = 2
"""How often it is looked what was put in the place of a question that is void."""

# What every call is compared with: looking a member up in its class costs as much as a call.
_OK, _WAITING, _WAITING_APPROVAL = Status.OK, Status.WAITING, State.WAITING_APPROVAL
_OBSERVED = Cause.OBSERVED
_BACK_TO_MODEL = (Cause.OBSERVED, Cause.ALL_OBSERVED, Cause.RETURNED)


class Calling:
    """Puts the calls of one run to the gate."""

    def __init__(self, drive: Drive) -> None:
        self._drive = drive
        self._lost: Counter[str] = Counter()
        self._is_taken_over = drive.claim.fence > 1

    async def step(self) -> bool:
        """Propose what is open, resume what was decided, or wait. False: the run rests or is over."""
        drive, found = self._drive, self._drive.view.round
        if drive.view.state is _WAITING_APPROVAL:
            if await self._decided(found):
                await drive.move(Step(Moved(), (Cause.DECIDED,)))
                return True
            return not await drive.rest(until_us=_expires_us(found))
        await drive.sure()
        principal = await drive.reach.today(drive.view.begun)
        if principal is None:
            await drive.end(Cause.STOPPED, Ended("principal", "Who this run is for is no longer known."))
            return False
        if found.is_open:
            asked = await self._asked_before(found) if self._is_taken_over else ()
            await (self._write(found, asked, working_ms=0) if asked else self._propose(found, principal))
            return True
        decided = await self._decided(found)
        for each in decided:
            await self._resume(found, each, principal)
        if not decided:
            await drive.move(Step(Moved(), (Cause.ASKED,)))
        return True

    # --- proposing ----------------------------------------------------------------------------------------------------

    async def _propose(self, found: Round, principal: Principal) -> None:
        """Put what is open to the gate, and write down what comes of each call as it ends."""
        drive, view = self._drive, self._drive.view
        caller = caller_for(view, principal, turn=found.number, model=found.responded.model)
        plans = self._planned(found, caller)
        if len(plans) == 1:
            await self._propose_one(plans[0], caller)
            return
        async with aclosing(self._many(found, plans, caller)) as batches:
            began_s = drive.reach.world.clock.monotonic_s()
            while (batch := await drive.see(anext(batches, None))) is not None:
                now_s = drive.reach.world.clock.monotonic_s()
                came = [_came(plans[index], seen) for index, seen in batch]
                await self._write(found, came, working_ms=int((now_s - began_s) * 1_000))
                began_s = now_s

    async def _propose_one(self, plan: Planned, caller: Caller) -> None:
        """Put the only call of a turn to the gate; what comes of it is written with its settlement, if it has one."""
        drive, monotonic_s = self._drive, self._drive.clock.monotonic_s
        began_s, nonce = monotonic_s(), drive.reach.world.entropy.bytes(16).hex()

        def steps_of(seen: Observation) -> list[Step]:
            working_ms = int((monotonic_s() - began_s) * 1_000)
            if seen.error is None:
                observed = Observed(plan.proposed.position, seen, nonce, working_ms)
            else:
                observed = _observed(_came(plan, seen), nonce, working_ms=working_ms)
            waits = seen.status is _WAITING
            return [Step(observed, (_OBSERVED,))] if waits else self._through(observed, (observed,))

        noting = Noting(drive, steps_of)
        seen = await drive.see(self._one(plan, caller, noting))
        if not await drive.took(noting):
            await drive.move(*steps_of(seen))

    def _planned(self, found: Round, caller: Caller) -> list[Planned]:
        drive, view = self._drive, self._drive.view
        offered = drive.asking.offered(found.responded.dialect, caller)
        plans = [planned(call, call_id=_call_id(view, found, call), offered=offered) for call in found.calls]
        over: dict[int, str] = {}
        if is_near(view):
            over = calls_over(view, [(each.proposed.position, each.call.name) for each in plans])
        elif None not in [each.pin for each in plans]:
            return plans
        return [_refused(each, over.get(each.proposed.position)) for each in plans]

    async def _one(self, plan: Planned, caller: Caller, noting: Noting | None = None) -> Observation:
        """One call of its own turn; again where a dead process is not yet recovered that had it claimed."""
        gate = self._drive.reach.gate
        if plan.deny is not None:
            return await gate.refuse(plan.call, caller, plan.deny, note=noting)
        if plan.pin is not None:
            caller = caller.pinned(plan.pin)
        for _ in range(IN_PROGRESS_TRIES):
            seen = await gate.propose(plan.call, caller, note=noting)
            if seen.status is _OK or not await self._is_in_progress(seen):
                break
            await self._drive.reach.world.clock.sleep(IN_PROGRESS_S)
        return seen

    async def _many(self, found: Round, plans: Sequence[Planned], caller: Caller) -> AsyncGenerator[list[Seen], None]:
        """All calls of a turn, in their order as far as they depend on it; what has ended, in batches."""
        gate, views = self._drive.reach.gate, self._drive.reach.views
        ended: asyncio.Queue[Seen | None] = asyncio.Queue()
        known = {
            index: found.observed[plan.proposed.position].seen
            for index, plan in enumerate(plans)
            if plan.proposed.position in found.observed
        }
        denied = [
            (index, gate.refuse(plan.call, caller.at(index), plan.deny))
            for index, plan in enumerate(plans)
            if plan.deny is not None and index not in known
        ]
        seen = await asyncio.gather(*[refusing for _, refusing in denied]) if denied else []
        refused = [(index, each) for (index, _), each in zip(denied, seen, strict=True)]
        if refused:
            yield refused
        so_far = TurnSoFar(
            pins={plan.call.name: plan.pin for plan in plans if plan.pin is not None},
            known={**known, **dict(refused)},
            tell=lambda index, seen: ended.put_nowait((index, seen)),
        )
        work = asyncio.create_task(
            call_many(gate, [plan.call for plan in plans], caller, view=views.current, so_far=so_far)
        )
        work.add_done_callback(lambda _: ended.put_nowait(None))
        try:
            while (first := await ended.get()) is not None:
                batch = [first]
                while not ended.empty() and (more := ended.get_nowait()) is not None:
                    batch.append(more)
                known_now = [each for each in batch if not await self._is_in_progress(each[1])]
                if len(known_now) < len(batch):
                    await self._drive.reach.world.clock.sleep(IN_PROGRESS_S)
                yield known_now
                if work.done() and ended.empty():
                    break
            await work
        finally:
            if not work.done():
                work.cancel()
                await asyncio.wait([work])

    async def _is_in_progress(self, seen: Observation) -> bool:
        """Whether somebody is at the call, or about to look up what became of it once its process had died."""
        if seen.error is not None and seen.error.code is Code.IDEMPOTENCY_IN_PROGRESS:
            return True
        operation_id = seen.operation_id or ""
        if seen.status is not Status.UNKNOWN or not seen.replayed or self._lost[operation_id] >= LOST_TRIES:
            return False
        self._lost[operation_id] += 1
        tenant = self._drive.view.tenant
        looks = await self._drive.reach.world.look_ups.looks(tenant)
        return not looks.get((tenant, operation_id), NO_LOOKS).escalated

    # --- people -------------------------------------------------------------------------------------------------------

    async def _asked_before(self, found: Round) -> list[Came]:
        """What was asked by a process that died before it could write that down, and granted meanwhile: to propose it
        again would put a second question to people."""
        self._is_taken_over = False
        granted = await self._granted()
        waiting = [(call.position, granted.get(_call_id(self._drive.view, found, call))) for call in found.open]
        return [Came(position, _waits(approval)) for position, approval in waiting if approval is not None]

    async def _granted(self) -> dict[str, Approval]:
        """The grants of this run that nothing has used yet, by call."""
        view = self._drive.view
        granted = await self._drive.reach.world.approvals.approvals(view.tenant, ApprovalState.GRANTED)
        return {each.call_id: each for each in granted if each.run == view.id}

    async def _decided(self, found: Round) -> list[Observed]:
        """The waiting calls that people have decided, or that have waited for too long."""
        drive = self._drive
        now_us = drive.now_us()
        decided = []
        for each in found.waiting:
            held = await drive.reach.world.approvals.approval(drive.view.tenant, each.seen.approval_id or "")
            is_open = held is not None and held[0].state is ApprovalState.PENDING and not held[0].is_expired(now_us)
            if not is_open:
                decided.append(each)
        return decided

    async def _resume(self, found: Round, waited: Observed, principal: Principal) -> None:
        """Run what was approved, or hear that it was not: the stored operation, whatever the model would say now.

        A grant whose process died before anything happened is used up all the same: then people are asked once more.
        """
        drive = self._drive
        edited = await self._edited(waited)
        if edited is not None:
            await self._write(found, [Came(waited.position, edited, edited=True)], working_ms=0)
            return
        began_s = drive.reach.world.clock.monotonic_s()
        seen = await drive.see(drive.reach.approvals.resume(waited.seen.approval_id or "", by=principal))
        if await self._is_used_in_vain(seen, waited):
            seen = await drive.see(self._again(found, waited.position, principal))
        if await self._is_in_progress(seen):
            await drive.see(drive.reach.world.clock.sleep(IN_PROGRESS_S))
            return
        working_ms = int((drive.reach.world.clock.monotonic_s() - began_s) * 1_000)
        await self._write(found, [Came(waited.position, seen, edited=waited.edited)], working_ms=working_ms)

    async def _edited(self, waited: Observed) -> Observation | None:
        """What is waited for where somebody put other arguments in the place of those that were asked about."""
        drive = self._drive
        for _ in range(EDIT_LOOKS):
            held = await drive.reach.world.approvals.approval(drive.view.tenant, waited.seen.approval_id or "")
            if held is None or held[0].state is not ApprovalState.VOID:
                return None
            edited = await replacement(drive.reach.world.approvals, drive.view, void=held[0])
            if edited is not None:
                asks = {"approval_id": edited.id, "operation_id": edited.operation_id}
                return waited.seen.changed({**asks, "expires_at_us": edited.expires_at_us})
            await drive.see(drive.reach.world.clock.sleep(IN_PROGRESS_S))  # the new question follows the old one's end
        return None

    async def _is_used_in_vain(self, seen: Observation, waited: Observed) -> bool:
        """Whether a grant was used by a try of which is known that it came to nothing: any other is replayed."""
        if seen.error is None or seen.error.code is not Code.APPROVAL_MISMATCH:
            return False
        world, tenant = self._drive.reach.world, self._drive.view.tenant
        held = await world.approvals.approval(tenant, waited.seen.approval_id or "")
        return held is not None and held[0].state is ApprovalState.USED

    async def _again(self, found: Round, position: int, principal: Principal) -> Observation:
        """The same call, under the same key; or its grant, where a process asked that died before it wrote that."""
        caller = caller_for(self._drive.view, principal, turn=found.number, model=found.responded.model)
        plans = self._planned(found, caller)
        index = next(at for at, each in enumerate(plans) if each.proposed.position == position)
        granted = (await self._granted()).get(plans[index].call.id)
        return await self._one(plans[index], caller.at(index)) if granted is None else _waits(granted)

    # --- writing ------------------------------------------------------------------------------------------------------

    async def _write(self, found: Round, batch: Sequence[Came], *, working_ms: int) -> None:
        """Write down what came of calls."""
        if batch:
            await self._drive.move(*self._steps(found, batch, working_ms=working_ms))

    def _steps(self, found: Round, batch: Sequence[Came], *, working_ms: int) -> list[Step]:
        """What is written of calls that have ended; with the last of them the turn goes back to the model."""
        nonce = self._drive.reach.world.entropy.bytes(16).hex()
        each_ms = (working_ms, *(0 for _ in batch[1:]))  # they ran side by side: the time is counted once
        observed = [_observed(came, nonce, working_ms=ms) for came, ms in zip(batch, each_ms, strict=True)]
        after = {**found.observed, **{each.position: each for each in observed}}
        steps = [Step(each, (_OBSERVED,)) for each in observed]
        if len(after) == len(found.calls) and all(each.seen.status is not _WAITING for each in after.values()):
            steps[-1:] = self._through(observed[-1], after.values())
        return steps

    def _through(self, last: Observed, seen: Iterable[Observed]) -> list[Step]:
        """The last step once all calls of a turn have ended: the model is told, or another agent is."""
        agent = self._drive.view.agent
        if not agent.hand_offs:
            return [Step(last, _BACK_TO_MODEL)]
        handed = next(filter(None, [handed_to(each.seen, agent) for each in seen]), None)
        if handed is None:
            return [Step(last, _BACK_TO_MODEL)]
        return [Step(last, (_OBSERVED, Cause.ALL_OBSERVED)), Step(HandedOff(*handed), (Cause.RETURNED,))]


def _came(plan: Planned, seen: Observation) -> Came:
    is_invented = plan.pin is None and seen.error is not None and seen.error.code is Code.TOOL_NOT_FOUND
    return Came(plan.proposed.position, seen, invented=is_invented)


def _observed(came: Came, nonce: str, *, working_ms: int) -> Observed:
    error = came.seen.error
    is_fixable = error is not None and error.code in FIXABLE
    return Observed(came.position, came.seen, nonce, working_ms, is_fixable, came.invented, came.edited)


def _call_id(view: RunView, found: Round, call: Proposed) -> str:
    return f"{view.id}.{found.number}.{call.position}"


def _waits(approval: Approval) -> Observation:
    return Observation(
        approval.call_id,
        approval.binding.tool,
        approval.binding.version,
        _WAITING,
        operation_id=approval.operation_id,
        approval_id=approval.id,
        expires_at_us=approval.expires_at_us,
    )


def _refused(plan: Planned, over: str | None) -> Planned:
    """What stands against a call before it comes to the gate. A name that was not offered stays refused, whatever is
    published under it by now."""
    if plan.deny is not None or (over is None and plan.pin is not None):
        return plan
    deny = NOT_OFFERED
    if over is not None:
        deny = Deny(Code.BUDGET_EXHAUSTED, f"The run has made as many calls as it may ({over}).")
    return Planned(plan.proposed, plan.call, plan.pin, deny)


def _expires_us(found: Round) -> int | None:
    return min((each.seen.expires_at_us for each in found.waiting if each.seen.expires_at_us), default=None)
