"""Tenants take turns, whoever of them waits in what number, and within one who came first is first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.line import FairLine

pytestmark = [pytest.mark.requirement("BUD-1")]


def line(*waiting: str) -> FairLine[str]:
    """Those who wait, each named by the letter of its tenant and a number."""
    made: FairLine[str] = FairLine()
    for who in waiting:
        made.join(who, tenant=who[0])
    return made


def called(waiting: FairLine[str]) -> list[str]:
    return [who for _ in range(len(waiting)) if (who := waiting.next()) is not None]


def test_tenants_take_turns_and_each_keeps_its_order() -> None:
    assert called(line("a1", "a2", "a3", "a4", "b1", "c1", "b2")) == ["a1", "b1", "c1", "a2", "b2", "a3", "a4"]


def test_nobody_is_next_where_nobody_waits() -> None:
    assert line().next() is None
    assert (len(line("a1")), len(line())) == (1, 0)


def test_who_was_called_in_vain_comes_before_everybody_and_takes_no_other_turn_of_its_tenant() -> None:
    waiting = line("a1", "b1", "b2", "a2", "a3")
    assert [waiting.next() for _ in range(3)] == ["a1", "b1", "a2"]
    waiting.join_first("a1", tenant="a")
    assert [waiting.ahead_of(who, tenant=who[0]) for who in ("a1", "b2", "a3")] == [0, 1, 2]
    assert (len(waiting), waiting.of("a"), [*waiting]) == (3, 2, ["a1", "b2", "a3"])
    assert called(waiting) == ["a1", "b2", "a3"]


def test_who_comes_first_again_may_leave_too() -> None:
    waiting = line("b1")
    waiting.join_first("a1", tenant="a")
    waiting.leave("a1", tenant="a")
    assert called(waiting) == ["b1"]


def test_who_leaves_is_not_called_and_may_leave_twice() -> None:
    waiting = line("a1", "b1", "a2")
    for _ in range(2):
        waiting.leave("a1", tenant="a")
        waiting.leave("c1", tenant="c")
    assert (len(waiting), [*waiting]) == (2, ["a2", "b1"])
    assert called(waiting) == ["a2", "b1"]


def test_of_the_tenant_that_most_wait_of_the_last_is_found() -> None:
    waiting = line("a1", "b1", "b2", "b3", "a2")
    assert waiting.last_of_most() == ("b", "b3")
    assert line().last_of_most() is None
    assert (waiting.of("a"), waiting.of("b"), waiting.of("c")) == (2, 3, 0)


@given(st.lists(st.sampled_from("abcd"), max_size=25), st.integers(0, 12))
def test_how_many_are_ahead_is_how_many_are_called_before(tenants: list[str], taken: int) -> None:
    waiting = line(*[f"{tenant}{number}" for number, tenant in enumerate(tenants)])
    for _ in range(taken):
        waiting.next()
    told = {who: waiting.ahead_of(who, tenant=who[0]) for who in waiting}
    order = called(waiting)
    assert told == {who: place for place, who in enumerate(order)}


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=40))
def test_no_tenant_is_called_twice_while_another_waits_uncalled(tenants: list[str]) -> None:
    order = called(line(*[f"{tenant}{number}" for number, tenant in enumerate(tenants)]))
    for place, who in enumerate(order):
        waiting = {later[0] for later in order[place:]} - {who[0]}
        since = next((back for back in range(place - 1, -1, -1) if order[back][0] == who[0]), None)
        if since is not None:
            assert waiting <= {between[0] for between in order[since + 1 : place]}
