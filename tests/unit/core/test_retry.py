"""Only what may be repeated is repeated, only after faults that pass, and never in step with others."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.effect import Effect
from interlock.core.outcome import Failed, Outcome, Succeeded, Unknown
from interlock.core.refusals import Code
from interlock.core.retry import RETRY_AFTER_MAX_S, backoff_s, may_retry, parse_retry_after, wait_s
from interlock.core.tool import RetryRule

RULE = RetryRule(attempts=3, backoff_ms=100, backoff_max_ms=5_000)
NOW_US = int(datetime(2026, 10, 21, 7, 27, 0, tzinfo=UTC).timestamp()) * 1_000_000
TRANSIENT = Failed(Code.TOOL_ERROR, "503", retryable=True)


@pytest.mark.requirement("EXEC-2")
@pytest.mark.parametrize("effect", Effect)
def test_only_reads_and_idempotent_writes_are_tried_again(effect: Effect) -> None:
    allowed = may_retry(effect, TRANSIENT, attempt=1, rule=RULE)
    assert allowed is (effect in (Effect.READ, Effect.IDEMPOTENT_WRITE))
    assert not may_retry(effect, TRANSIENT, attempt=3, rule=RULE)


@pytest.mark.requirement("EXEC-2")
@pytest.mark.parametrize(
    "outcome",
    [
        Succeeded(b"1"),
        Unknown("?"),
        Failed(Code.TOOL_ARGUMENT_INVALID, "arguments"),
        Failed(Code.PERMISSION_DENIED, "permission"),
        Failed(Code.TOOL_ERROR, "404"),
    ],
)
def test_what_does_not_pass_by_itself_is_never_tried_again(outcome: Outcome) -> None:
    assert not may_retry(Effect.READ, outcome, attempt=1, rule=RULE)


@pytest.mark.requirement("EXEC-2")
@given(st.integers(1, 10_000), st.floats(0, 1, exclude_max=True))
def test_back_off_doubles_up_to_its_limit_with_full_jitter_above_a_floor(attempt: int, jitter: float) -> None:
    ceiling_s = min(0.1 * 2 ** min(attempt - 1, 20), 5.0)
    assert 0.1 * ceiling_s <= backoff_s(RULE, attempt=attempt, jitter=jitter) <= ceiling_s
    assert backoff_s(RULE, attempt=attempt, jitter=0.9) > backoff_s(RULE, attempt=attempt, jitter=0.1)


def test_the_tools_own_wish_is_kept_but_never_shortens_the_back_off() -> None:
    wish = Failed(Code.TOOL_ERROR, "429", retryable=True, retry_after_s=7.0)
    past = Failed(Code.TOOL_ERROR, "429", retryable=True, retry_after_s=0.001)
    assert wait_s(RULE, wish, attempt=1, jitter=0.5) == 7.0
    assert wait_s(RULE, past, attempt=1, jitter=0.5) > 0.05


@pytest.mark.requirement("EXEC-2")
@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 7 ", 7.0),
        ("1.5", 2.0),
        ("0", 0.0),
        ("-5", 0.0),
        ("Wed, 21 Oct 2026 07:28:00 GMT", 60.0),
        ("Wednesday, 21-Oct-26 07:28:00 GMT", 60.0),
        ("Wed Oct 21 07:28:00 2026", 60.0),
        ("Sun Nov  1 07:27:00 2026", RETRY_AFTER_MAX_S),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 0.0),
        ("Wed, 21 Oct 2026 07:26:00 GMT", 0.0),
        ("9" * 40, RETRY_AFTER_MAX_S),
        ("9" * 5_000, RETRY_AFTER_MAX_S),
        ("", None),
        ("garbage", None),
        ("120, 60", None),
        ("nan", None),
        ("inf", None),
        ("1e3", None),
        ("٣", None),
        ("Fri, 31 Dec 99999 23:59:59 GMT", None),
        ("Wed, 31 Feb 2026 07:28:00 GMT", None),
        ("Wed, 21 Foo 2026 07:28:00 GMT", None),
        ("Wed, 21 Oct 2026 25:61:00 GMT", None),
    ],
)
def test_retry_after_is_read_in_both_forms_and_garbage_is_as_if_absent(value: str, seconds: float | None) -> None:
    assert parse_retry_after(value, now_us=NOW_US) == seconds


@given(st.text() | st.from_regex(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT"), st.integers(0, 2**53))
def test_no_header_makes_the_reader_fail_or_leave_its_bounds(value: str, now_us: int) -> None:
    seconds = parse_retry_after(value, now_us=now_us)
    assert seconds is None or 0 <= seconds <= RETRY_AFTER_MAX_S
