"""An unknown call of a tool that may be repeated: what the repeat says holds of the repeat alone."""

import pytest

from interlock import Gate, Observation, Status, ToolCall
from tests.simulation.people import ALICE
from tests.simulation.plan import LIMITS, Plan
from tests.simulation.play import Stretch
from tests.simulation.verdict import verdict
from tests.simulation.world import Mood

LOST = (Mood.BREAKS_AFTER,) * 3
"""All attempts of a call, each of which takes effect and then breaks."""


def told(*, then: Mood) -> tuple[Status, Status]:
    """What is told of a call whose outcome was lost, and of its repeat."""
    stretch = Stretch(Plan(1, (), (*LOST, then), LIMITS["none"]), haste=0)

    async def twice() -> tuple[Status, Status]:
        async with stretch.opened() as gate:
            return (await put(gate)).status, (await put(gate)).status

    seen = stretch.simulation.run(twice)
    left = stretch.play()
    assert verdict(stretch.facts(), left) == []
    assert isinstance(seen, tuple)
    return seen


async def put(gate: Gate) -> Observation:
    return await gate.call(ToolCall("c", "put", {"name": "x", "how": 0}), principal=ALICE, task="task")


@pytest.mark.requirement("IDEM-3")
def test_a_repeat_that_fails_leaves_the_call_unknown() -> None:
    assert told(then=Mood.BUSY) == (Status.UNKNOWN, Status.UNKNOWN)


@pytest.mark.requirement("IDEM-3")
def test_a_repeat_that_works_closes_the_call() -> None:
    assert told(then=Mood.WELL) == (Status.UNKNOWN, Status.OK)
