"""What a function raised is told by type only; what it gave back but cannot be shown was executed."""

from dataclasses import replace

import pytest

from interlock.core.budget import Amounts
from interlock.core.errors import ToolFault
from interlock.core.functions import Result
from interlock.core.outcome import Failed, Succeeded
from interlock.core.refusals import Code
from interlock.core.resource import Resource
from interlock.core.tool import ErrorContract
from interlock.declare import tool
from interlock.runners.python_outcome import failure_of, outcome_of, reconciled_of, resource_of


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


@pytest.mark.requirement("EXEC-5", "OBS-2")
def test_a_result_that_misstates_something_was_executed_all_the_same() -> None:
    assert outcome_of(Result("x", tokens=4, labels="public")) == Failed(  # type: ignore[arg-type]
        Code.OUTPUT_INVALID,
        "It was executed, but what it says of its result cannot be used: labels.",
        spent=Amounts(tokens=4),
    )


@pytest.mark.requirement("EXEC-5", "IDEM-3")
@pytest.mark.parametrize("wait", [float("nan"), float("inf"), -1, True, "soon", 10**20])
def test_a_declared_error_counts_whatever_is_said_with_it(wait: object) -> None:
    fault = ToolFault("busy", 5, retry_after_s=wait)  # type: ignore[arg-type]
    spec = replace(look_up.spec(), errors=(ErrorContract("busy", nothing_happened=True),))
    found = failure_of(fault, spec=spec)
    assert (found.tool_code, found.nothing_happened, found.retry_after_s) == ("busy", True, None)
    assert found.message == "look_up reported busy."
    undeclared = ToolFault(["busy"], "x")  # type: ignore[arg-type]
    assert failure_of(undeclared, spec=spec).code is Code.TOOL_EXCEPTION


@pytest.mark.requirement("EXEC-5", "POL-2")
@pytest.mark.parametrize(
    "given", [None, "Draft/x", Resource("Draft", 5), Resource("Draft", "\ud800"), Resource("Draft", "x", 7),  # type: ignore[arg-type]
              Resource("Draft", "x", attributes={"a": object()}), Resource("Draft", "x", attributes=[1])],  # type: ignore[dict-item, arg-type]
)  # fmt: skip
def test_a_resource_that_cannot_be_judged_is_none(given: object) -> None:
    assert resource_of(given) is None
    sound = Resource("Draft", "x", "v1", {"owner": "bob"})
    assert resource_of(sound) is sound


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
