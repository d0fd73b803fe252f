"""Open calls in SQLite: whose they are, and that what goes on after closing is not taken for dead."""

from dataclasses import replace

import pytest

from interlock.core.effect import CallEvent, CallState
from interlock.ports import Claim
from interlock.store import sqlite_calls, sqlite_recovery
from interlock.store.sqlite_desk import Desk
from interlock.testing.store_values import TENANT, Values

values = Values()


def unknown(desk: Desk, *, goes_on: bool) -> Claim:
    claim = sqlite_calls.claim(desk, intent=values.intent())
    assert isinstance(claim, Claim)
    lost = values.settlement(claim, CallEvent.LOSE_OUTCOME)
    assert sqlite_calls.settle(desk, settlement=replace(lost, goes_on=goes_on)) is not None
    return claim


@pytest.mark.requirement("IDEM-3", "IDEM-4")
def test_an_unknown_call_is_its_process_own_while_work_on_it_goes_on(desk: Desk) -> None:
    claim = unknown(desk, goes_on=True)
    place = (TENANT, claim.operation_id)
    found = sqlite_recovery.find(desk, place=place)
    assert found is not None
    assert (found.state, found.orphaned) == (CallState.UNKNOWN, False)
    sqlite_recovery.work_ended(desk, claim=claim, event=values.event())
    found = sqlite_recovery.find(desk, place=place)
    assert found is not None
    assert found.orphaned


@pytest.mark.requirement("IDEM-4")
def test_who_leaves_knows_whether_work_goes_on(desk: Desk) -> None:
    unknown(desk, goes_on=False)
    assert not sqlite_recovery.leave(desk)
    claim = unknown(desk, goes_on=True)
    assert sqlite_recovery.leave(desk)
    sqlite_recovery.work_ended(desk, claim=claim, event=values.event())
    assert not sqlite_recovery.leave(desk)
