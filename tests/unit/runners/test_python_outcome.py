"""What a function raised is told by type only; what it gave back but cannot be shown was executed."""

import pytest

from interlock.core.budget import Amounts
from interlock.core.functions import Result
from interlock.core.outcome import Failed, Succeeded
from interlock.core.refusals import Code
from interlock.declare import tool
from interlock.runners.python_outcome import failure_of, outcome_of, reconciled_of


@tool(effect="read")
async def look_up(word: str) -> str:
    """Look up."""
    return word


@pytest.mark.requirement("EXEC-2")
@pytest.mark.parametrize(
    ("fault", "retryable"), [(ConnectionResetError(), True), (TimeoutError(), True), (OSError(), False)]
)
def test_only_lost_connections_and_timeouts_count_as_passing(fault: Exception, retryable: bool) -> None:
    assert failure_of(fault, spec=look_up.spec()).retryable is retryable


@pytest.mark.requirement("EXEC-5", "OBS-2")
def test_a_result_that_cannot_be_shown_says_that_it_was_executed_and_what_it_cost() -> None:
    found = outcome_of(Result(float("nan"), tokens=4))
    assert found == Failed(
        Code.OUTPUT_INVALID,
        "It was executed, but its result cannot be shown: it contains NaN or Infinity.",
        spent=Amounts(tokens=4),
    )


def test_no_reported_usage_is_not_the_same_as_none_spent() -> None:
    bare, free = outcome_of("x"), outcome_of(Result("x", tokens=0))
    assert isinstance(bare, Succeeded)
    assert isinstance(free, Succeeded)
    assert (bare.produced.spent, free.produced.spent) == (None, Amounts())


def test_a_look_up_that_finds_nothing_proves_that_nothing_happened() -> None:
    found = reconciled_of(None)
    assert isinstance(found, Failed)
    assert found.nothing_happened
    assert reconciled_of(0) == Succeeded(b"0")
