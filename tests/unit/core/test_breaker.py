"""A tool that cannot be reached rests, is probed by one call, and is open to all again when the probe comes back."""

import pytest

from interlock.core.breaker import CLOSED, Breaker, BreakerRule, BreakerState, counts_as_failure
from interlock.core.outcome import Failed, Outcome, Succeeded, Unknown
from interlock.core.refusals import Code

RULE = BreakerRule(failures_max=3, rest_s=10.0, rest_max_s=30.0)


def opened(now_s: float) -> Breaker:
    breaker = CLOSED
    for _ in range(3):
        breaker = breaker.failed(now_s, RULE)
    return breaker


def test_it_opens_after_failures_in_a_row_and_says_for_how_long() -> None:
    assert CLOSED.failed(0, RULE).failed(0, RULE).asked(0)[1] is None
    assert CLOSED.failed(0, RULE).failed(0, RULE).succeeded().failed(0, RULE).asked(0)[1] is None
    breaker = opened(100.0)
    assert breaker.state is BreakerState.OPEN
    assert breaker.asked(104.0) == (breaker, 6.0)


def test_after_its_rest_exactly_one_call_probes() -> None:
    probing, wait_s = opened(100.0).asked(110.0)
    assert (probing.state, wait_s) == (BreakerState.HALF_OPEN, None)
    assert probing.asked(111.0)[1] == 9.0
    assert probing.succeeded() == CLOSED


def test_a_probe_that_fails_doubles_the_rest_up_to_its_limit() -> None:
    breaker, now_s = opened(0.0), 0.0
    rests = []
    for _ in range(4):
        rests.append(breaker.until_s - now_s)
        now_s = breaker.until_s
        breaker = breaker.asked(now_s)[0].failed(now_s, RULE)
    assert rests == [10.0, 20.0, 30.0, 30.0]


def test_a_probe_that_never_reports_is_followed_by_another() -> None:
    probing = opened(0.0).asked(10.0)[0]
    assert probing.asked(20.0)[1] is None


def test_late_failures_of_calls_that_passed_before_do_not_prolong_the_rest() -> None:
    breaker = opened(0.0)
    assert breaker.failed(5.0, RULE) == breaker


@pytest.mark.parametrize(
    ("outcome", "counts"),
    [
        (Succeeded(b"1"), False),
        (Unknown("lost"), True),
        (Failed(Code.TOOL_TIMEOUT, "slow"), True),
        (Failed(Code.TOOL_ERROR, "503", retryable=True), True),
        (Failed(Code.TOOL_ERROR, "no such document", tool_code="NOT_FOUND"), False),
        (Failed(Code.TOOL_EXCEPTION, "KeyError"), False),
        (Failed(Code.OUTPUT_INVALID, "NaN"), False),
    ],
)
def test_only_faults_of_reach_count(outcome: Outcome, counts: bool) -> None:
    assert counts_as_failure(outcome) is counts
