"""A run whose process is killed after its model found tools is offered the same by the process that takes it over."""

import json
import signal
import sys
from asyncio.subprocess import create_subprocess_exec
from pathlib import Path

import pytest

from interlock.loop.machine import State
from interlock.testing.models import ScriptedModel
from tests.crash.finding import opened
from tests.gates import ALICE

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.crash
@pytest.mark.requirement("REG-10", "LOOP-7")
async def test_what_was_found_before_a_kill_is_offered_after_it_to_the_byte(tmp_path: Path) -> None:
    store, offered = str(tmp_path / "gate.db"), tmp_path / "offered.json"
    arguments = ("-m", "tests.crash.find_worker", store, str(offered))
    process = await create_subprocess_exec(sys.executable, *arguments, cwd=ROOT)
    assert await process.wait() == -signal.SIGKILL
    before = json.loads(offered.read_text(encoding="utf-8"))
    assert len(before) == 6 + 4
    model = ScriptedModel(["done"])
    async with opened(store, model, tools_max=100) as gate:
        report = await (await gate.runs.get("r", by=ALICE)).result()
    assert (report.state, report.answer) == (State.COMPLETE, "done")
    assert [request["tools"] for request in model.requests] == [before]
