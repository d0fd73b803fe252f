"""Plans in SQLite: sealed where a key is set, and effects of a run are found without reading every call."""

import pytest

from interlock.core.errors import StoreError
from interlock.store import sqlite_compensations
from interlock.store.sqlite_desk import Desk
from interlock.testing.store_contract_compensation import begins, plan_of
from interlock.testing.store_values import TENANT, Values

values = Values()


def test_a_plan_that_was_changed_in_the_file_is_not_read(desk: Desk) -> None:
    plan = plan_of("operation-1")
    assert sqlite_compensations.write(desk, change=begins(values, plan)) is not None
    assert sqlite_compensations.plan(desk.db, tenant=TENANT, plan_id=plan.id) == plan
    desk.db.connection.execute("UPDATE compensations SET plan_sealed = CAST('{\"id\": 7}' AS BLOB)")
    with pytest.raises(StoreError):
        sqlite_compensations.plan(desk.db, tenant=TENANT, plan_id=plan.id)


@pytest.mark.parametrize(("query", "index"), [("run", "calls_by_run"), ("task", "calls_by_task")])
def test_effects_are_found_by_an_index(desk: Desk, query: str, index: str) -> None:
    sql = f"EXPLAIN QUERY PLAN SELECT id FROM calls WHERE tenant = 'a' AND {query} = 'r' AND key IS NOT NULL"
    assert index in str(desk.db.connection.execute(sql).fetchall())
