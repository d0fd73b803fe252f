"""Undoes effects by a durable plan, one compensating call after another, each of which passes the gate like any call.

The key of a compensating call follows from the operation that it undoes, so whoever drives a plan, however often and
from however many processes at once, undoes each effect once. A plan stops at a step that waits for people, and goes on
once they have decided; at one that fails, or of which nobody knows whether it happened, it stops until a person says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from interlock.core.approval import ApprovalState
from interlock.core.call import Caller, Origin, Principal, PrincipalKind, ToolCall
from interlock.core.canonical import Json, decode
from interlock.core.compensation import Original, Unmade, compensating
from interlock.core.compensation_plan import (
    CompensationPlan,
    CompensationState,
    CompensationStep,
    UndoState,
    restated,
)
from interlock.core.decision import Deny, propose
from interlock.core.effect import CallState
from interlock.core.journal import EventKind
from interlock.core.observation import Observation, Status, from_bytes, to_bytes
from interlock.core.operation import Operation
from interlock.core.refusals import Code
from interlock.core.stored import arguments_of
from interlock.core.tool import SHARED, ToolSpec
from interlock.ports import EffectCall, Effects, Look, OpenCall, PlanChange
from interlock.runtime.acts import AUDITORS, OPERATORS, signed_by
from interlock.runtime.gate import Gate
from interlock.runtime.records import Records
from interlock.runtime.versions import spec_of
from interlock.runtime.views import Views
from interlock.runtime.world import World

TRIES = 5
DOOR = "compensation"
"""What policies see as the door that a compensating call came through."""

MISSING = Deny(Code.PRECONDITION_FAILED, "There is no such plan of compensations.")
NOTHING_TO_UNDO = Deny(Code.PRECONDITION_FAILED, "There is no effect to be undone.")

ENDED = frozenset({ApprovalState.DENIED, ApprovalState.EXPIRED, ApprovalState.WITHDRAWN, ApprovalState.VOID})
LEFT_ALONE = frozenset({Code.IDEMPOTENCY_IN_PROGRESS, Code.CANCELLED})
"""What a step is refused with that somebody else is at, or that this process has no time for any more."""

TOLD: Mapping[UndoState, Status] = {
    UndoState.COMPENSATED: Status.COMPENSATED,
    UndoState.FAILED: Status.COMPENSATION_FAILED,
    UndoState.UNKNOWN: Status.COMPENSATION_FAILED,
    UndoState.PENDING: Status.COMPENSATING,
    UndoState.WAITING: Status.COMPENSATING,
}
"""What is told of an effect while the step that undoes it stands there."""

KINDS: Mapping[CompensationState, EventKind] = {
    CompensationState.RUNNING: EventKind.COMPENSATION_STEP,
    CompensationState.WAITING: EventKind.COMPENSATION_STEP,
    CompensationState.COMPENSATED: EventKind.COMPENSATION_ENDED,
    CompensationState.FAILED: EventKind.COMPENSATION_FAILED,
}


class CompensationDesk:
    """What people do with plans of compensations. Every method acts within the tenant of `by`.

    An operator may undo anything, everybody else what was done for themselves alone; no agent, and nobody who acts for
    another, may. What a step then does is done in the name of who started the plan, as far as policy lets them.
    """

    def __init__(self, gate: Gate, world: World, *, records: Records, views: Views) -> None:
        self._gate = gate
        self._world = world
        self._records = records
        self._views = views
        self._driven: set[tuple[str, str]] = set()

    async def outline(
        self, *, by: Principal, run: str | None = None, task: str | None = None, operations: Iterable[str] = ()
    ) -> CompensationPlan | Deny:
        """The plan that `start` would begin, as far as it is known now; nothing is written."""
        return await self._draft(Effects(by.tenant, run, task, tuple(operations)), by=by, reason="", plan_id="")

    async def start(
        self,
        *,
        by: Principal,
        reason: str,
        run: str | None = None,
        task: str | None = None,
        operations: Iterable[str] = (),
    ) -> CompensationPlan | Deny:
        """Undo the effects of a run, of a task, or of some operations, the last first; the plan as it then stands.

        What is in a plan already is left to that one: where all of it is, that plan is given back. A refusal says why.
        """
        wanted = Effects(by.tenant, run, task, tuple(operations))
        if not reason.strip():
            return Deny(Code.PRECONDITION_FAILED, "Undoing something takes a reason, in words.")
        for _ in range(TRIES):
            plan = await self._draft(wanted, by=by, reason=reason, plan_id=self._world.new_id())
            if isinstance(plan, Deny):
                return await self._begun(wanted, by) or plan
            if len(plan.irreversible) == len(plan.steps):
                return Deny(Code.PRECONDITION_FAILED, f"None of it can be undone: {plan.steps[0].says}")
            event = self._records.act(EventKind.COMPENSATION_STARTED, plan.tenant, _about(plan, by, reason=reason))
            told = await self._told(plan, [step for step in plan.steps if step.state is UndoState.PENDING])
            if await self._world.compensations.write_plan(PlanChange(None, plan, event, told)) is not None:
                return await self._drive(plan)
        return Deny(Code.CONTENDED, "Others began to undo it at the same time; look again.")

    async def resume(self, plan_id: str, *, by: Principal, reason: str = "") -> CompensationPlan | Deny:
        """Have a plan that stopped go on: what failed is tried again, what is unknown or waits is looked at again."""
        plan = await self._world.compensations.plan(by.tenant, plan_id)
        if plan is None:
            return MISSING
        refused = _may_not(by, {plan.by.id})
        if refused is not None or plan.at is None:
            return refused or plan
        step = plan.steps[plan.at]
        if step.state in (UndoState.FAILED, UndoState.UNKNOWN):
            changed = plan.with_step(plan.at, step.again())
            record = _about(changed, by, reason=reason)
            event = self._records.act(EventKind.COMPENSATION_RESUMED, plan.tenant, record)
            told = await self._told(plan, [changed.steps[plan.at]])
            if await self._world.compensations.write_plan(PlanChange(plan, changed, event, told)) is None:
                return Deny(Code.CONTENDED, "It was changed at the same time; look again.")
            plan = changed
        return await self._drive(plan)

    async def list(self, *, by: Principal, state: CompensationState | None = None) -> tuple[CompensationPlan, ...]:
        """The plans that `by` may see, oldest first: their own, and all for operators and auditors."""
        found = await self._world.compensations.plans(by.tenant)
        return tuple(each for each in found if _sees(each, by) and state in (None, each.state))

    async def show(self, plan_id: str, *, by: Principal) -> CompensationPlan | None:
        """One plan, or None where there is none of that id that `by` may see."""
        plan = await self._world.compensations.plan(by.tenant, plan_id)
        return None if plan is None or not _sees(plan, by) else plan

    async def go_on(self) -> None:
        """Go on with every plan that a dead process left, or whose step has been decided or found out."""
        for plan in await self._world.compensations.plans(None, going_on=True):
            if plan.at is not None and await self._is_ready(plan, plan.steps[plan.at]):
                await self._drive(plan)

    # --- plans --------------------------------------------------------------------------------------------------------

    async def _draft(self, wanted: Effects, *, by: Principal, reason: str, plan_id: str) -> CompensationPlan | Deny:
        if sum(map(bool, (wanted.run, wanted.task, wanted.operations))) != 1:
            return Deny(Code.PRECONDITION_FAILED, "Name either a run, or a task, or operations.")
        effects = await self._world.compensations.effects(wanted)
        refused = _may_not(by, {each.call.operation.principal for each in effects})
        free = [each for each in effects if each.plan is None]
        if refused is not None or not free:
            return refused or NOTHING_TO_UNDO
        specs = await self._specs(free)
        now_us = self._world.clock.now_us()
        steps = tuple(_step(each.call, specs.get(each.call.operation.spec_digest)) for each in free)
        return CompensationPlan(plan_id, by.tenant, by, reason, now_us, steps, wanted.run, wanted.task)

    async def _begun(self, wanted: Effects, by: Principal) -> CompensationPlan | None:
        """The plan that undoes all of it already."""
        effects = await self._world.compensations.effects(wanted)
        plans = {each.plan for each in effects if each.plan is not None}
        if len(plans) != 1 or not all(each.plan for each in effects):
            return None
        return await self.show(plans.pop(), by=by)

    async def _specs(self, effects: Iterable[EffectCall]) -> Mapping[str, ToolSpec]:
        """The specs under which they were called, whichever versions are in use by now."""
        digests = {each.call.operation.spec_digest for each in effects}
        _, versions = await self._views.versions()
        found = (versions.digested(each) for each in digests)
        return {each.digest: spec_of(each) for each in found if each is not None}

    async def _is_ready(self, plan: CompensationPlan, step: CompensationStep) -> bool:
        """Whether a step may be taken here; one whose approval is granted waits until somebody resumes that."""
        if self._is_elsewhere(plan, step):
            return False
        if step.state is not UndoState.WAITING:
            return True
        if step.approval_id is None:
            call = await self._world.recovery.find(plan.tenant, step.operation_id)
            return call is None or call.state.is_final
        found = await self._world.approvals.approval(plan.tenant, step.approval_id)
        if found is None or found[0].state in ENDED or found[0].state is ApprovalState.USED:
            return True
        return found[0].is_expired(self._world.clock.now_us())

    async def _drive(self, plan: CompensationPlan) -> CompensationPlan:
        """Take one step after another until the plan stops, or somebody else is at it; the plan as it then stands."""
        place = (plan.tenant, plan.id)
        if place in self._driven:
            return plan
        self._driven.add(place)
        try:
            while plan.at is not None and plan.state is not CompensationState.FAILED:
                # Whole, even where who drives it is cancelled: an effect that is cut off would be unknown.
                moved = await self._gate.see_through(self._advance(plan, plan.at))
                if moved is None:
                    break
                plan = moved
                if plan.state is CompensationState.WAITING:
                    break
            return plan
        finally:
            self._driven.discard(place)

    async def _advance(self, plan: CompensationPlan, index: int) -> CompensationPlan | None:
        """Take one step and write down what became of it. None: nothing did."""
        step = await self._take(plan, index)
        return None if step is None or step == plan.steps[index] else await self._write(plan, index, step)

    async def _write(self, plan: CompensationPlan, index: int, step: CompensationStep) -> CompensationPlan:
        """Write down what became of a step; where somebody else has, the plan as they left it."""
        changed = plan.with_step(index, step)
        record = {**_about(changed, plan.by, reason=step.says), "step": index, "status": step.state.value}
        about = {
            "tool": step.compensate,
            "undoes": step.operation_id,
            "undoes_tool": step.tool,
            "undoes_version": step.version,
            "undone_by": step.undone_by,
        }
        event = self._records.act(KINDS[changed.state], plan.tenant, {**record, **about, "attempt": step.attempt})
        told = await self._told(plan, [step])
        if await self._world.compensations.write_plan(PlanChange(plan, changed, event, told)) is not None:
            return changed
        return await self._world.compensations.plan(plan.tenant, plan.id) or plan

    async def _told(self, plan: CompensationPlan, steps: Iterable[CompensationStep]) -> tuple[tuple[str, bytes], ...]:
        """What is told from now on of the effects that these steps undo."""
        told: list[tuple[str, bytes]] = []
        for step in steps:
            call = await self._world.recovery.find(plan.tenant, step.operation_id)
            status = TOLD.get(step.state)
            if call is not None and call.observation is not None and call.state.was_done and status is not None:
                told.append((step.operation_id, to_bytes(restated(from_bytes(call.observation), status))))
        return tuple(told)

    # --- steps --------------------------------------------------------------------------------------------------------

    async def _take(self, plan: CompensationPlan, index: int) -> CompensationStep | None:
        """What becomes of a step; None where somebody else is at it, or nothing can be done now."""
        step = plan.steps[index]
        call = await self._world.recovery.find(plan.tenant, step.operation_id)
        if call is None:
            return step.moved(UndoState.FAILED, says="What was done is no longer kept.")
        if call.state in (CallState.FAILED, CallState.RELEASED):
            return step.moved(UndoState.NOTHING_TO_UNDO, says="It did not happen.")
        if not call.state.was_done:
            return step.moved(UndoState.WAITING, approval_id=None, says="Whether it happened is not known yet.")
        if self._is_elsewhere(plan, step):
            says = f"The process that has {step.compensate} has not come to it yet."
            return step.moved(UndoState.WAITING, approval_id=step.approval_id, says=says)
        ended = await self._ended(plan, step)
        if ended is not None:
            return step.moved(UndoState.FAILED, says=ended)
        arguments = await self._arguments(step, call)
        principal = plan.by if self._world.principals is None else await self._world.principals.current(plan.by)
        if isinstance(arguments, Unmade) or principal is None:
            why = arguments.why if isinstance(arguments, Unmade) else "Who started this is no longer known."
            return step.moved(UndoState.FAILED, says=why)
        caller = _caller(plan, index, principal)
        proposed = ToolCall(f"{plan.id}-{index}", step.compensate, arguments)
        if await self._is_under_way(proposed, caller):
            return None
        return _came_to(step, await self._gate.propose(proposed, caller))

    def _is_elsewhere(self, plan: CompensationPlan, step: CompensationStep) -> bool:
        """Whether the tool that undoes it is published, and its code in other processes alone."""
        catalogue = self._views.current.catalogue
        places = {(plan.tenant, step.compensate), (SHARED, step.compensate)}
        return catalogue.find(plan.tenant, step.compensate) is None and not places.isdisjoint(catalogue.elsewhere)

    async def _ended(self, plan: CompensationPlan, step: CompensationStep) -> str | None:
        """Why the approval that a step waits for will never be given."""
        if step.approval_id is None:
            return None
        found = await self._world.approvals.approval(plan.tenant, step.approval_id)
        if found is None or found[0].state in ENDED:
            return f"Its approval is {'gone' if found is None else found[0].state.value}."
        is_over = found[0].state is not ApprovalState.USED and found[0].is_expired(self._world.clock.now_us())
        return "Its approval has expired." if is_over else None

    async def _arguments(self, step: CompensationStep, call: OpenCall) -> dict[str, Json] | Unmade:
        """What the compensating tool is called with."""
        specs = await self._specs([EffectCall(call)])
        spec = specs.get(call.operation.spec_digest)
        tool = self._views.current.catalogue.find(call.operation.tenant, step.compensate)
        if spec is None or tool is None:
            return Unmade(f"There is no tool {step.compensate} here to undo it with.")
        if not call.operation.sealed or call.observation is None:
            return Unmade("What it was called with is no longer kept.")
        seen = from_bytes(call.observation)
        arguments = decode(arguments_of(call.operation.sealed))
        if not isinstance(arguments, dict) or seen.truncated is not None:
            return Unmade("What came of it is not kept whole.")
        original = Original(call.operation.id, arguments, seen.data, _open_items(step, seen, arguments))
        return compensating(spec, original, other=tool.spec)

    async def _is_under_way(self, call: ToolCall, caller: Caller) -> bool:
        """Whether the compensating call is claimed: who claimed it, or recovery after them, brings it to its end."""
        operation = propose(call, caller, self._views.current.catalogue)
        if not isinstance(operation, Operation):
            return False
        look = Look(caller.principal.tenant, operation.key, None, (), self._world.clock.now_us())
        prior = (await self._world.calls.look(look)).prior
        return prior is not None and prior.state is CallState.CLAIMED


def _caller(plan: CompensationPlan, index: int, principal: Principal) -> Caller:
    """Who makes a compensating call. Its task and its key are made of the plan and of what is undone alone."""
    step = plan.steps[index]
    origin = Origin(door=DOOR, actor=plan.by.actor)
    key = f"{step.operation_id}:{step.attempt}"
    return Caller(principal, task=f"{DOOR} {plan.id}", key=key, position=index, origin=origin, user_requested=True)


def _step(call: OpenCall, spec: ToolSpec | None) -> CompensationStep:
    operation = call.operation
    step = CompensationStep(operation.id, operation.tool, operation.version)
    if spec is None or not spec.compensate:
        return replace(step, state=UndoState.IRREVERSIBLE, says=f"No tool undoes what {operation.tool} did.")
    return replace(step, compensate=spec.compensate)


def _came_to(step: CompensationStep, seen: Observation) -> CompensationStep | None:
    """The step after its compensating call. One whose result is withheld was executed all the same."""
    code = None if seen.error is None else seen.error.code
    why = "" if seen.error is None else seen.error.message
    by = seen.operation_id or step.undone_by
    if seen.status is Status.OK or code is Code.OUTPUT_INVALID:
        return step.moved(UndoState.COMPENSATED, undone_by=by, approval_id=None, says="", open_items=())
    if seen.status is Status.WAITING:
        return step.moved(UndoState.WAITING, undone_by=by, approval_id=seen.approval_id, says=why)
    if seen.status is Status.UNKNOWN:
        return step.moved(UndoState.UNKNOWN, undone_by=by, says=why)
    if code in LEFT_ALONE and seen.status is Status.REFUSED:
        return None
    if seen.status is Status.REFUSED:
        return step.moved(UndoState.FAILED, says=f"{code}: {why}")
    why, open_items = (f"{code}: {why}", step.open_items) if code else ("It was undone in part.", seen.open_items)
    return step.moved(UndoState.FAILED, undone_by=by, says=why, open_items=open_items, attempt=step.attempt + 1)


def _open_items(step: CompensationStep, seen: Observation, arguments: Mapping[str, Json]) -> frozenset[str] | None:
    """Items that are not to be undone: they were never done, or an earlier attempt has undone them."""
    if not step.open_items:
        return frozenset(seen.open_items) if seen.open_items else None
    lists = [value for value in arguments.values() if isinstance(value, list)]
    named = frozenset(str(each) for value in lists for each in value)
    return frozenset(seen.open_items) | (named - frozenset(step.open_items))


def _may_not(by: Principal, whose: Iterable[str]) -> Deny | None:
    if by.kind is PrincipalKind.AGENT or by.acts_for_another:
        return Deny(Code.PERMISSION_DENIED, "No agent, and nobody who acts for another, has effects undone.")
    if by.groups & OPERATORS or set(whose) <= {by.id}:
        return None
    return Deny(Code.PERMISSION_DENIED, f"Undoing what others did takes the group operator; {by.id} does not have it.")


def _sees(plan: CompensationPlan, by: Principal) -> bool:
    return plan.by.id == by.id or not by.groups.isdisjoint(AUDITORS)


def _about(plan: CompensationPlan, by: Principal, *, reason: str) -> dict[str, object]:
    """What every record of a plan says."""
    return {
        "subject": plan.id,
        **signed_by(by),
        "run": plan.run,
        "task": plan.task,
        "reason": reason,
        "state": plan.state.value,
        "steps": len(plan.steps),
        "irreversible": len(plan.irreversible),
    }
