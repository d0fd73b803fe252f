"""Which limits a call meets: every scope that it has, none that it has not."""

from dataclasses import replace

import pytest

from interlock.core.budget import (
    LIMITED,
    NOTHING,
    SHAREABLE,
    Amounts,
    Limit,
    Limits,
    Reservation,
    ScopeKey,
    ScopeKind,
    Unit,
    Usage,
    exhausted,
)
from interlock.core.call import SHADOW_DOOR, Caller, Origin
from interlock.core.decision import over_limit
from interlock.core.limits import LimitTable, charges
from interlock.core.tool import SHARED, Cost, Vendor
from tests.unit.core.call_cases import ALICE, NOW_US, spec

FULL = Caller(ALICE, run="r1", task="t1", origin=Origin(agent="writer"))
SAVE = spec(cost=Cost(70, tags=("research", "ai")), vendor=Vendor("cloud"))
IDS = {
    ScopeKind.RUN: ["r1"],
    ScopeKind.AGENT: ["writer"],
    ScopeKind.PRINCIPAL: ["alice"],
    ScopeKind.TENANT: [""],
    ScopeKind.TOOL: ["save_draft"],
    ScopeKind.RUN_TOOL: ["r1\x1fsave_draft"],
    ScopeKind.TAG: ["research", "ai"],
    ScopeKind.VENDOR: ["cloud"],
    ScopeKind.OPERATION: ["r1\x1fd1"],
    ScopeKind.TASK: ["t1"],
}


def table(*limits: Limit) -> LimitTable:
    return LimitTable.of(Limits(limits))


def met(kind: ScopeKind, caller: Caller = FULL, *, digest: str = "d1", known: bool = True) -> list[Reservation]:
    """The reservations of one call that a limit on this kind of scope holds."""
    taken = table(Limit(kind, Unit.CALLS, 1)).reservations(caller, SAVE if known else None, digest=digest)
    return [each for each in taken if each.limits]


@pytest.mark.requirement("BUD-1")
@pytest.mark.parametrize("kind", LIMITED)
def test_a_limit_holds_what_it_is_set_on(kind: ScopeKind) -> None:
    assert [each.scope for each in met(kind)] == [ScopeKey("acme", kind, name) for name in IDS[kind]]


@pytest.mark.requirement("BUD-1")
@pytest.mark.parametrize("kind", LIMITED)
@pytest.mark.parametrize("unit", [Unit.CALLS, Unit.COST_MICROS, Unit.WORKING_MS, Unit.CONCURRENT])
def test_zero_means_none_at_all_on_every_scope(kind: ScopeKind, unit: Unit) -> None:
    taken = table(Limit(kind, unit, 0)).reservations(FULL, SAVE, digest="d1")
    assert [each for each in taken if exhausted(each, Usage())] == [each for each in taken if each.limits]
    assert any(each.limits for each in taken)


@pytest.mark.requirement("BUD-1")
@pytest.mark.parametrize(
    ("kind", "caller"),
    [
        (ScopeKind.RUN, replace(FULL, run=None)),
        (ScopeKind.RUN_TOOL, replace(FULL, run=None)),
        (ScopeKind.OPERATION, replace(FULL, run=None)),
        (ScopeKind.TASK, replace(FULL, task=None)),
        (ScopeKind.AGENT, replace(FULL, origin=Origin())),
    ],
)
def test_a_scope_that_a_call_has_not_does_not_hold_it(kind: ScopeKind, caller: Caller) -> None:
    assert met(kind, caller) == []


@pytest.mark.parametrize("kind", [ScopeKind.TOOL, ScopeKind.RUN_TOOL, ScopeKind.TAG, ScopeKind.VENDOR])
def test_a_name_that_is_no_tool_has_no_scope_of_a_tool(kind: ScopeKind) -> None:
    assert met(kind, known=False) == []
    assert met(ScopeKind.OPERATION, digest="") == []


def test_a_tool_without_a_vendor_has_no_scope_of_one() -> None:
    taken = table(Limit(ScopeKind.VENDOR, Unit.CALLS, 1)).reservations(FULL, spec())
    assert [each for each in taken if each.limits] == []


@pytest.mark.requirement("BUD-1")
@pytest.mark.parametrize("kind", SHAREABLE)
def test_what_tenants_share_is_counted_in_one_row(kind: ScopeKind) -> None:
    together = table(Limit(kind, Unit.CALLS, 1, shared=True), Limit(kind, Unit.CALLS, 2))
    other = replace(FULL, principal=replace(ALICE, tenant="other"))
    for caller in (FULL, other):
        found = [(each.scope.tenant, each.scope.id) for each in together.reservations(caller, SAVE) if each.limits]
        whose = (SHARED, caller.principal.tenant)
        assert found == [(tenant, name) for tenant in whose for name in IDS[kind]]


