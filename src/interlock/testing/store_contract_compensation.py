"""The part of a store's contract about plans of compensations: what they may undo, begun once, changed one by one."""

# ruff: noqa: S101  (a contract is made of assertions)

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Protocol, cast

from interlock.core.call import Principal
from interlock.core.compensation_plan import CompensationPlan, CompensationStep, UndoState
from interlock.core.effect import CallEvent, CallState
from interlock.core.journal import EventKind
from interlock.ports import Compensations, Effects, PlanChange
from interlock.testing.store_contract_shared import ContractTests, Store, claimed, verified
from interlock.testing.store_values import NOW_US, RUN, TENANT, Values

ALICE = Principal(TENANT, "alice", groups=frozenset({"operator"}), actor="al", claims={"region": "eu", "level": 3})


class PlanStore(Store, Compensations, Protocol):
    """A store that keeps plans."""


def plan_of(*operations: str, plan_id: str = "plan-1") -> CompensationPlan:
    """A plan that undoes these operations."""
    steps = tuple(CompensationStep(each, "save", "1", "remove") for each in operations)
    return CompensationPlan(plan_id, TENANT, ALICE, "it was wrong", NOW_US, steps, run=RUN)


def begins(values: Values, plan: CompensationPlan, *restated: tuple[str, bytes]) -> PlanChange:
    """A new plan."""
    return PlanChange(None, plan, values.event(EventKind.COMPENSATION_STARTED, subject=plan.id), restated)


def moves(values: Values, plan: CompensationPlan, state: UndoState, *restated: tuple[str, bytes]) -> PlanChange:
    """The first step of a plan in another state."""
    changed = plan.with_step(0, replace(plan.steps[0], state=state, open_items=("a", "b"), undone_by="other"))
    return PlanChange(plan, changed, values.event(EventKind.COMPENSATION_STEP, subject=plan.id), restated)


