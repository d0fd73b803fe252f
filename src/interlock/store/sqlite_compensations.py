"""Plans of compensations in SQLite, and the effects that they undo."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.core.chain import Receipt
from interlock.core.compensation_plan import CompensationPlan, plan_from_bytes, plan_to_bytes
from interlock.ports import EffectCall, Effects, PlanChange
from interlock.store.locks import Presence
from interlock.store.rules import may_write_plan
from interlock.store.seal import of_plan
from interlock.store.sqlite_calls import seal_up
from interlock.store.sqlite_db import Db, Row
from interlock.store.sqlite_desk import Desk
from interlock.store.sqlite_recovery import open_call


def effects(db: Db, *, wanted: Effects, presence: Presence) -> tuple[EffectCall, ...]:
    """Effects that were done or may have been; the last to end comes first."""
    with db.one_moment():
        rows = sorted(_rows(db, wanted), key=lambda row: (row[1], row[2]), reverse=True)
        return tuple(_effect(db, (wanted.tenant, row[0]), presence=presence) for row in rows)


def plan(db: Db, *, tenant: str, plan_id: str) -> CompensationPlan | None:
    """One plan."""
    row = db.one("select_plan", tenant, plan_id)
    return None if row is None else _read(db, row)


def plans(db: Db, *, tenant: str | None, going_on: bool) -> tuple[CompensationPlan, ...]:
    """All of a tenant, or of every tenant, oldest first."""
    query = "select_plans_going_on" if going_on else "select_plans"
    return tuple(_read(db, row) for row in db.named(query, {"tenant": tenant}))


def write(desk: Desk, *, change: PlanChange) -> Receipt | None:
    """Begin a plan, or write down what became of a step. None: a guard did not hold."""
    db, changed = desk.db, change.changed
    tenant = changed.tenant
    if not may_write_plan(change, stored=plan(db, tenant=tenant, plan_id=changed.id)):
        return None
    if change.expected is None:
        operations = [step.operation_id for step in changed.steps]
        if any(db.one("select_planned", tenant, each) is not None for each in operations):
            return None
        db.run_each("take_into_plan", rows=[(tenant, each, changed.id) for each in operations])
    sealed = db.seal.seal(plan_to_bytes(changed), context=of_plan(tenant, changed.id))
    db.run("put_plan", tenant, changed.id, changed.state, changed.version, changed.started_us, sealed)
    for operation_id, observation in change.restated:
        place = (tenant, operation_id)
        db.run("restate_call", seal_up(db, place=place, data=observation), *place)
    return desk.chain.append(change.event)


def _rows(db: Db, wanted: Effects) -> Iterator[Row]:
    if wanted.run is not None:
        yield from db.all("select_effects_of_run", wanted.tenant, wanted.run)
    elif wanted.task is not None:
        yield from db.all("select_effects_of_task", wanted.tenant, wanted.task)
    for operation_id in wanted.operations:
        yield from db.all("select_effect", wanted.tenant, operation_id)


def _effect(db: Db, place: tuple[str, str], *, presence: Presence) -> EffectCall:
    row = db.one("select_call", *place)
    if row is None:
        raise LookupError(place[1])
    planned = db.one("select_planned", *place)
    return EffectCall(open_call(db, row=row, presence=presence), None if planned is None else planned[0])


def _read(db: Db, row: Row) -> CompensationPlan:
    tenant, plan_id, sealed = row
    return plan_from_bytes(db.seal.open(sealed, context=of_plan(tenant, plan_id)))
