"""Runs are started once under an id, seen by whom they are for, and refused where they could not work."""

import pytest

from interlock import Principal, Wish
from interlock.core.errors import SettingsInvalid
from interlock.loop.desk import RunExists, RunUnknown
from interlock.loop.machine import State
from interlock.loop.model import ModelUnknown
from interlock.testing.models import ScriptedModel
from tests.gates import ALICE, AUDITOR, BOB, BOT, Shelf, records
from tests.runs import opened, start

pytestmark = pytest.mark.requirement("LOOP-7")


async def test_a_second_start_under_one_id_is_the_same_run(gate_path: str) -> None:
    model = ScriptedModel(["done"])
    async with opened(gate_path, model, Shelf().tools) as gate:
        one, two = await start(gate, run_id="r"), await start(gate, run_id="r")
        assert (await one.result()) == (await two.result())
        assert len(model.requests) == 1
        for other in ({"task": "Do another."}, {"by": BOB}, {"agent": "other"}):
            with pytest.raises(RunExists, match="another task or for somebody else"):
                await start(gate, run_id="r", **other)


async def test_what_could_not_work_is_refused_at_once() -> None:
    async with opened(":memory:", ScriptedModel([]), Shelf().tools) as gate:
        with pytest.raises(ModelUnknown, match="there is no model 'other'"):
            await start(gate, model="other")
        with pytest.raises(SettingsInvalid, match="a run has a task"):
            await start(gate, task=" ")
        assert await gate.runs.list(by=AUDITOR) == ()


async def test_a_run_is_listed_for_whom_it_is_and_for_auditors_newest_first(gate_path: str) -> None:
    async with opened(gate_path, ScriptedModel(["done"] * 3), Shelf().tools) as gate:
        for number, who in enumerate((ALICE, BOB, BOT)):
            await (await start(gate, by=who, run_id=f"r{number}")).result()
        assert {each.id for each in await gate.runs.list(by=ALICE)} == {"r0", "r2"}  # the bot acts for her
        assert {each.id for each in await gate.runs.list(by=AUDITOR)} == {"r0", "r1", "r2"}
        assert await gate.runs.list(by=Principal("other", "alice", groups=frozenset({"auditor"}))) == ()
        with pytest.raises(RunUnknown, match="there is no run 'r1'"):
            await gate.runs.get("r1", by=ALICE)


async def test_the_beginning_and_the_end_are_on_record_with_what_was_used() -> None:
    async with opened(":memory:", ScriptedModel([("search", {"query": "x"}), "done"]), Shelf().tools) as gate:
        run = await start(gate, agent="helper")
        await run.result()
        (begun,), (over,) = await records(gate, "run.started"), await records(gate, "run.ended")
        assert (begun["subject"], begun["principal"], begun["agent"]) == (run.id, "alice", "helper")
        wanted = {"subject": run.id, "state": "complete", "reason": "answered", "rounds": 2, "calls": 1, "tokens": 60}
        assert {name: over[name] for name in wanted} == wanted


async def test_a_result_is_waited_for_only_so_long_and_the_run_goes_on() -> None:
    shelf = Shelf()
    shelf.open.clear()
    async with opened(":memory:", ScriptedModel([("save", {"note": "n", "text": "t"}), "done"]), shelf.tools) as gate:
        run = await start(gate)
        with pytest.raises(TimeoutError):
            await run.result(timeout_s=0.01)
        shelf.open.set()
        assert (await run.result()).state is State.COMPLETE


async def test_half_a_character_in_what_people_say_is_mended(gate_path: str) -> None:
    async with opened(gate_path, ScriptedModel(["done"]), Shelf().tools) as gate:
        run = await start(gate, task="Do \ud800 it\x00.")
        assert (await run.result()).state is State.COMPLETE


@pytest.mark.requirement("AUD-4", "LOOP-10")
async def test_who_acts_for_somebody_sees_and_moves_only_what_they_started_themselves(gate_path: str) -> None:
    async with opened(gate_path, ScriptedModel(["done"] * 2), Shelf().tools) as gate:
        await (await start(gate, by=ALICE, run_id="hers")).result()
        await (await start(gate, by=BOT, run_id="its")).result()
        assert [each.id for each in await gate.runs.list(by=BOT)] == ["its"]
        assert (await gate.runs.get("its", by=ALICE)).id == "its"
        assert await gate.runs.observations("its", by=BOT) == ()
        for look in (gate.runs.get, gate.runs.observations, gate.runs.lineage, gate.runs.replay):
            with pytest.raises(RunUnknown):
                await look("hers", by=BOT)
        assert await gate.runs.say("hers", "hello", by=BOT) is not None
        assert "no such run" in str(await gate.runs.wish("hers", Wish.CANCEL, by=BOT))
