"""A copy begins chains of its own, and nothing that its original may have used since is good in it."""

from dataclasses import replace
from pathlib import Path

import pytest

from interlock.core.approval import ApprovalState
from interlock.core.compensation_plan import CompensationState
from interlock.core.errors import StoreError, StoreMoved
from interlock.ports import Claim, NotMoved
from interlock.store import sqlite_approvals, sqlite_calls, sqlite_copies, sqlite_recovery, sqlite_runs
from interlock.store.backup import back_up
from interlock.store.seal import NoSeal
from interlock.store.sqlite import SqliteStore
from interlock.store.sqlite_copies import Copy
from interlock.store.sqlite_db import Db
from interlock.store.sqlite_desk import Desk
from interlock.testing.store_contract_runs import LATER_US, new_run, step
from interlock.testing.store_values import TENANT, Values

values = Values()
COPY = Copy("3fa9c1d2", 5, 7)


def test_a_store_is_no_copy_until_it_is_made_one(desk: Desk) -> None:
    assert (sqlite_copies.copy_of(desk.db), sqlite_copies.branch(desk.db)) == (None, "")
    sqlite_copies.be_copy(desk.db, copy=Copy("a", 1))
    sqlite_copies.be_copy(desk.db, copy=COPY)
    assert (sqlite_copies.copy_of(desk.db), sqlite_copies.branch(desk.db)) == (COPY, "~3fa9c1d2")


@pytest.mark.requirement("AUD-2")
async def test_a_copy_leaves_the_chains_of_its_original_alone(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "a.db", chain="main")
    await store.append(values.event())
    await store.close()
    db = Db(store.path, seal=NoSeal())
    sqlite_copies.be_restored(db, copy=COPY)
    db.close()
    first = await SqliteStore.open(store.path, chain="main")
    second = await SqliteStore.open(store.path, chain="main")
    for each in (first, second):
        await each.append(values.event())
    assert [head.chain for head in await first.heads()] == ["main", "main~3fa9c1d2", "main~3fa9c1d2.2"]
    assert all(head.sequence == 1 for head in await first.heads())
    await first.close()
    await second.close()


@pytest.mark.requirement("APR-4")
def test_what_was_granted_or_asked_when_a_copy_was_taken_is_void_in_it(desk: Desk) -> None:
    granted, pending = values.asking("k1"), values.asking("k2")
    for asking in (granted, pending):
        sqlite_approvals.ask(desk, asking=asking)
    sqlite_approvals.change(desk, step=values.granted(granted))
    assert sqlite_copies.be_restored(desk.db, copy=COPY) == 2
    found = sqlite_approvals.approvals(desk.db, tenant=None, state=None)
    assert [each.state for each in found] == [ApprovalState.VOID, ApprovalState.VOID]


@pytest.mark.requirement("IDEM-6")
def test_a_plan_that_was_undoing_effects_does_not_go_on_by_itself(desk: Desk) -> None:
    for state in CompensationState:
        row = (TENANT, state, state, 1, 5, b"sealed")
        desk.db.connection.execute("INSERT INTO compensations VALUES (?, ?, ?, ?, ?, ?)", row)
    sqlite_copies.be_restored(desk.db, copy=COPY)
    assert desk.db.named("select_plans_going_on", {"tenant": None}) == []
    left = desk.db.connection.execute("SELECT state, count(*) FROM compensations GROUP BY state ORDER BY state")
    assert left.fetchall() == [(CompensationState.COMPENSATED, 1), (CompensationState.FAILED, 3)]


@pytest.mark.requirement("IDEM-3")
def test_a_fence_that_the_original_may_have_given_since_is_not_given_twice(desk: Desk) -> None:
    claim = sqlite_calls.claim(desk, intent=values.intent("k"))
    assert isinstance(claim, Claim)
    sqlite_copies.be_restored(desk.db, copy=COPY)
    found = sqlite_recovery.find(desk, place=(TENANT, claim.operation_id))
    assert found is not None
    assert found.taken_over
    assert found.fence > claim.fence + 1_000_000


@pytest.mark.requirement("IDEM-3")
def test_nobody_holds_a_run_in_a_copy_and_what_the_original_did_with_it_does_not_count(desk: Desk) -> None:
    claims = [sqlite_runs.begin(desk, new=new_run(each)) for each in ("held", "timed", "asked", "over")]
    held, timed, asked, over = [each for each in claims if each is not None]
    for claim, wake_us in ((timed, LATER_US), (asked, None)):
        sqlite_runs.move_on(desk, move=step(claim, wake_us=wake_us, release=True))
    sqlite_runs.move_on(desk, move=step(over, ended="done"))
    sqlite_approvals.ask(desk, asking=values.asking("k", run="asked"))
    assert sqlite_copies.be_restored(desk.db, copy=COPY) == 1
    rows = desk.db.connection.execute("SELECT id, owner, wake_us, fence > 1000000 FROM run_heads ORDER BY number")
    assert rows.fetchall() == [("held", 0, 0, 1), ("timed", 0, LATER_US, 1), ("asked", 0, 0, 1), ("over", 0, None, 0)]
    assert sqlite_runs.move_on(desk, move=step(held)) is NotMoved.LOST
    assert sqlite_runs.take(desk, place=(TENANT, "held"), at_us=1) == replace(held, fence=held.fence + 1_048_577)


@pytest.mark.requirement("APR-4", "IDEM-3")
async def test_a_backup_is_no_store_until_it_was_restored(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "a.db", chain="main")
    await store.close()
    back_up(store.path, tmp_path / "b", copy=Copy("a", 1))
    with pytest.raises(StoreError, match="backup restore"):
        await SqliteStore.open(tmp_path / "b", chain="main")


async def test_a_store_that_was_moved_away_says_where_it_went(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "a.db", chain="main")
    await store.close()
    db = Db(store.path, seal=NoSeal())
    sqlite_copies.be_moved(db, destination="b.db", at_us=1)
    db.close()
    with pytest.raises(StoreMoved, match=r"moved to b\.db"):
        await SqliteStore.open(store.path, chain="main")
