"""A run begins with all that it needs to go on anywhere, and with nothing that could not work."""

from typing import Any

import pytest

from interlock import Host
from interlock.core.errors import SettingsInvalid
from interlock.loop.agent import Agent
from interlock.loop.entries import Begun, read
from interlock.loop.limits import RunLimits
from interlock.loop.machine import State
from interlock.loop.model import ModelUnknown, Price
from interlock.testing.fakes import START_US, FakeClock
from interlock.testing.models import ScriptedModel
from tests.gates import ALICE, AUDITOR, BOT, READS, Shelf
from tests.runs import happened, opened, start

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


async def test_it_is_there_for_everybody_once_it_was_started(gate_path: str) -> None:
    async with opened(gate_path, ScriptedModel(["done"]), Shelf().tools, READS) as gate:
        run = await start(gate, by=BOT, run_id="r", agent="helper")
        head = await gate.runs.head("r", by=AUDITOR)
        assert (head.id, head.agent, head.principal) == ("r", "helper", "alice")  # for whom the bot acts
        begun = await happened(run, "begun")
        assert begun.data == {"task": "Do it.", "agent": "helper", "model": "scripted", "tools": 1}
        await run.result()


async def test_its_time_counts_from_its_start() -> None:
    async with opened(":memory:", ScriptedModel(["done"]), Shelf().tools, host=Host(clock=FakeClock())) as gate:
        run = await start(gate, limits=RunLimits(expires_s=60))
        view = await gate.runs.view("acme", run.id)
        assert view.begun.expires_us == START_US + 60_000_000
        other = await start(gate, limits=RunLimits(expires_s=None), model=ScriptedModel(["done"], name="other"))
        assert (await gate.runs.view("acme", other.id)).begun.expires_us is None
        assert (await other.result()).state is State.COMPLETE


@pytest.mark.requirement("BUD-3")
async def test_every_model_of_every_agent_is_there_and_has_a_price_where_cost_is_limited() -> None:
    priced = ScriptedModel([], price=Price(1, 1))
    agents = [Agent("b", model="other")]
    async with opened(":memory:", priced, Shelf().tools) as gate:
        with pytest.raises(ModelUnknown, match="there is no model 'other' here"):
            await start(gate, agents=agents)
    async with opened(":memory:", [priced, ScriptedModel([], name="other")], Shelf().tools) as gate:
        with pytest.raises(SettingsInvalid, match="needs the price of the model other"):
            await start(gate, agents=agents, limits=RunLimits(cost_micros=5))
        assert await gate.runs.list(by=AUDITOR) == ()
