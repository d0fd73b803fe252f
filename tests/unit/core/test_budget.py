"""A limit of N allows exactly N, whatever it counts, and no order of calls goes past it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.budget import (
    NOTHING,
    SUM_MAX,
    Amounts,
    Limit,
    Limits,
    Packed,
    Reservation,
    ScopeKey,
    ScopeKind,
    Taken,
    Unit,
    Usage,
    exhausted,
    packed,
    settled,
    unpacked,
)
from interlock.core.errors import SettingsInvalid

SCOPE = ScopeKey("acme", ScopeKind.RUN, "r1")


def one(unit: Unit, amount: int = 1) -> Amounts:
    return NOTHING._replace(**{unit.value: amount})


def reservation(limit: Limit, amount: int = 1, *, window_us: int = 0) -> Reservation:
    return Reservation(SCOPE._replace(window_us=window_us), one(limit.unit, amount), (limit,))


def test_there_is_one_number_for_each_unit() -> None:
    assert Amounts._fields == tuple(unit.value for unit in Unit)


amounts = st.builds(Amounts._make, st.tuples(*[st.integers(1 - 2**62, 2**62 - 1)] * 6))


@given(amounts, amounts)
def test_packed_amounts_add_and_subtract_as_they_do_unpacked(one: Amounts, other: Amounts) -> None:
    assert unpacked(packed(one)) == one
    assert unpacked(Packed(packed(one) - packed(other))) == one.minus(other)


@given(st.tuples(*[st.integers(0, 2**78)] * 6))
def test_a_sum_is_told_up_to_what_a_store_can_hold(most: tuple[int, ...]) -> None:
    assert unpacked(packed(Amounts._make(most))) == Amounts._make([min(each, SUM_MAX) for each in most])


@pytest.mark.requirement("BUD-1")
@pytest.mark.parametrize("unit", Unit)
@pytest.mark.parametrize("amount", [0, 1, 2, 10])
def test_a_limit_of_n_allows_exactly_n(unit: Unit, amount: int) -> None:
    limit = Limit(ScopeKind.RUN, unit, amount)
    used = NOTHING
    allowed = 0
    while exhausted(reservation(limit), Usage(used)) is None:
        used = used.plus(one(unit))
        allowed += 1
    assert allowed == amount


@pytest.mark.requirement("BUD-1")
@pytest.mark.parametrize("unit", Unit)
def test_absent_means_unlimited(unit: Unit) -> None:
    most = Usage(one(unit, 10**18), one(unit, 10**18))
    assert exhausted(Reservation(SCOPE, one(unit, 10**18)), most) is None


@pytest.mark.requirement("BUD-1")
@pytest.mark.parametrize("unit", Unit)
def test_what_calls_in_flight_hold_counts_like_what_was_used(unit: Unit) -> None:
    limit = Limit(ScopeKind.RUN, unit, 5)
    assert exhausted(reservation(limit), Usage(one(unit, 2), one(unit, 2))) is None
    over = exhausted(reservation(limit, 2), Usage(one(unit, 2), one(unit, 2)))
    assert over is not None
    assert (over.limit, over.scope, over.left, over.resets_us) == (limit, SCOPE, 1, None)


def test_units_are_counted_apart() -> None:
    limits = tuple(Limit(ScopeKind.RUN, unit, 1) for unit in Unit)
    for index, unit in enumerate(Unit):
        over = exhausted(Reservation(SCOPE, one(unit), limits), Usage(one(unit)))
        assert over is not None
        assert over.limit is limits[index]


@pytest.mark.requirement("BUD-1")
def test_a_window_says_when_it_resets() -> None:
    limit = Limit(ScopeKind.RUN, Unit.CALLS, 1, window_s=60)
    over = exhausted(reservation(limit, window_us=120_000_000), Usage(Amounts(calls=1)))
    assert over is not None
    assert over.resets_us == 180_000_000


def test_what_is_left_is_never_less_than_nothing() -> None:
    over = exhausted(reservation(Limit(ScopeKind.RUN, Unit.TOKENS, 5)), Usage(Amounts(tokens=9)))
    assert over is not None
    assert over.left == 0


@given(
    st.integers(0, 20),
    st.lists(st.tuples(st.booleans(), st.integers(0, 6), st.floats(0, 1))),
)
def test_no_order_of_reserving_and_settling_goes_past_a_limit(
    amount: int, steps: list[tuple[bool, int, float]]
) -> None:
    limit = Limit(ScopeKind.RUN, Unit.COST_MICROS, amount)
    usage = Usage()
    flying: list[Amounts] = []
    for settles, cost, share in steps:
        if settles and flying:
            held = flying.pop()
            spent = settled(held, spent=Amounts(cost_micros=int(held.cost_micros * share)))
            usage = Usage(usage.used.plus(spent), usage.held.minus(held))
        elif exhausted(reservation(limit, cost), usage) is None:
            flying.append(Amounts(cost_micros=cost))
            usage = Usage(usage.used, usage.held.plus(flying[-1]))
        assert usage.used.cost_micros + usage.held.cost_micros <= amount
    assert usage.held == Amounts(cost_micros=sum(each.cost_micros for each in flying))


def test_settling_keeps_the_count_and_frees_the_place() -> None:
    reserved = Amounts(rounds=1, calls=1, tokens=50, cost_micros=100, working_ms=1, concurrent=1)
    spent = Amounts(tokens=7, cost_micros=30, working_ms=12)
    assert settled(reserved, spent=spent) == Amounts(1, 1, 7, 30, 12, 0)


@given(st.tuples(*[st.integers(0, 99)] * 6), st.tuples(*[st.integers(0, 99)] * 6))
def test_adding_and_taking_away_is_by_unit(one: tuple[int, ...], two: tuple[int, ...]) -> None:
    assert Amounts(*one).plus(Amounts(*two)).minus(Amounts(*two)) == Amounts(*one)


def test_scope_and_unit_may_be_given_as_text() -> None:
    assert Limit("run_tool", "calls", 3) == Limit(ScopeKind.RUN_TOOL, Unit.CALLS, 3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("tol", "calls", 3), "scope is one of run, agent, "),
        (("tool", "call", 3), "unit is one of rounds, calls, "),
        (("tool", None, 3), "unit is one of"),
        (("tool", "calls", "3"), "amount is a whole number from 0"),
        (("tool", "calls", -1), "amount is a whole number from 0"),
        (("tool", "calls", True), "amount is a whole number from 0"),
        (("tool", "calls", 3, 1.5), "window_s is a whole number from 0"),
        (("tool", "concurrent", 3, 60), "a limit on calls at once has no window"),
        (("tool", "calls", 3, 0, 1), "that all tenants share is on one of tool, tag, vendor"),
        (("principal", "calls", 3, 0, True), "that all tenants share is on one of tool, tag, vendor"),
    ],
)
def test_a_limit_that_cannot_hold_is_refused_where_it_is_written(given: tuple[Any, ...], says: str) -> None:
    with pytest.raises(SettingsInvalid, match=says):
        Limit(*given)


def test_limits_hold_limits_from_any_collection_and_nothing_else() -> None:
    limit = Limit(ScopeKind.RUN, Unit.CALLS, 3)
    assert Limits([limit]) == Limits((limit,))  # type: ignore[arg-type]
    with pytest.raises(SettingsInvalid, match="limits hold limits"):
        Limits((("run", "calls", 3),))  # type: ignore[arg-type]


sums = st.builds(Amounts._make, st.tuples(*[st.integers(0, 12)] * 6))
limits = st.lists(st.builds(Limit, st.just(ScopeKind.RUN), st.sampled_from(Unit), st.integers(0, 12)), max_size=4)
scopes = st.sampled_from([SCOPE, SCOPE._replace(id="r2")])
reservations = st.lists(st.builds(Reservation, scopes, sums, limits.map(tuple)), max_size=3)


@pytest.mark.requirement("BUD-1")
@given(reservations, st.lists(st.builds(Usage, sums, sums), min_size=3, max_size=3))
def test_what_is_compared_all_at_once_fits_just_where_no_limit_stands_in_the_way(
    asked: list[Reservation], usage: list[Usage]
) -> None:
    usage = usage[: len(asked)]
    over = [exhausted(*each) for each in zip(asked, usage, strict=True)]
    assert Taken.of(asked).fit(usage) == (over == [None] * len(asked))


@given(reservations, sums, st.builds(Usage, sums, sums), st.builds(Usage, sums, sums))
def test_what_is_held_and_settled_all_at_once_adds_up_as_it_does_one_by_one(
    asked: list[Reservation], spent: Amounts, one: Usage, two: Usage
) -> None:
    book = {SCOPE: one, SCOPE._replace(id="r2"): two}
    held = Taken.of(asked).held(book)
    expected = dict(book)
    fits = True
    for each in asked:
        usage = expected[each.scope]
        fits = fits and exhausted(each, usage) is None
        expected[each.scope] = Usage(usage.used, usage.held.plus(each.amounts))
    assert (held is not None) == fits
    if held is None:
        return
    book |= held
    assert book == expected
    Taken.of(asked).settle(book, spent=spent)
    for each in asked:
        usage = expected[each.scope]
        used = usage.used.plus(settled(each.amounts, spent=spent))
        expected[each.scope] = Usage(used, usage.held.minus(each.amounts))
    assert book == expected


@pytest.mark.parametrize("unit", Unit)
def test_no_sum_of_one_unit_reaches_into_the_next(unit: Unit) -> None:
    most = Usage(one(unit, SUM_MAX), one(unit, SUM_MAX))
    others = [Limit(ScopeKind.RUN, each, 0) for each in Unit if each is not unit]
    assert Taken.of([Reservation(SCOPE, one(unit, SUM_MAX), tuple(others))]).fit([most])
