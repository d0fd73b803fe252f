"""The table of calls agrees with how calls really end: claimed where the record says so, and refused where it does."""

import pytest

from interlock import PolicySource
from interlock.core.refusals import Code
from interlock.loop.machine import CALL, CallCause, CallStage
from interlock.loop.stages import path_of, stage_of
from tests.gates import ALICE, BOB, OPERATOR, Shelf, asked, code, opened, records, save
from tests.walk.test_every_end import ENDS, POLICY, end, tools

pytestmark = pytest.mark.requirement("LOOP-1")

BY_RECORD = {
    "call.settled": {CallStage.RECORD_RESULT, CallStage.TOOL_ERROR_RESULT},
    "call.refused": {CallStage.TOOL_ERROR_RESULT},
    "call.waiting": {CallStage.WAIT_APPROVAL},
}


@pytest.mark.parametrize("way", ENDS)
async def test_a_call_was_claimed_where_its_way_through_the_table_says_so(way: str, gate_path: str) -> None:
    async with opened(gate_path, tools(Shelf()), POLICY) as gate:
        seen = await end(gate, way, 1)
        (kind,) = [each["event"] for each in await records(gate, call="c1") if each["event"] in BY_RECORD]
    assert (CallCause.CLAIMED in path_of(seen)) is (kind == "call.settled")
    assert stage_of(seen) in BY_RECORD[kind]
    assert (stage_of(seen) is CallStage.RECORD_RESULT) is (seen.status.value == "ok" and kind == "call.settled")


@pytest.mark.parametrize("decision", ["approve", "decline", "withdraw", "nothing", "forbid"])
async def test_a_call_that_waited_ends_in_a_way_that_the_table_has(decision: str, gate_path: str) -> None:
    policy = """@approval("approver") permit (principal, action, resource);"""
    async with opened(gate_path, Shelf().tools, policy) as gate:
        waits = await asked(gate)
        if decision in ("approve", "decline", "withdraw"):
            await getattr(gate.approvals, decision)(waits, by=ALICE if decision == "withdraw" else BOB)
        if decision == "forbid":
            await gate.approvals.approve(waits, by=BOB)
            await gate.policies.save([PolicySource("test", "")], by=OPERATOR)
        seen = await gate.approvals.resume(waits, by=BOB)
        replayed = await gate.approvals.resume(waits, by=BOB)
    stage = CallStage.VALIDATE
    for cause in path_of(seen):
        stage = CALL[stage][cause]
    assert stage is (CallStage.RECORD_RESULT if decision == "approve" else stage_of(seen))
    assert (code(seen) == "ok") is (decision == "approve")
    if decision == "approve":
        assert path_of(replayed) == (CallCause.FITS, CallCause.REPLAYED)


async def test_what_is_given_again_was_not_claimed_again(gate_path: str) -> None:
    async with opened(gate_path, Shelf().tools) as gate:
        first, again = [await gate.call(save(id=name), principal=ALICE, task="t") for name in ("c1", "c2")]
        claims = [each["call_id"] for each in await records(gate, "call.claimed")]
    assert (CallCause.CLAIMED in path_of(first), CallCause.CLAIMED in path_of(again), claims) == (True, False, ["c1"])


def test_every_code_that_these_calls_end_with_is_one_of_the_set() -> None:
    assert {each for each in ENDS.values() if each != "ok"} <= {each.value for each in Code}
