"""Plans of compensations in PostgreSQL, and the effects that they undo."""

from __future__ import annotations

from dataclasses import dataclass

from interlock.core.chain import Receipt
from interlock.core.compensation_plan import CompensationPlan, plan_from_bytes, plan_to_bytes
from interlock.ports import EffectCall, Effects, PlanChange
from interlock.store.postgres_arrays import blobs
from interlock.store.postgres_line import Line, Row, Step
from interlock.store.postgres_rows import open_call, place_of, read_call
from interlock.store.postgres_sheet import Sheet
from interlock.store.rules import may_write_plan
from interlock.store.seal import Seal, of_call, of_plan


@dataclass(frozen=True, slots=True)
class PlanWriting:
    """Begin a plan, or write down what became of a step. None: a guard did not hold."""

    change: PlanChange

    async def carry_out(self, line: Line, sheet: Sheet) -> Receipt | None:
        change, changed = self.change, self.change.changed
        tenant, place = changed.tenant, place_of(changed.tenant, changed.id)
        taken = blobs([place_of(tenant, step.operation_id) for step in changed.steps])
        _, stored, planned = await line.trip(
            ("lock_planned", ()), ("select_plan", (place,)), ("select_planned", (taken,))
        )
        if not may_write_plan(change, stored=read_plan(stored[0], seal=sheet.seal) if stored else None):
            return None
        steps: list[Step] = []
        if change.expected is None:
            if planned:
                return None
            steps.append(("take_into_plan", (changed.id, taken)))
        sealed = sheet.seal.seal(plan_to_bytes(changed), context=of_plan(tenant, changed.id))
        row = (place, tenant, changed.id, changed.state, changed.version, changed.started_us, sealed)
        await line.trip(*steps, ("put_plan", row), *self._restated(sheet.seal))
        return sheet.append(change.event)

    def _restated(self, seal: Seal) -> list[Step]:
        tenant, restated = self.change.changed.tenant, self.change.restated
        sealed = [(place_of(tenant, each), seal.seal(data, context=of_call(tenant, each))) for each, data in restated]
        return [("restate_call", (data, place)) for place, data in sealed]


def effects_step(wanted: Effects) -> Step:
    """Reads effects that were done or may have been."""
    places = blobs([place_of(wanted.tenant, each) for each in wanted.operations])
    values = {"tenant": wanted.tenant, "run": wanted.run, "task": wanted.task, "places": places}
    return ("select_effects", dict(values))


def read_effect(row: Row, *, seal: Seal) -> EffectCall:
    """A row of `select_effects`."""
    return EffectCall(open_call(read_call(row[:-1]), seal=seal), row[-1])


def read_plan(row: Row, *, seal: Seal) -> CompensationPlan:
    """A row of `select_plan`."""
    tenant, plan_id, sealed = row
    return plan_from_bytes(seal.open(sealed, context=of_plan(tenant, plan_id)))
