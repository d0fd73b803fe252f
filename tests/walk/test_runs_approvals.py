"""Runs that wait for people: granted, declined, expired, withdrawn, edited, one of two; and what the model hears."""

from collections.abc import Awaitable, Callable

import pytest

from interlock import Gate, Host, PolicySource
from interlock.core.observation import Observation, Status
from interlock.loop.desk import Run
from interlock.loop.entries import Wish
from interlock.loop.machine import State
from interlock.loop.report import RunReport
from interlock.testing.fakes import FakeClock
from interlock.testing.models import Call, ScriptedModel
from tests.gates import ALICE, BOB, CAROL, OPERATOR, READS, Shelf
from tests.runs import ASKS_TO_SAVE, events, happened, opened, reached, start, told

SAVE: Call = ("save", {"note": "n1", "text": "hello"})
OTHER: Call = ("save", {"note": "n2", "text": "bye"})
ONLY_READS = [PolicySource("test", READS)]
READ: Call = ("search", {"query": "x"})

Decide = Callable[[Gate, str], Awaitable[object]]


async def decided(path: str, decide: Decide, shelf: Shelf) -> tuple[RunReport, ScriptedModel]:
    """A run that waits for one approval, what somebody does about it, and how it ended."""
    model = ScriptedModel([[READ, SAVE], "done"])
    async with opened(path, model, shelf.tools, ASKS_TO_SAVE) as gate:
        run = await start(gate)
        await reached(run, State.WAITING_APPROVAL)
        (waiting,) = (await run.report()).waiting
        assert (shelf.searched, shelf.saved, len(model.requests)) == (["x"], [], 1)
        await decide(gate, waiting)
        return await run.result(), model


@pytest.mark.requirement("APR-1", "APR-4", "LOOP-8")
async def test_what_was_granted_runs_once_and_the_model_goes_on(gate_path: str) -> None:
    shelf = Shelf()
    report, model = await decided(gate_path, lambda gate, waits: gate.approvals.approve(waits, by=BOB), shelf)
    assert (report.state, report.answer, shelf.saved) == (State.COMPLETE, "done", [("n1", "hello")])
    assert [text.split("\n")[0] for text in told(model.requests[1])[1:]] == ["search: ok", "save: ok"]


@pytest.mark.requirement("APR-6")
async def test_what_was_declined_does_not_run_and_the_model_is_told_not_to_ask_again(gate_path: str) -> None:
    shelf = Shelf()
    report, model = await decided(gate_path, lambda gate, waits: gate.approvals.decline(waits, by=BOB), shelf)
    assert (report.state, shelf.saved) == (State.COMPLETE, [])
    assert "APPROVAL_DENIED" in told(model.requests[1])[2]
    assert "Do not propose it again in this run." in told(model.requests[1])[2]


@pytest.mark.requirement("APR-7")
async def test_what_was_withdrawn_does_not_run(gate_path: str) -> None:
    shelf = Shelf()
    report, model = await decided(gate_path, lambda gate, waits: gate.approvals.withdraw(waits, by=ALICE), shelf)
    assert (report.state, shelf.saved) == (State.COMPLETE, [])
    assert "APPROVAL_MISMATCH: The approval is withdrawn." in told(model.requests[1])[2]


@pytest.mark.requirement("APR-6")
async def test_what_nobody_decides_expires_and_the_run_goes_on_by_itself(gate_path: str) -> None:
    shelf, clock, model = Shelf(), FakeClock(), ScriptedModel([SAVE, "done"])
    async with opened(gate_path, model, shelf.tools, ASKS_TO_SAVE, host=Host(clock=clock)) as gate:
        run = await start(gate)
        await reached(run, State.WAITING_APPROVAL)
        clock.advance(3_601)
        assert (await run.result()).state is State.COMPLETE
    assert ("APPROVAL_EXPIRED" in told(model.requests[1])[1], shelf.saved) == (True, [])


@pytest.mark.requirement("APR-4")
async def test_what_somebody_resumed_elsewhere_is_told_and_not_done_again(gate_path: str) -> None:
    shelf = Shelf()

    async def resume(gate: Gate, waits: str) -> None:
        await gate.approvals.approve(waits, by=BOB)
        await gate.approvals.resume(waits, by=BOB)

    report, _ = await decided(gate_path, resume, shelf)
    assert (report.state, shelf.saved) == (State.COMPLETE, [("n1", "hello")])


@pytest.mark.requirement("APR-6")
async def test_an_edited_call_is_waited_for_and_the_model_is_told_that_it_is_another(gate_path: str) -> None:
    shelf = Shelf()

    async def edit(gate: Gate, waits: str) -> None:
        seen = await gate.approvals.edit(waits, by=BOB, arguments='{"note": "n1", "text": "better"}')
        assert isinstance(seen, Observation)
        assert seen.status is Status.WAITING
        await gate.approvals.approve(str(seen.approval_id), by=CAROL)

    report, model = await decided(gate_path, edit, shelf)
    assert (report.state, shelf.saved) == (State.COMPLETE, [("n1", "better")])
    assert "A person changed the arguments of this call" in told(model.requests[1])[2]
    assert "save: ok" in told(model.requests[1])[2]


@pytest.mark.requirement("APR-6")
async def test_an_edited_call_is_what_the_report_names_until_it_is_decided() -> None:
    model, shelf = ScriptedModel([SAVE, "done"]), Shelf()
    async with opened(":memory:", model, shelf.tools, ASKS_TO_SAVE) as gate:
        run = await start(gate)
        first = await reached(run, State.WAITING_APPROVAL)
        (before,) = (await run.report()).waiting
        seen = await gate.approvals.edit(before, by=BOB, arguments='{"note": "n1", "text": "better"}')
        assert isinstance(seen, Observation)
        await reached(run, State.WAITING_APPROVAL, after=first.cursor)
        assert (await run.report()).waiting == (seen.approval_id,)
        await gate.approvals.decline(str(seen.approval_id), by=CAROL)
        assert ((await run.result()).state, shelf.saved) == (State.COMPLETE, [])


