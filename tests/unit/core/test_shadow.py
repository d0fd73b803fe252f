"""What shadows have shown adds up in any order, within bounds, and speaks for what it shows."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.shadow import (
    BOUNDS_MS,
    CALLS_MIN,
    KINDS_MAX,
    NOTHING,
    SAMPLES_MAX,
    Output,
    Sample,
    Tally,
    added,
    missed_one,
    percentile,
    proposed,
    tally_from_bytes,
    tally_of,
    tally_to_bytes,
)

CODES = st.sampled_from(["", "PERMISSION_DENIED", "TOOL_ARGUMENT_INVALID", "ask"])
SAMPLES = st.builds(
    Sample,
    st.text("abc", max_size=3),
    st.integers(1, 2**50),
    CODES,
    CODES,
    st.sampled_from(Output),
    st.sampled_from(["", "it reaches outside", "TIMEOUT"]),
    st.integers(0, 100_000),
    st.integers(0, 100_000),
)


def tally(*samples: Sample) -> Tally:
    found = NOTHING
    for each in samples:
        found = added(found, tally_of(each))
    return found


@pytest.mark.requirement("REG-6")
@given(st.lists(SAMPLES, max_size=8), st.lists(SAMPLES, max_size=8))
def test_samples_add_up_in_any_order_and_are_read_back_as_they_were_written(
    one: list[Sample], other: list[Sample]
) -> None:
    both = added(tally(*one), tally(*other))
    assert replace(both, samples=()) == replace(added(tally(*other), tally(*one)), samples=())
    assert both == tally(*one, *other)
    assert tally_from_bytes(tally_to_bytes(both)) == both
    assert both.calls == len(one) + len(other) == sum(both.outputs.values())
    assert sum(both.refused.values()) == sum(each.new not in ("", "ask") and not each.old for each in (*one, *other))


def test_what_is_kept_is_bounded() -> None:
    found = tally(*[Sample(str(number), 1, new=f"CODE{number}", why=f"why {number}") for number in range(500)])
    assert len(found.samples) == SAMPLES_MAX
    assert found.samples[-1].call == "499"
    assert len(found.refused) == len(found.why) == KINDS_MAX + 1
    assert sum(found.refused.values()) == 500
    assert len(tally_to_bytes(found)) < 32_000


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"calls":"1"}', b'{"old_ms":[1]}'])
def test_what_is_no_tally_is_not_read_as_one(body: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whatever it says
        tally_from_bytes(body)


EQUAL = Sample("c", 1, output=Output.EQUAL, old_ms=20, new_ms=20)


def test_enough_calls_that_came_to_the_same_speak_for_it() -> None:
    found = proposed(tally(*[EQUAL] * CALLS_MIN), compares=True)
    assert (found.promote, found.reason) == (
        True,
        "100 calls would have been taken as they were, and 100 reads gave the same",
    )
    judged = proposed(tally(*[Sample("c", 1, why="it is an effect")] * CALLS_MIN), compares=True)
    assert (judged.promote, "nothing was run in both" in judged.reason) == (True, True)


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (Sample("c", 1, new="PERMISSION_DENIED"), "would have refused 1 of 101 calls .*: PERMISSION_DENIED 1"),
        (replace(EQUAL, output=Output.FAILED, why="TOOL_ERROR"), "failed at 1 of 101 reads"),
        (replace(EQUAL, output=Output.DIFFERENT), "1 of 101 reads gave something else"),
    ],
)
def test_one_call_that_would_have_come_to_harm_speaks_against_it(bad: Sample, says: str) -> None:
    found = proposed(tally(*[EQUAL] * 100, bad), compares=True)
    assert found.promote is False
    assert pytest.importorskip("re").search(says, found.reason)


def test_what_is_refused_in_both_speaks_neither_for_nor_against() -> None:
    both = Sample("c", 1, old="PERMISSION_DENIED", new="PERMISSION_DENIED")
    assert proposed(tally(*[EQUAL] * 100, both), compares=True).promote is True
    freed = tally(Sample("c", 1, old="PERMISSION_DENIED"))
    assert (freed.freed, freed.refused) == (1, {})


def test_too_few_do_not_speak() -> None:
    assert proposed(NOTHING, compares=True).promote is None
    assert proposed(tally(*[EQUAL] * 99), compares=True).promote is None
    few = tally(*[EQUAL] * 5, *[Sample("c", 1)] * 100)
    assert proposed(few, compares=True).promote is None


def test_a_slow_one_speaks_against_itself() -> None:
    slow = proposed(tally(*[replace(EQUAL, old_ms=10, new_ms=50)] * 100), compares=True)
    assert (slow.promote, "slower" in slow.reason) == (False, True)
    assert proposed(tally(*[replace(EQUAL, old_ms=1, new_ms=10)] * 100), compares=True).promote is True


def test_a_person_who_would_be_asked_anew_is_told() -> None:
    found = proposed(tally(*[EQUAL] * 100, Sample("c", 1, new="ask")), compares=True)
    assert found.reason.endswith("1 of them would have waited for a person")
    assert tally(Sample("c", 1, old="ask", new="ask")).asks == 0


def test_times_are_told_by_upper_bounds() -> None:
    found = tally(*[replace(EQUAL, new_ms=ms) for ms in (1, 2, 3, 40_000)])
    assert [percentile(found.new_ms, each) for each in (25, 50, 75, 100)] == [1, 2, 5, BOUNDS_MS[-1]]
    assert percentile(NOTHING.new_ms, 50) == 0
    assert added(missed_one(), missed_one()).missed == 2
