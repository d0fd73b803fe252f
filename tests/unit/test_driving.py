"""Runs are wired to a gate when they are first used, and let go of when it closes."""

import pytest

from interlock import Gate, Host
from interlock.loop.machine import State
from interlock.testing.models import ScriptedModel
from tests.gates import ALICE, Shelf


async def test_a_gate_without_models_wires_no_runs_until_they_are_used() -> None:
    async with Gate.open(tools=Shelf().tools, policies=[], host=Host()) as gate:
        assert gate._driving is None
        assert await gate.runs.list(by=ALICE) == ()
        assert gate._driving is not None


@pytest.mark.requirement("DOOR-1")
async def test_closing_a_gate_lets_go_of_its_runs_and_models() -> None:
    model = ScriptedModel(["done"])
    async with Gate.open(tools=Shelf().tools, host=Host(models=(model,))) as gate:
        run = await gate.runs.start(model="scripted", task="say done", principal=ALICE)
        assert (await run.result(timeout_s=10)).state is State.COMPLETE
    assert model.closed
