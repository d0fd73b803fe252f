"""The part of the store in memory that keeps plans of compensations."""

from __future__ import annotations

from interlock.core.chain import Receipt
from interlock.core.compensation_plan import CompensationPlan, CompensationState
from interlock.core.effect import CallState
from interlock.ports import EffectCall, Effects, PlanChange
from interlock.store.memory_recovery import Call, Key, MemoryRecovery, open_call
from interlock.store.rules import may_write_plan


class MemoryCompensations(MemoryRecovery):
    """Keeps plans. `MemoryStore` is one."""

    def __init__(self, *, chain: str) -> None:
        super().__init__(chain=chain)
        self._plans: dict[Key, CompensationPlan] = {}
        self._planned: dict[Key, str] = {}

    async def effects(self, wanted: Effects) -> tuple[EffectCall, ...]:
        """Calls with a key that are claimed, unknown, succeeded or partial; the last to end comes first."""
        found = [call for place, call in self._calls.items() if place[0] == wanted.tenant and _is_meant(call, wanted)]
        found.reverse()
        found.sort(key=lambda call: -(call.settled_us or 2**62))
        tenant = wanted.tenant
        return tuple(EffectCall(open_call(call), self._planned.get((tenant, call.operation.id))) for call in found)

    async def plan(self, tenant: str, plan_id: str) -> CompensationPlan | None:
        """One plan."""
        return self._plans.get((tenant, plan_id))

    async def plans(self, tenant: str | None, *, going_on: bool = False) -> tuple[CompensationPlan, ...]:
        """All of a tenant, or of every tenant, oldest first; `going_on`: only those that run or wait."""
        states = {CompensationState.RUNNING, CompensationState.WAITING} if going_on else set(CompensationState)
        found = [plan for plan in self._plans.values() if tenant in (None, plan.tenant) and plan.state in states]
        return tuple(sorted(found, key=lambda plan: plan.started_us))

    async def write_plan(self, change: PlanChange) -> Receipt | None:
        """Begin a plan, or write down what became of a step. None: a guard did not hold."""
        plan = change.changed
        places = [(plan.tenant, step.operation_id) for step in plan.steps]
        taken = change.expected is None and any(place in self._planned for place in places)
        if taken or not may_write_plan(change, stored=self._plans.get((plan.tenant, plan.id))):
            return None
        self._plans[plan.tenant, plan.id] = plan
        self._planned |= dict.fromkeys(places, plan.id)
        for operation_id, observation in change.restated:
            call = self._calls.get((plan.tenant, operation_id))
            if call is not None and call.state.was_done:
                call.observation = observation
        return self._chain.append(change.event)

    def _drop_plans(self, before_us: int) -> None:
        """Retention: forget plans that are through."""
        kept = [
            plan
            for plan in self._plans.values()
            if plan.state is not CompensationState.COMPENSATED or plan.started_us >= before_us
        ]
        self._plans = {(plan.tenant, plan.id): plan for plan in kept}


def _is_meant(call: Call, wanted: Effects) -> bool:
    operation = call.operation
    if operation.key is None or call.state in (CallState.FAILED, CallState.RELEASED):
        return False
    if wanted.run is not None or wanted.task is not None:
        return (wanted.run in (None, operation.run)) and (wanted.task in (None, operation.task))
    return operation.id in wanted.operations
