"""Durable plans that undo what was done."""

from __future__ import annotations

from typing import Protocol

from interlock.core.chain import Receipt
from interlock.core.compensation_plan import CompensationPlan
from interlock.core.frozen import frozen
from interlock.core.journal import Event
from interlock.ports.recovery import OpenCall


@frozen
class Effects:
    """Which effects are meant: those of one run, of one task, or some operations by id."""

    tenant: str
    run: str | None = None
    task: str | None = None
    operations: tuple[str, ...] = ()


@frozen
class EffectCall:
    """An effect that was done, or that may yet turn out to have been, and the plan that undoes it, if one does."""

    call: OpenCall
    plan: str | None = None


@frozen
class PlanChange:
    """A new plan, or a guarded step of one: nothing is written unless `expected` is what is there, `None` if nothing.

    A new plan takes its operations: none of them may be in another. `restated` replaces the stored observations of
    operations that have succeeded, in full or in part.
    """

    expected: CompensationPlan | None
    changed: CompensationPlan
    event: Event
    restated: tuple[tuple[str, bytes], ...] = ()


class Compensations(Protocol):
    """Plans that undo effects. Owned by `runtime.compensation`."""

    async def effects(self, wanted: Effects) -> tuple[EffectCall, ...]:
        """Calls with a key that are claimed, unknown, succeeded or partial; the last to end comes first."""

    async def plan(self, tenant: str, plan_id: str) -> CompensationPlan | None:
        """One plan; sees every write that was handed over before."""

    async def plans(self, tenant: str | None, *, going_on: bool = False) -> tuple[CompensationPlan, ...]:
        """All of a tenant, or of every tenant, oldest first; `going_on`: only those that run or wait."""

    async def write_plan(self, change: PlanChange) -> Receipt | None:
        """Begin a plan, or write down what became of a step. None: a guard did not hold."""
