"""Runs that did again what they had done, or did not survive a deploy, as others met them, with runs of our own."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from interlock import tool
from interlock.loop.machine import State
from interlock.store.memory import MemoryStore
from interlock.testing.models import Said, ScriptedModel
from tests.gates import ALICE, BOB, AnyTool
from tests.runs import events, on_store, opened, reached, start, told
from tests.unit.loop.test_drive import Waiting

pytestmark = [pytest.mark.trouble, pytest.mark.requirement("LOOP-7")]

TroubleCase = Callable[[str], Mapping[str, Any]]
ASKS_TO_PAY = """
permit (principal, action, resource) unless { resource == Tool::"pay" };
@approval("approver") permit (principal, action == Action::"pay", resource);
"""


class Office:
    """A tool that sends mails and one that pays; both remember what they did."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.paid: list[int] = []

    def tools(self) -> tuple[AnyTool, ...]:
        @tool(effect="write", owner="eng", name="send_email", key=["to"])
        async def send_email(to: str) -> str:
            """Send a mail."""
            self.sent.append(to)
            return f"sent {to}"

        @tool(effect="write", owner="eng", name="pay", key=["order"])
        async def pay(order: int) -> str:
            """Pay an order."""
            self.paid.append(order)
            return "paid"

        return (send_email, pay)


SCRIPT: list[Said] = [("send_email", {"to": "dave@example.com"}), ("pay", {"order": 7})]


async def test_what_was_done_before_a_pause_is_not_done_again_however_often_it_is_resumed(
    trouble_case: TroubleCase, tmp_path: Path
) -> None:
    """DUR-01: each resume ran the step from its start, and sent the mail again."""
    path, office = str(tmp_path / "gate.db"), Office()
    async with opened(path, ScriptedModel(SCRIPT), office.tools(), ASKS_TO_PAY) as gate:
        run = await start(gate, run_id="r")
        await reached(run, State.WAITING_APPROVAL)
    for _ in range(trouble_case("DUR-01")["input"]["resumes"]):
        async with opened(path, ScriptedModel([]), office.tools(), None) as gate:
            await gate.runs._engine.wake("acme", "r")
            await gate.runs._engine.rested("acme", "r")
            (waits,) = (await (await gate.runs.get("r", by=ALICE)).report()).waiting
    async with opened(path, ScriptedModel(["done"]), office.tools(), None) as gate:
        await gate.approvals.approve(waits, by=BOB)
        assert (await (await gate.runs.get("r", by=ALICE)).result()).state is State.COMPLETE
    assert (office.sent, office.paid) == (["dave@example.com"], [7])


async def test_one_that_slept_past_its_turn_neither_acts_nor_writes(trouble_case: TroubleCase) -> None:
    """DUR-03: a worker that was taken over from woke up, ran the tool again and wrote its result over the other's."""
    assert trouble_case("DUR-03")["input"]["events"][-1] == "w1 resumes and writes"
    store, office = MemoryStore(), Office()
    asleep, awake = Waiting([SCRIPT[0]]), ScriptedModel([SCRIPT[0], "done"])
    async with on_store(store, asleep, office.tools()) as one:
        await start(one, run_id="r", task_id="t")
        await asleep.asked.wait()
        store.abandon()
        async with on_store(store, awake, office.tools(), None) as two:
            run = await two.runs.get("r", by=ALICE)
            await run.result()
            before = await events(run)
            asleep.go.set()
            await one.runs._engine.rested("acme", "r")
            assert await events(run) == before
    assert office.sent == ["dave@example.com"]


def searching(version: str, ran: list[str], *, newer: bool) -> AnyTool:
    if newer:

        @tool(effect="read", owner="eng", name="search", version=version)
        async def search(query: str, region: str) -> str:
            """Search, in a region."""
            ran.append(version)
            return query

        return search

    @tool(effect="read", owner="eng", name="search", version=version)
    async def plain(query: str) -> str:
        """Search."""
        ran.append(version)
        return query

    return plain


@pytest.mark.parametrize("kept", [True, False])
async def test_a_deploy_in_the_middle_of_a_run_keeps_its_version_or_says_that_it_is_gone(
    kept: bool, trouble_case: TroubleCase, tmp_path: Path
) -> None:
    """DUR-05: a run in flight met a newer tool with another required argument, and was stuck for good."""
    case = trouble_case("DUR-05")["input"]
    old, new = case["run_started_with"]["version"], case["deploy"]["version"].split()[0]
    path, ran, office = str(tmp_path / "gate.db"), list[str](), Office()
    search: Said = (case["run_started_with"]["tool"], {"query": "x"})
    before = [searching(old, ran, newer=False), *office.tools()]
    async with opened(path, ScriptedModel([search, SCRIPT[1]]), before, ASKS_TO_PAY) as gate:
        run = await start(gate, run_id="r")
        await reached(run, State.WAITING_APPROVAL)
        (waits,) = (await run.report()).waiting
    after = [*([before[0]] if kept else []), searching(new, ran, newer=True), *office.tools()]
    async with opened(path, ScriptedModel([search, "done"]), after, None) as gate:
        await gate.approvals.approve(waits, by=BOB)
        run = await gate.runs.get("r", by=ALICE)
        report = await run.result()
        assert next(each.now for each in await gate.runs.replay("r", by=ALICE)) == (
            "allow" if kept else "TOOL_NOT_FOUND"
        )
    assert office.paid == [7]  # what had been granted was bound to its own tool, which is there
    if kept:
        assert (report.state, ran) == (State.COMPLETE, [old, old])
    else:
        assert (report.state, report.reason, ran) == (State.FAILED, "bound_version", [old])
        assert report.why == f"search {old}, to which the run is bound, is not here any more."


async def test_every_call_of_a_turn_is_answered_whatever_becomes_of_a_sibling(
    trouble_case: TroubleCase, gate_path: str
) -> None:
    """SCD-01: one call was cancelled inside; the others' results vanished, and the next request was refused."""

    @tool(effect="read", name="ok")
    async def fine() -> str:
        """Be fine."""
        return "fine"

    @tool(effect="read")
    async def raises() -> str:
        """Raise what only a scheduler should."""
        raise asyncio.CancelledError

    calls: Said = [(each["tool"].split()[0], {}) for each in trouble_case("SCD-01")["input"]["parallel"]]
    model = ScriptedModel([calls, "done"])
    async with opened(gate_path, model, [fine, raises]) as gate:
        assert (await (await start(gate)).result()).state is State.COMPLETE
    messages: Any = model.requests[1]["messages"]
    asked = [call["id"] for call in messages[1]["tool_calls"]]
    assert [each["tool_call_id"] for each in messages[2:]] == asked
    assert [text.split("\n")[0] for text in told(model.requests[1])[1:]] == ["ok: ok", "raises: failed", "ok: ok"]