@pytest.mark.requirement("BUD-1")
@pytest.mark.parametrize("kind", SHAREABLE)
def test_a_tool_of_one_tenant_takes_nothing_of_what_others_share(kind: ScopeKind) -> None:
    own = replace(SAVE, tenant="acme")
    taken = table(Limit(kind, Unit.CALLS, 1, shared=True)).reservations(FULL, own)
    assert [each.scope.id for each in taken if each.limits] == [f"acme\x1f{name}" for name in IDS[kind]]


@pytest.mark.requirement("BUD-1")
@pytest.mark.parametrize(("unit", "window_s"), [(Unit.CALLS, 60), (Unit.CONCURRENT, 0), (Unit.COST_MICROS, 0)])
def test_of_a_limit_that_tenants_share_no_numbers_are_told(unit: Unit, window_s: int) -> None:
    limit = Limit(ScopeKind.VENDOR, unit, 7_531, window_s, shared=True)
    taken = Reservation(ScopeKey(SHARED, ScopeKind.VENDOR, "cloud"), Amounts(0, 1, 0, 1, 1, 1), (limit,))
    over = exhausted(taken, Usage(Amounts(*[7_000] * 6), Amounts(*[642] * 6)))
    assert over is not None
    deny = over_limit(over, now_us=0)
    assert deny.details.keys() == {"unit", "scope", "resets_at_us"}
    assert not any(number in f"{deny.message} {deny.details}" for number in ("7531", "7000", "642"))


@pytest.mark.requirement("BUD-1")
def test_what_was_refused_takes_nothing_of_what_tenants_share_and_what_was_asked_counts_when_it_runs() -> None:
    vendor = table(Limit(ScopeKind.VENDOR, Unit.CALLS, 1, shared=True))
    assert [each.scope.kind for each in charges(vendor.reservations(FULL, SAVE))] == [ScopeKind.RUN]
    resumed = vendor.reservations(FULL, SAVE, counted=True)
    assert {each.scope.kind: each.amounts.calls for each in resumed} == {ScopeKind.RUN: 0, ScopeKind.VENDOR: 1}


@pytest.mark.requirement("BUD-1")
def test_every_proposal_counts_even_of_a_name_that_is_no_tool() -> None:
    (taken,) = met(ScopeKind.PRINCIPAL, known=False)
    assert taken.amounts == Amounts(calls=1)


@pytest.mark.requirement("BUD-3")
def test_the_declared_maximum_is_reserved() -> None:
    (taken,) = met(ScopeKind.TENANT)
    assert taken.amounts == Amounts(calls=1, cost_micros=70, working_ms=1, concurrent=1)


def test_what_was_counted_when_it_was_asked_is_not_counted_again() -> None:
    taken = table().reservations(FULL, SAVE, counted=True)
    assert [each.amounts.calls for each in taken] == [0]


@pytest.mark.parametrize(("caller", "scope"), [(FULL, "r1"), (replace(FULL, run=None), "t1")])
def test_a_run_or_else_a_task_is_counted_without_a_limit(caller: Caller, scope: str) -> None:
    assert [(each.scope.id, each.limits) for each in table().reservations(caller, SAVE)] == [(scope, ())]


def test_limits_on_one_scope_and_window_share_a_usage_row() -> None:
    calls, cost = Limit(ScopeKind.TENANT, Unit.CALLS, 5), Limit(ScopeKind.TENANT, Unit.COST_MICROS, 9)
    rate = Limit(ScopeKind.TENANT, Unit.CALLS, 2, window_s=60)
    taken = [each for each in table(rate, calls, cost).reservations(FULL, SAVE, now_us=NOW_US) if each.limits]
    assert [each.limits for each in taken] == [(calls, cost), (rate,)]
    assert [each.scope.window_us for each in taken] == [0, NOW_US - NOW_US % 60_000_000]


@pytest.mark.parametrize(("at_us", "window_us"), [(0, 0), (59_999_999, 0), (60_000_000, 60_000_000)])
def test_a_rate_window_starts_anew_at_its_length(at_us: int, window_us: int) -> None:
    rate = Limit(ScopeKind.TENANT, Unit.CALLS, 2, window_s=60)
    taken = table(rate).reservations(FULL, SAVE, now_us=at_us)
    assert [each.scope.window_us for each in taken if each.limits] == [window_us]


