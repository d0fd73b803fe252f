"""Every code and every status has a way through the table of calls, which ends where such calls end."""

import pytest

from interlock.core.observation import Observation, Problem, Status
from interlock.core.refusals import AFTER_DISPATCH, BEFORE_DISPATCH, Code
from interlock.loop.machine import CALL, CallCause, CallStage
from interlock.loop.stages import BY_CODE, path_of, stage_of

pytestmark = pytest.mark.requirement("LOOP-1")


def seen(status: Status, code: Code | None = None, *, replayed: bool = False) -> Observation:
    error = None if code is None else Problem(code, "Why.")
    return Observation("c1", "save", "1", status, error=error, replayed=replayed)


def test_every_code_has_a_way_and_every_way_is_in_the_table() -> None:
    assert BY_CODE.keys() == set(Code)
    for code, path in BY_CODE.items():
        stage = CallStage.VALIDATE
        for cause in path:
            assert cause in CALL[stage], (code, stage, cause)
            stage = CALL[stage][cause]
        assert stage is (CallStage.WAIT_APPROVAL if code is Code.APPROVAL_REQUIRED else CallStage.TOOL_ERROR_RESULT)


def test_what_proves_that_nothing_ran_is_told_before_a_claim_but_for_a_tools_own_condition() -> None:
    claimed = {code for code, path in BY_CODE.items() if CallCause.CLAIMED in path}
    assert claimed == AFTER_DISPATCH | {Code.PRECONDITION_FAILED}
    assert claimed & BEFORE_DISPATCH == {Code.PRECONDITION_FAILED}


@pytest.mark.parametrize("code", Code)
@pytest.mark.parametrize("status", Status)
def test_every_status_with_every_code_stands_somewhere(status: Status, code: Code) -> None:
    assert stage_of(seen(status, code)) in CallStage
    assert stage_of(seen(status)) in CallStage


@pytest.mark.parametrize(
    ("status", "code", "stage"),
    [
        (Status.OK, None, CallStage.RECORD_RESULT),
        (Status.PARTIAL, None, CallStage.RECORD_RESULT),
        (Status.ACCEPTED, None, CallStage.RECORD_RESULT),
        (Status.COMPENSATED, None, CallStage.RECORD_RESULT),
        (Status.WAITING, Code.APPROVAL_REQUIRED, CallStage.WAIT_APPROVAL),
        (Status.REFUSED, Code.PERMISSION_DENIED, CallStage.TOOL_ERROR_RESULT),
        (Status.FAILED, Code.TOOL_ERROR, CallStage.TOOL_ERROR_RESULT),
        (Status.UNKNOWN, Code.OUTCOME_UNKNOWN, CallStage.TOOL_ERROR_RESULT),
    ],
)
def test_a_call_stands_where_its_status_says(status: Status, code: Code | None, stage: CallStage) -> None:
    assert stage_of(seen(status, code)) is stage


def test_what_is_given_again_was_judged_and_not_claimed() -> None:
    path = path_of(seen(Status.FAILED, Code.TOOL_ERROR, replayed=True))
    assert path == (CallCause.FITS, CallCause.REPLAYED)
