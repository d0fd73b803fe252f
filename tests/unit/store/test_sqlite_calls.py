"""Calls in SQLite: rows and memory change together, or not at all."""

from dataclasses import replace

import apsw
import pytest

from interlock.core.budget import NOTHING, Amounts, Usage
from interlock.core.effect import CallEvent, CallState
from interlock.ports import Claim
from interlock.store import sqlite_calls, sqlite_recovery
from interlock.store.sqlite_desk import Desk
from interlock.testing.store_values import DAY_US, NOW_US, SCOPE, TENANT, Values

values = Values()


def claim(desk: Desk, *, key: str | None = None) -> Claim:
    found = sqlite_calls.claim(desk, intent=values.intent(key))
    assert isinstance(found, Claim)
    return found


@pytest.mark.requirement("IDEM-2")
def test_the_table_itself_lets_one_call_have_a_key(desk: Desk) -> None:
    claim(desk, key="k")
    with pytest.raises(apsw.ConstraintError):
        desk.db.connection.execute(
            "INSERT INTO calls SELECT tenant, 'other', state, fence, owner, at_us, until_us, settled_us, holds_key,"
            " key, run, task, tool, source, version, spec_digest, digest, model_digest, principal, call_id, repeatable,"
            " holds, labels, operation_sealed, observation_sealed FROM calls"
        )


@pytest.mark.requirement("BUD-2")
def test_an_op_that_fails_has_not_touched_memory(desk: Desk) -> None:
    broken = replace(values.intent("k"), event=replace(values.event(), subject="\ud800"))
    with pytest.raises(UnicodeEncodeError):
        sqlite_calls.claim(desk, intent=broken)
    assert Usage.read(desk.books.usage[SCOPE]).held == NOTHING
    assert desk.books.changed_usage == set()
    assert desk.claimed == {}
    assert desk.chain.head.sequence == 0


def test_a_settlement_needs_no_memory_of_its_claim(desk: Desk) -> None:
    taken = claim(desk)
    desk.claimed.clear()
    assert sqlite_calls.settle(desk, settlement=values.settlement(taken)) is not None
    assert desk.books.usage[SCOPE] == Usage(Amounts(calls=1))


def test_what_has_ended_is_remembered_no_more(desk: Desk) -> None:
    taken = claim(desk)
    sqlite_calls.settle(desk, settlement=values.settlement(taken))
    assert desk.claimed == {}


@pytest.mark.parametrize("what", [CallEvent.SUCCEED, CallEvent.LOSE_OUTCOME])
def test_a_read_in_memory_leaves_a_row_only_where_nobody_knows_what_came_of_it(desk: Desk, what: CallEvent) -> None:
    taken = sqlite_calls.claim_fused(desk, intent=values.read())
    assert isinstance(taken, Claim)
    assert desk.db.one("select_last_call") == (0,)
    assert sqlite_calls.settle(desk, settlement=values.settlement(taken, what)) is not None
    assert desk.fused == {}
    assert desk.chain.head.sequence == 1
    found = sqlite_recovery.find(desk, place=(TENANT, taken.operation_id))
    assert (None if found is None else found.state) is (None if what is CallEvent.SUCCEED else CallState.UNKNOWN)
    assert sqlite_calls.settle(desk, settlement=values.settlement(taken, what)) is None
    desk.books.write(desk.db, fused=())
    desk.books.forget()
    assert Usage.read(desk.books.usage[SCOPE]).held == (NOTHING if what is CallEvent.SUCCEED else Amounts(calls=1))


def test_a_key_is_taken_from_a_finished_call_only_once_its_lifetime_is_over(desk: Desk) -> None:
    sqlite_calls.settle(desk, settlement=values.settlement(claim(desk, key="k")))
    again = replace(values.intent("k"), at_us=NOW_US + DAY_US)
    assert isinstance(sqlite_calls.claim(desk, intent=again), Claim)
    assert desk.db.connection.execute("SELECT count(*) FROM calls WHERE holds_key = 1").fetchone() == (1,)


def test_an_operation_that_was_claimed_keeps_the_key_of_another_call(desk: Desk) -> None:
    """The same operation comes again under a key whose holder is over: neither may change."""
    sqlite_calls.settle(desk, settlement=values.settlement(claim(desk, key="k")))
    other = values.intent()
    assert isinstance(sqlite_calls.claim(desk, intent=other), Claim)
    again = replace(other, operation=replace(other.operation, key="k"), at_us=NOW_US + DAY_US)
    assert not isinstance(sqlite_calls.claim(desk, intent=again), Claim)