@pytest.mark.requirement("BUD-1")
def test_windows_that_start_together_count_a_call_once() -> None:
    minute, hour = Limit(ScopeKind.TENANT, Unit.CALLS, 10, 60), Limit(ScopeKind.TENANT, Unit.CALLS, 100, 3_600)
    starts = 3_600_000_000 * 7
    first = [each for each in table(minute, hour).reservations(FULL, SAVE, now_us=starts) if each.limits]
    assert [(each.scope.window_us, each.amounts.calls, each.limits) for each in first] == [(starts, 1, (minute, hour))]
    later = [each for each in table(minute, hour).reservations(FULL, SAVE, now_us=starts + 60_000_000) if each.limits]
    assert [(each.scope.window_us, each.limits) for each in later] == [
        (starts + 60_000_000, (minute,)),
        (starts, (hour,)),
    ]


def test_what_is_remembered_of_one_window_is_not_taken_in_the_next() -> None:
    found = table(Limit(ScopeKind.TENANT, Unit.CALLS, 2, window_s=60))
    starts = [found.reservations(FULL, SAVE, now_us=at_us) for at_us in (59_999_999, 60_000_000, 59_999_999)]
    assert [[each.scope.window_us for each in taken if each.limits] for taken in starts] == [[0], [60_000_000], [0]]


def test_another_version_of_a_tool_takes_what_it_declares_itself() -> None:
    found = table(Limit(ScopeKind.TENANT, Unit.CALLS, 2))
    costs = [found.reservations(FULL, spec(cost=Cost(each)))[0].amounts.cost_micros for each in (1, 2)]
    assert costs == [1, 2]


def test_what_is_remembered_is_of_the_same_caller_and_call() -> None:
    found = table(*[Limit(kind, Unit.CALLS, 9) for kind in LIMITED])
    others = [
        replace(FULL, run="r2"),
        replace(FULL, task="t2"),
        replace(FULL, origin=Origin(agent="other")),
        replace(FULL, principal=replace(ALICE, id="bob")),
        replace(FULL, principal=replace(ALICE, tenant="other")),
    ]
    fresh = [LimitTable.of(Limits(tuple(Limit(kind, Unit.CALLS, 9) for kind in LIMITED))) for _ in others]
    for caller, other in zip(others, fresh, strict=True):
        found.reservations(FULL, SAVE, digest="d1")
        assert found.reservations(caller, SAVE, digest="d1") == other.reservations(caller, SAVE, digest="d1")
    assert found.reservations(FULL, SAVE, digest="d2") != found.reservations(FULL, SAVE, digest="d1")
    assert found.reservations(FULL, SAVE, counted=True) != found.reservations(FULL, SAVE)
    assert found.reservations(FULL, SAVE) is found.reservations(FULL, SAVE)


def test_what_is_used_up_for_good_is_looked_at_before_what_frees_up_by_itself() -> None:
    at_once = Limit(ScopeKind.RUN, Unit.CONCURRENT, 1)
    calls = Limit(ScopeKind.RUN, Unit.CALLS, 1)
    (taken,) = table(at_once, calls).reservations(FULL, SAVE)
    over = exhausted(taken, Usage(Amounts(calls=1), Amounts(concurrent=1)))
    assert over is not None
    assert over.limit is calls


def test_a_proposal_that_never_ran_is_charged_itself_and_nothing_else() -> None:
    taken = charges(table().reservations(FULL, SAVE))
    assert [(each.amounts, each.limits) for each in taken] == [(NOTHING._replace(calls=1), ())]


@pytest.mark.requirement("REG-6")
@pytest.mark.parametrize("kind", LIMITED)
def test_a_shadow_counts_in_a_scope_of_its_own_and_lends_it_to_nobody(kind: ScopeKind) -> None:
    limits = table(Limit(kind, Unit.CALLS, 1))
    shadow = replace(FULL, origin=replace(FULL.origin, door=SHADOW_DOOR))
    before = limits.reservations(FULL, SAVE, digest="d1")
    own = limits.reservations(shadow, SAVE, digest="d1")
    assert [(each.scope.id, each.limits) for each in own] == [("shadow writer", ())]
    assert limits.reservations(FULL, SAVE, digest="d1") == before != own


@pytest.mark.parametrize("kind", LIMITED)
def test_a_request_to_a_model_counts_where_a_name_that_is_no_tool_does_until_a_window_ends(kind: ScopeKind) -> None:
    window_us = 60_000_000
    made = table(Limit(kind, Unit.CALLS, 1), Limit(ScopeKind.PRINCIPAL, Unit.CALLS, 9, window_s=60))
    rows = made.rows(FULL, now_us=NOW_US)
    assert rows.scopes == made.reservations(FULL, None, now_us=NOW_US).scopes
    started_us = NOW_US - NOW_US % window_us
    assert [rows.holds(started_us + each) for each in (-1, 0, window_us - 1, window_us)] == [False, True, True, False]


def test_where_no_rate_is_set_rows_hold_for_good() -> None:
    assert table().rows(FULL, now_us=NOW_US).holds(NOW_US * 2)
