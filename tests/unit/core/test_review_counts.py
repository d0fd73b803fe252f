"""Numbers of parts add up to those of the whole, and times are told to within a tenth."""

from hypothesis import given
from hypothesis import strategies as st

from interlock.core.review_counts import Counts, Numbers, Tallied, bucket, quantile, summed


@given(st.lists(st.integers(1, 86_400_000), min_size=1, max_size=200), st.sampled_from([0.5, 0.95, 1.0]))
def test_a_quantile_is_within_a_tenth_of_the_time_that_it_stands_for(times: list[int], share: float) -> None:
    tallied = Tallied()
    for each in times:
        tallied.working[bucket(each)] += 1
    exact = sorted(times)[max(0, -int(-share * len(times) // 1) - 1)]
    found = quantile(tallied.working, share)
    assert found is not None
    assert abs(found - exact) <= 0.1 * exact + 1


def test_no_time_at_all_has_no_quantile_and_nothing_takes_nothing() -> None:
    assert quantile({}, 0.5) is None
    assert quantile({bucket(0): 3}, 0.5) == 0


def test_numbers_of_several_versions_are_their_sums() -> None:
    one = Numbers(Counts(refused=1, started=2), {"RATE_LIMITED": 1}, {}, {}, {3: 1}, {}, 5)
    other = Numbers(Counts(started=3), {}, {"TOOL_TIMEOUT": 2}, {"Note": 1}, {3: 1}, {}, None)
    whole = summed((one, other))
    assert (whole.counts.proposals, whole.counts.started, whole.timeouts, whole.last_used_us) == (6, 5, 2, 5)
    assert (whole.refusals, whole.effects, whole.working) == ({"RATE_LIMITED": 1}, {"Note": 1}, {3: 2})


def test_denials_are_refusals_by_policy_and_arguments_those_of_their_form() -> None:
    numbers = Numbers(
        refusals={"PERMISSION_DENIED": 2, "TOOL_ARGUMENT_INVALID": 3, "INVALID_JSON": 1, "RATE_LIMITED": 9}
    )
    assert (numbers.denials, numbers.arguments_refused) == (2, 4)
