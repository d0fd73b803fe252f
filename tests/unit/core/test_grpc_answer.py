"""A status is what the contract says it is, and else no proof of anything."""

from dataclasses import replace

import pytest

from interlock import tool
from interlock.core.errors import SpecInvalid
from interlock.core.faults import TIMED_OUT
from interlock.core.grpc_answer import Ended, not_happened, outcome_of, read_status, waited_s
from interlock.core.grpc_call import STATUSES, LookUpCall
from interlock.core.outcome import Failed
from interlock.core.refusals import Code
from interlock.core.tool import ErrorContract
from tests.unit.core.test_grpc_call import CALL, CODE


@tool(effect="write", name="act")
async def act(thing: str) -> str:
    """Act on a thing."""
    return thing


def came_to(status: str, *, wait_s: float | None = None, **declared: ErrorContract) -> Failed:
    code = replace(CODE, statuses=tuple(declared.items()))
    return outcome_of(Ended(status, wait_s), spec=act.spec(), code=code)


@pytest.mark.requirement("EXEC-2")
def test_only_a_server_that_is_away_or_full_is_tried_again() -> None:
    again = {status for status in STATUSES[1:] if came_to(status).retryable}
    assert again == {"UNAVAILABLE", "RESOURCE_EXHAUSTED", "DEADLINE_EXCEEDED"}
    assert came_to("DEADLINE_EXCEEDED") == TIMED_OUT
    assert came_to("UNAVAILABLE", wait_s=3.0).retry_after_s == 3.0
    assert came_to("UNAVAILABLE").code is Code.TOOL_UNAVAILABLE


@pytest.mark.requirement("EXEC-2")
@pytest.mark.parametrize("status", STATUSES[1:])
def test_no_status_proves_by_itself_that_nothing_happened(status: str) -> None:
    found = came_to(status)
    assert (found.nothing_happened, found.tool_code) == (False, "")


def test_a_declared_status_is_what_the_contract_says() -> None:
    contract = ErrorContract("TAKEN", nothing_happened=True, description="It is taken.")
    found = came_to("ALREADY_EXISTS", wait_s=2.0, ALREADY_EXISTS=contract)
    assert found == Failed(Code.TOOL_ERROR, "It is taken.", tool_code="TAKEN", retry_after_s=2.0, nothing_happened=True)
    assert not came_to("DATA_LOSS", DATA_LOSS=ErrorContract("GONE")).nothing_happened
    assert "status UNAVAILABLE" in came_to("UNAVAILABLE", UNAVAILABLE=ErrorContract("AWAY")).message


def test_a_look_up_proves_what_it_declares() -> None:
    look_up = LookUpCall(CALL, (), ("NOT_FOUND",))
    found = not_happened(Ended("NOT_FOUND"), look_up=look_up)
    assert found is not None
    assert found.nothing_happened
    assert not_happened(Ended("PERMISSION_DENIED"), look_up=look_up) is None


@pytest.mark.parametrize("name", ["OK", "ok", "404", "NOTFOUND", ""])
def test_what_is_no_status_of_a_failure_is_refused(name: str) -> None:
    with pytest.raises(SpecInvalid, match="NOT_FOUND"):
        read_status(name)
    assert read_status("NOT_FOUND") == "NOT_FOUND"


def test_a_wait_is_within_a_day() -> None:
    assert [waited_s(each) for each in (-1.0, 5.5, 1e12)] == [0.0, 5.5, 86_400.0]