@pytest.mark.requirement("APR-6")
async def test_the_report_names_the_edited_call_before_the_run_has_come_to_it() -> None:
    async with opened(":memory:", ScriptedModel([SAVE]), Shelf().tools, ASKS_TO_SAVE) as gate:
        run = await start(gate)
        await reached(run, State.WAITING_APPROVAL)
        (asked,) = (await run.report()).waiting
        await run.wish(Wish.PAUSE)
        await reached(run, State.PAUSED)
        for by, text in ((BOB, "better"), (CAROL, "best")):
            seen = await gate.approvals.edit(asked, by=by, arguments=f'{{"note": "n1", "text": "{text}"}}')
            assert isinstance(seen, Observation)
            asked = str(seen.approval_id)
            assert (await run.report()).waiting == (asked,)
        await run.cancel()
        assert ((await run.result()).state, (await run.report()).waiting) == (State.CANCELLED, ())


@pytest.mark.requirement("APR-5", "EXEC-4")
async def test_of_two_in_one_turn_each_is_decided_for_itself_and_both_are_told_together(gate_path: str) -> None:
    shelf, model = Shelf(), ScriptedModel([[SAVE, OTHER, READ], "done"])
    async with opened(gate_path, model, shelf.tools, ASKS_TO_SAVE) as gate:
        run = await start(gate)
        first = await reached(run, State.WAITING_APPROVAL)
        one, two = (await run.report()).waiting
        assert shelf.searched == ["x"]  # its sibling needs nobody
        await gate.approvals.approve(one, by=BOB)
        await reached(run, State.WAITING_APPROVAL, after=first.cursor)
        assert ((await run.report()).waiting, shelf.saved) == ((two,), [("n1", "hello")])
        assert not model.requests[1:]
        await gate.approvals.decline(two, by=BOB)
        await run.result()
    texts = [text.split("\n")[0] for text in told(model.requests[1])[1:]]
    assert (texts, shelf.saved) == (["save: ok", "save: refused", "search: ok"], [("n1", "hello")])


@pytest.mark.requirement("APR-4", "LOOP-7")
async def test_a_grant_is_used_for_whom_the_requester_is_today(gate_path: str) -> None:
    """Policy changed between the question and its answer: the grant fits no more, and nothing runs."""
    shelf, model = Shelf(), ScriptedModel([SAVE, "done"])
    async with opened(gate_path, model, shelf.tools, ASKS_TO_SAVE) as gate:
        run = await start(gate)
        await reached(run, State.WAITING_APPROVAL)
        (waits,) = (await run.report()).waiting
        await gate.policies.save([*ONLY_READS], by=OPERATOR)
        await gate.approvals.approve(waits, by=BOB)
        assert (await run.result()).state is State.COMPLETE
    assert shelf.saved == []


@pytest.mark.requirement("APR-1", "LOOP-8")
async def test_a_run_that_waits_outlives_its_process(tmp_path_factory: pytest.TempPathFactory) -> None:
    path, shelf = str(tmp_path_factory.mktemp("gate") / "gate.db"), Shelf()
    async with opened(path, ScriptedModel([SAVE]), shelf.tools, ASKS_TO_SAVE) as gate:
        run = await start(gate, run_id="r1")
        await reached(run, State.WAITING_APPROVAL)
    model = ScriptedModel(["done"])
    async with opened(path, model, shelf.tools, None) as gate:
        run = await gate.runs.get("r1", by=ALICE)
        (waits,) = (await run.report()).waiting
        await gate.approvals.approve(waits, by=BOB)
        report = await run.result()
    assert (report.state, report.answer, shelf.saved) == (State.COMPLETE, "done", [("n1", "hello")])
    assert told(model.requests[0])[0] == "Do it."


@pytest.mark.requirement("APR-1", "LOOP-9")
async def test_waiting_is_an_event_with_the_approval_and_when_it_expires(gate_path: str) -> None:
    model = ScriptedModel([SAVE])
    async with opened(gate_path, model, Shelf().tools, ASKS_TO_SAVE) as gate:
        run: Run = await start(gate)
        await reached(run, State.WAITING_APPROVAL)
        seen = await happened(run, "observed")
        report = await run.report()
        assert (seen.data["status"], seen.data["stage"]) == ("waiting", "wait_approval")
        assert (seen.data["approval_id"],) == report.waiting
        assert seen.data["expires_at_us"]
        await run.cancel()
        await run.result()
        assert (await events(run))[-1].state is State.CANCELLED


@pytest.mark.requirement("LOOP-8", "APR-4")
async def test_a_run_that_is_paused_while_it_waits_runs_what_was_granted_once_it_is_resumed(gate_path: str) -> None:
    shelf, model = Shelf(), ScriptedModel([SAVE, "done"])
    async with opened(gate_path, model, shelf.tools, ASKS_TO_SAVE) as gate:
        run = await start(gate)
        await reached(run, State.WAITING_APPROVAL)
        (waits,) = (await run.report()).waiting
        await run.wish(Wish.PAUSE)
        await reached(run, State.PAUSED)
        await gate.approvals.approve(waits, by=BOB)
        await gate.runs.recover()
        assert ((await run.report()).state, shelf.saved) == (State.PAUSED, [])
        await run.wish(Wish.RESUME)
        assert ((await run.result()).state, len(shelf.saved)) == (State.COMPLETE, 1)
