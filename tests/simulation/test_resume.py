"""A grant that is resumed by several people and taken back at the same time, in many orders."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from itertools import chain

import pytest

from interlock import Code, Gate, Observation, ToolCall
from tests.simulation.people import ALICE, APPROVERS
from tests.simulation.plan import LIMITS, Plan
from tests.simulation.play import Stretch
from tests.simulation.verdict import verdict
from tests.simulation.world import Mood

ORDERS = 60

RACED = {None, Code.IDEMPOTENCY_IN_PROGRESS}
"""What may be told of a grant that one of several is using: its result, or that it runs."""


async def granted(gate: Gate) -> str:
    """The id of an approval that is granted."""
    call = ToolCall("the-call", "remove", {"name": "x", "how": 0})
    approval_id = (await gate.call(call, principal=ALICE, task="task")).approval_id
    assert approval_id is not None
    for each in APPROVERS[:2]:
        await gate.approvals.approve(approval_id, by=each)
    return approval_id


def told(*, withdrawn: bool, mood: Mood) -> Counter[Code | None]:
    """What those are told who resume a grant, three at once, in each order."""
    return Counter(chain.from_iterable(told_in_order(seed, withdrawn=withdrawn, mood=mood) for seed in range(ORDERS)))


def told_in_order(seed: int, *, withdrawn: bool, mood: Mood) -> list[Code | None]:
    stretch = Stretch(Plan(seed, (), (mood,), LIMITS["none"]), haste=0)

    async def race() -> Sequence[object]:
        async with stretch.opened() as gate:
            approval_id = await granted(gate)
            resumes = [gate.approvals.resume(approval_id, by=each) for each in APPROVERS]
            takes_back = [gate.approvals.withdraw(approval_id, by=ALICE)] if withdrawn else []
            return [*await asyncio.gather(*resumes, *takes_back)][:3]

    seen = stretch.simulation.run(race)
    assert isinstance(seen, Sequence)
    left = stretch.play()
    assert verdict(stretch.facts(), left) == []
    return [None if each.error is None else each.error.code for each in seen if isinstance(each, Observation)]


@pytest.mark.requirement("APR-4")
def test_racing_resumes_run_it_once_and_none_is_told_to_try_again() -> None:
    assert told(withdrawn=False, mood=Mood.WELL).keys() <= RACED


@pytest.mark.requirement("APR-4", "APR-7")
def test_who_resumes_a_grant_that_is_taken_back_meanwhile_is_told_that() -> None:
    heard = told(withdrawn=True, mood=Mood.WELL)
    assert heard[Code.APPROVAL_MISMATCH]
    assert {*RACED, Code.APPROVAL_MISMATCH} >= heard.keys()


@pytest.mark.requirement("APR-4")
def test_a_grant_is_used_up_by_a_claim_of_which_nothing_came() -> None:
    heard = told(withdrawn=False, mood=Mood.BUSY)
    assert heard[Code.TOOL_ERROR] == ORDERS
    assert {*RACED, Code.TOOL_ERROR, Code.APPROVAL_MISMATCH} >= heard.keys()
