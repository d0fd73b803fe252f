"""Approvals in SQLite: each row opens for itself only."""

from dataclasses import replace
from secrets import token_bytes

import pytest

from interlock.core.errors import StoreError
from interlock.store import sqlite_approvals
from interlock.store.seal_aes import AesSeal
from interlock.store.sqlite_desk import Desk
from interlock.testing.store_values import TENANT, Values

values = Values()


@pytest.mark.requirement("APR-4")
def test_an_operation_that_was_moved_to_another_approval_does_not_open(desk: Desk) -> None:
    desk.db.seal = AesSeal(bytes(32), random=token_bytes)
    asked = [sqlite_approvals.ask(desk, asking=values.asking(key))[0] for key in ("a", "b")]
    desk.db.connection.execute(
        "UPDATE approvals SET operation_sealed = (SELECT operation_sealed FROM approvals WHERE id = ?)", (asked[0].id,)
    )
    assert sqlite_approvals.with_operation(desk.db, place=(TENANT, asked[0].id)) is not None
    with pytest.raises(StoreError):
        sqlite_approvals.with_operation(desk.db, place=(TENANT, asked[1].id))


def test_the_same_question_is_found_among_others_of_its_key(desk: Desk) -> None:
    first, second = values.asking("k"), values.asking("k")
    sqlite_approvals.ask(desk, asking=first)
    sqlite_approvals.ask(desk, asking=second)
    again = replace(second, approval=replace(second.approval, id="again"))
    assert sqlite_approvals.ask(desk, asking=again)[0].id == second.approval.id
