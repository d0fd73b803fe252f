"""A run begins with all that it needs to go on anywhere, and with nothing that could not work."""

from typing import Any

import pytest

from interlock.core.errors import SettingsInvalid
from interlock.loop.agent import Agent
from interlock.loop.entries import Begun, read
from interlock.loop.limits import RunLimits
from interlock.testing.models import ScriptedModel
from tests.gates import ALICE, Shelf
from tests.runs import opened, start

pytestmark = pytest.mark.requirement("LOOP-7")


async def test_what_a_run_is_bound_to_stands_in_its_first_entry() -> None:
    async with opened(":memory:", ScriptedModel(["done"]), Shelf().tools) as gate:
        run = await start(gate, agent=Agent("one", "be brief"), tools=["search"], limits=RunLimits(expires_s=60))
        await run.result(timeout_s=10)
        (first, *_) = await gate._parts.world.run_reads.run_entries("acme", run.id)
        begun = read(first).body
        assert isinstance(begun, Begun)
        assert begun.principal == ALICE
        assert [each.name for each in begun.bound] == ["search"]
        assert begun.bound[0].digest == gate.catalogue.get("search").digest
        assert begun.agents == (Agent("one", "be brief"),)
        assert (
            begun.expires_us == first.at_us + 60_000_000 or abs(begun.expires_us - first.at_us - 60_000_000) < 5_000_000
        )


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"task": "  "}, "a run has a task"),
        ({"tools": ["no-such-tool"]}, "no-such-tool"),
        ({"limits": RunLimits(cost_micros=1)}, "price"),
        ({"agent": Agent("a", hand_offs=("b",))}, "b, which there is not"),
    ],
)
async def test_what_could_not_work_begins_nothing(wrong: dict[str, Any], says: str) -> None:
    async with opened(":memory:", ScriptedModel(["done"]), Shelf().tools) as gate:
        with pytest.raises(SettingsInvalid, match=says):
            await start(gate, **wrong)
        assert await gate.runs.list(by=ALICE) == ()