class CompensationContract(ContractTests):
    """Plans that undo effects."""

    async def next_process(self, store: PlanStore) -> PlanStore:
        """The same data as the next process finds it; `after_crash` gives back a store of the same kind."""
        return cast("PlanStore", await self.after_crash(store))

    async def done(self, store: PlanStore, values: Values, what: CallEvent = CallEvent.SUCCEED, *, at_us: int) -> str:
        """An effect of the run that has ended."""
        claim = await claimed(store, intent=values.intent(f"key-{at_us}"))
        await store.settle(replace(values.settlement(claim, what), at_us=at_us))
        return claim.operation_id

    async def test_effects_that_were_done_or_may_have_been_come_last_first(
        self, *, store: PlanStore, values: Values
    ) -> None:
        late, early = [await self.done(store, values, at_us=NOW_US + each) for each in (9, 3)]
        partly = await self.done(store, values, CallEvent.SUCCEED_PARTLY, at_us=NOW_US + 5)
        unknown = await self.done(store, values, CallEvent.LOSE_OUTCOME, at_us=NOW_US + 7)
        for what in (CallEvent.FAIL, CallEvent.PROVE_NOTHING_HAPPENED):
            await self.done(store, values, what, at_us=NOW_US + len(what))
        running = await claimed(store, intent=values.intent("running"))
        await claimed(store, intent=values.read())
        await claimed(store, intent=values.intent("elsewhere", run="run-2"))
        found = await store.effects(Effects(TENANT, run=RUN))
        assert [each.call.operation.id for each in found] == [running.operation_id, late, unknown, partly, early]
        assert {each.plan for each in found} == {None}
        assert found[1].call == await store.find(TENANT, late)
        named = await store.effects(Effects(TENANT, operations=(early, late, "none")))
        assert [each.call.operation.id for each in named] == [late, early]
        assert await store.effects(Effects("globex", run=RUN)) == ()
        assert await store.effects(Effects(TENANT, task="none")) == ()

    async def test_effects_are_found_by_their_task(self, *, store: PlanStore, values: Values) -> None:
        intent = values.intent("k")
        intent = replace(intent, operation=replace(intent.operation, task="task-1"))
        await store.settle(values.settlement(await claimed(store, intent=intent)))
        (found,) = await store.effects(Effects(TENANT, task="task-1"))
        assert (found.call.operation, found.call.state) == (intent.operation, CallState.SUCCEEDED)

    async def test_a_plan_takes_its_operations_once(self, *, store: PlanStore, values: Values) -> None:
        first, second = [await self.done(store, values, at_us=NOW_US + each) for each in (1, 2)]
        plans = [plan_of(first, second, plan_id=f"plan-{number}") for number in range(5)]
        written = await asyncio.gather(*[store.write_plan(begins(values, plan)) for plan in plans])
        assert sum(receipt is not None for receipt in written) == 1
        (begun,) = await store.plans(TENANT)
        assert begun in plans
        assert {each.plan for each in await store.effects(Effects(TENANT, run=RUN))} == {begun.id}
        assert await store.write_plan(begins(values, plan_of(second, plan_id="another"))) is None
        assert await store.write_plan(begins(values, plan_of("third", plan_id=begun.id))) is None
        assert await store.plan(TENANT, "another") is None
        await verified(store)

    async def test_of_those_that_change_a_plan_at_once_one_does(self, *, store: PlanStore, values: Values) -> None:
        plan = plan_of(await self.done(store, values, at_us=NOW_US))
        await store.write_plan(begins(values, plan))
        changes = [moves(values, plan, state) for state in (UndoState.COMPENSATED, UndoState.FAILED)]
        written = await asyncio.gather(*[store.write_plan(change) for change in changes])
        (won,) = [change for change, receipt in zip(changes, written, strict=True) if receipt is not None]
        assert await store.plan(TENANT, plan.id) == won.changed
        assert await store.write_plan(changes[0]) is None
        assert await store.write_plan(replace(changes[0], expected=won.changed)) is None
        await verified(store)

    async def test_plans_that_go_on_are_those_that_run_or_wait(self, *, store: PlanStore, values: Values) -> None:
        for number, state in enumerate(UndoState):
            plan = plan_of(f"operation-{state}", plan_id=state.value)
            plan = replace(plan, started_us=NOW_US - number, steps=(replace(plan.steps[0], state=state),))
            assert await store.write_plan(begins(values, plan)) is not None
        assert [each.id for each in await store.plans(None, going_on=True)] == ["waiting", "pending"]
        assert [each.id for each in await store.plans(TENANT)] == [state.value for state in reversed(UndoState)]
        assert await store.plans("globex") == ()
        assert await store.plan("globex", "waiting") is None

    async def test_what_is_told_of_an_effect_changes_with_its_plan(self, *, store: PlanStore, values: Values) -> None:
        done = await self.done(store, values, at_us=NOW_US + 1)
        unknown = await self.done(store, values, CallEvent.LOSE_OUTCOME, at_us=NOW_US + 2)
        before = await store.find(TENANT, unknown)
        plan = plan_of(done, unknown)
        await store.write_plan(begins(values, plan, (done, b'"undoing"'), (unknown, b'"undoing"')))
        prior = (await store.look(values.look(f"key-{NOW_US + 1}"))).prior
        assert prior is not None
        assert (prior.observation, prior.state) == (b'"undoing"', CallState.SUCCEEDED)
        assert await store.find(TENANT, unknown) == before
        change = moves(values, plan, UndoState.COMPENSATED, (done, b'"undone"'))
        await store.write_plan(change)
        await store.write_plan(replace(change, restated=((done, b'"too late"'),)))
        found = await store.find(TENANT, done)
        assert found is not None
        assert found.observation == b'"undone"'

    async def test_retention_forgets_plans_that_are_through_and_nothing_is_undone_twice(
        self, *, store: PlanStore, values: Values
    ) -> None:
        done, other = [await self.done(store, values, at_us=NOW_US + each) for each in (1, 2)]
        through, stopped = plan_of(done, plan_id="through"), plan_of(other, plan_id="stopped")
        for plan, state in ((through, UndoState.COMPENSATED), (stopped, UndoState.FAILED)):
            await store.write_plan(begins(values, plan))
            await store.write_plan(moves(values, plan, state))
        await store.purge(NOW_US)
        assert len(await store.plans(TENANT)) == 2
        await store.purge(NOW_US + 1)
        assert [each.id for each in await store.plans(TENANT)] == ["stopped"]
        assert await store.write_plan(begins(values, plan_of(done, plan_id="again"))) is None

    async def test_plans_outlive_the_process(self, *, store: PlanStore, values: Values) -> None:
        plan = plan_of(await self.done(store, values, at_us=NOW_US))
        await store.write_plan(begins(values, plan))
        change = moves(values, plan, UndoState.WAITING)
        await store.write_plan(change)
        store = await self.next_process(store)
        assert await store.plans(None, going_on=True) == (change.changed,)
        assert await store.write_plan(begins(values, plan_of(plan.steps[0].operation_id, plan_id="other"))) is None
