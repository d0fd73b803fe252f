"""Open runs that are bound to a version are found, of all tenants; those that are over are not."""

from dataclasses import replace

import pytest

from interlock.loop import bound
from interlock.loop.bound import BoundRuns
from interlock.loop.machine import State
from interlock.testing.models import Call, ScriptedModel
from tests.gates import ALICE, Shelf
from tests.runs import ASKS_TO_SAVE, opened, reached, start

SAVE: Call = ("save", {"note": "n1", "text": "t"})

pytestmark = pytest.mark.requirement("REG-7")


async def test_runs_that_wait_are_found_page_by_page_and_those_that_are_over_are_not(
    gate_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bound, "PAGE", 2)
    shelf = Shelf()
    models = [ScriptedModel([SAVE], name=f"m{number}") for number in range(3)]
    done = ScriptedModel(["done"], name="done")
    async with opened(gate_path, [*models, done], shelf.tools, ASKS_TO_SAVE) as gate:
        for number, by in enumerate((ALICE, ALICE, replace(ALICE, tenant="globex"))):
            run = await start(gate, by=by, run_id=f"r{number}", model=f"m{number}")
            await reached(run, State.WAITING_APPROVAL)
        await (await start(gate, run_id="over", model="done")).result()
        find = BoundRuns(gate._world.run_reads)
        digest = gate.catalogue.get("save").digest
        assert {*await find(digest, tenant=None)} == {"acme/r0", "acme/r1", "globex/r2"}
        assert await find(digest, tenant="globex") == ("globex/r2",)
        assert await find("another", tenant=None) == ()
