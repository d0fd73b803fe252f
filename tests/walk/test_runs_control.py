"""Runs as people move them: cancelled wherever they are, paused and resumed, handed over and back, out of time."""

import asyncio
from collections.abc import Mapping

import pytest

from interlock import Gate, Host, PolicySource, Principal, tool
from interlock.core.decision import Deny
from interlock.core.errors import SettingsInvalid
from interlock.loop.desk import RunUnknown
from interlock.loop.entries import Check, Wish
from interlock.loop.limits import RunLimits
from interlock.loop.machine import State
from interlock.loop.model import Reply
from interlock.testing.fakes import FakeClock, FakePrincipals
from interlock.testing.models import Call, Script, ScriptedModel
from tests.gates import AUDITOR, BOB, OPERATOR, AnyTool, Shelf, code, records
from tests.runs import ASKS_TO_SAVE, ended, events, happened, opened, reached, start, told

pytestmark = pytest.mark.requirement("LOOP-8")

SAVE: Call = ("save", {"note": "n1", "text": "hello"})
READ: Call = ("search", {"query": "x"})


class Slow(ScriptedModel):
    """A model that is asked, and does not answer before it is let; it notices when nobody waits any more."""

    def __init__(self, script: Script) -> None:
        super().__init__(script)
        self.asked, self.go, self.dropped = asyncio.Event(), asyncio.Event(), False

    async def ask(self, body: Mapping[str, object]) -> Reply:
        self.asked.set()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.dropped = True
            raise
        return await super().ask(body)


async def test_a_run_is_cancelled_while_its_model_is_asked(gate_path: str) -> None:
    model = Slow(["never"])
    async with opened(gate_path, model, Shelf().tools) as gate:
        run = await start(gate)
        await model.asked.wait()
        assert await run.cancel(reason="changed my mind") is None
        report = await run.result()
    assert (report.state, report.why) == (State.CANCELLED, "Cancelled by alice. changed my mind")
    assert (model.dropped, model.requests) == (True, ())


async def test_a_run_is_cancelled_while_a_call_runs_and_what_was_claimed_is_settled(gate_path: str) -> None:
    shelf = Shelf()
    shelf.open.clear()
    async with opened(gate_path, ScriptedModel([SAVE]), shelf.tools) as gate:
        run = await start(gate, task_id="t")
        await shelf.started.wait()
        await run.cancel()
        assert (await run.result()).state is State.CANCELLED
        shelf.open.set()
        await gate.close()
        assert not [each for each in await gate._world.recovery.open_calls() if each.state.value == "claimed"]


async def test_a_run_is_cancelled_while_it_waits_and_what_it_waited_for_cannot_run_any_more(gate_path: str) -> None:
    shelf = Shelf()
    async with opened(gate_path, ScriptedModel([SAVE]), shelf.tools, ASKS_TO_SAVE) as gate:
        run = await start(gate)
        await reached(run, State.WAITING_APPROVAL)
        (waits,) = (await run.report()).waiting
        await run.cancel()
        assert (await run.result()).state is State.CANCELLED
        await gate.approvals.approve(waits, by=BOB)
        seen = await gate.approvals.resume(waits, by=BOB)
    assert (code(seen), shelf.saved) == ("RUN_ENDED", [])


async def test_a_run_that_is_over_takes_no_more_calls_and_no_more_words(gate_path: str) -> None:
    async with opened(gate_path, ScriptedModel(["done"]), Shelf().tools) as gate:
        run = await start(gate)
        await run.result()
        for refused in (await run.cancel(), await run.say("hello"), await run.wish(Wish.PAUSE)):
            assert isinstance(refused, Deny)
            assert refused.code.value == "RUN_ENDED"
        assert (await run.report()).state is State.COMPLETE


async def test_a_paused_run_stands_still_until_it_is_resumed(gate_path: str) -> None:
    model, shelf = Slow([READ, "done"]), Shelf()
    async with opened(gate_path, model, shelf.tools) as gate:
        run = await start(gate)
        await model.asked.wait()
        await run.wish(Wish.PAUSE, text="wait a moment")
        model.go.set()
        moved = await reached(run, State.PAUSED)
        assert (moved.data["why"], shelf.searched) == ("alice: wait a moment", [])  # the turn's call waits too
        assert (await run.report()).state is State.PAUSED
        await run.wish(Wish.RESUME)
        assert (await run.result()).state is State.COMPLETE
    assert shelf.searched == ["x"]


async def test_the_last_word_holds_where_pause_and_resume_come_before_the_run_does(gate_path: str) -> None:
    model = Slow(["done"])
    async with opened(gate_path, model, Shelf().tools) as gate:
        run = await start(gate)
        await model.asked.wait()
        for what in (Wish.RESUME, Wish.PAUSE, Wish.RESUME):
            await run.wish(what)
        model.go.set()
        assert (await run.result()).state is State.COMPLETE


@pytest.mark.parametrize(
    ("first", "then", "back", "rests"),
    [
        (Wish.PAUSE, Wish.HAND_OVER, Wish.RESUME, State.PAUSED),
        (Wish.HAND_OVER, Wish.PAUSE, Wish.HAND_BACK, State.WAITING_HUMAN),
    ],
)
async def test_going_on_takes_back_what_was_wished_while_the_run_rested(
    first: Wish, then: Wish, back: Wish, rests: State, gate_path: str
) -> None:
    model = Slow([READ, "done"])
    async with opened(gate_path, model, Shelf().tools) as gate:
        run = await start(gate)
        await model.asked.wait()
        await run.wish(first)
        model.go.set()
        rested = await reached(run, rests)
        await run.wish(then)
        await run.wish(back)
        assert (await run.result(timeout_s=10)).state is State.COMPLETE
        moved = [each.state for each in await events(run, "moved") if each.cursor > rested.cursor]
    assert moved == [State.TOOLS]


async def test_of_a_pause_and_a_hand_over_the_later_one_counts(gate_path: str) -> None:
    model = Slow([READ, "done"])
    async with opened(gate_path, model, Shelf().tools) as gate:
        run = await start(gate)
        await model.asked.wait()
        await run.wish(Wish.PAUSE)
        await run.wish(Wish.HAND_OVER)
        model.go.set()
        await reached(run, State.WAITING_HUMAN)
        await run.wish(Wish.HAND_BACK)
        assert (await run.result(timeout_s=10)).state is State.COMPLETE
        assert [each.state for each in await events(run, "moved")] == [State.WAITING_HUMAN, State.TOOLS]


async def test_a_person_takes_over_says_something_and_hands_back(gate_path: str) -> None:
    model, shelf = Slow([READ, "done"]), Shelf()
    async with opened(gate_path, model, shelf.tools) as gate:
        run = await start(gate)
        await model.asked.wait()
        await run.wish(Wish.HAND_OVER, by=OPERATOR, text="let me look")
        model.go.set()
        await reached(run, State.WAITING_HUMAN)
        await run.wish(Wish.HAND_BACK, by=OPERATOR, text="Use the blue one.")
        report = await run.result()
        said = await happened(run, "said")
    assert (report.state, said.data) == (State.COMPLETE, {"text": "Use the blue one.", "by": "olga"})
    assert told(model.requests[1])[-1] == "Use the blue one."


async def test_a_message_reaches_the_model_with_its_next_request_and_once() -> None:
    model = Slow([READ, READ, "done"])
    async with opened(":memory:", model, Shelf().tools) as gate:
        run = await start(gate)
        await model.asked.wait()
        await run.say("Mind the gap.", by=BOB)
        await run.say("Mind the gap.", by=OPERATOR)
        model.go.set()
        await run.result()
    counts = [told(request).count("Mind the gap.") for request in model.requests]
    assert counts == [0, 1, 1]  # once in the history; not of Bob, whose run it is not


async def test_only_who_it_is_for_and_operators_move_a_run_and_auditors_see_it(gate_path: str) -> None:
    model = Slow(["done"])
    async with opened(gate_path, model, Shelf().tools) as gate:
        run = await start(gate)
        assert code(await run.cancel(by=BOB)) == "PRECONDITION_FAILED"
        assert code(await run.cancel(by=AUDITOR)) == "PERMISSION_DENIED"
        assert code(await gate.runs.wish(run.id, Wish.CANCEL, by=Principal("other", "alice"))) == "PRECONDITION_FAILED"
        with pytest.raises(RunUnknown):
            await gate.runs.get(run.id, by=BOB)
        assert (await gate.runs.get(run.id, by=AUDITOR)).id == run.id
        assert [each.id for each in await gate.runs.list(by=BOB)] == []
        assert await run.cancel(by=OPERATOR) is None
        assert (await run.result()).state is State.CANCELLED


@pytest.mark.parametrize("rests", ["approval", "pause"])
async def test_a_run_that_rests_ends_by_the_calendar(rests: str, gate_path: str) -> None:
    clock, model = FakeClock(), Slow([SAVE])
    async with opened(gate_path, model, Shelf().tools, ASKS_TO_SAVE, host=Host(clock=clock)) as gate:
        run = await start(gate, limits=RunLimits(expires_s=600))
        await model.asked.wait()
        if rests == "pause":
            await run.wish(Wish.PAUSE)
        model.go.set()
        await reached(run, State.PAUSED if rests == "pause" else State.WAITING_APPROVAL)
        clock.advance(601)
        report = await run.result()
    assert (report.state, report.reason, report.why) == (State.ABORTED, "expired", "Its time is over.")


@pytest.mark.parametrize("what", [Wish.PAUSE, Wish.HAND_OVER])
async def test_a_run_waits_for_people_only_for_so_long(what: Wish, gate_path: str) -> None:
    clock, model = FakeClock(), Slow([READ])
    async with opened(gate_path, model, Shelf().tools, host=Host(clock=clock)) as gate:
        run = await start(gate, limits=RunLimits(waits_s=60))
        await model.asked.wait()
        await run.wish(what)
        model.go.set()
        await reached(run, State.PAUSED if what is Wish.PAUSE else State.WAITING_HUMAN)
        clock.advance(61)
        report = await run.result()
    assert (report.state, report.reason) == (State.ABORTED, "waits_s")


async def test_a_run_whose_person_is_gone_stops(gate_path: str) -> None:
    people, model = FakePrincipals(), Slow([READ, "never"])
    async with opened(gate_path, model, Shelf().tools, host=Host(principals=people)) as gate:
        run = await start(gate)
        await model.asked.wait()
        people.today["alice"] = None
        model.go.set()
        report = await run.result()
    assert (report.state, report.reason) == (State.STOPPED, "principal")


def checking(said: object) -> AnyTool:
    @tool(effect="read", name="is_done", output_schema={})
    async def is_done(note: str) -> object:
        """Say whether it is done."""
        return said

    return is_done


@pytest.mark.parametrize(("said", "success"), [(True, True), (False, False), ({"done": False}, False), ("no", False)])
async def test_a_check_says_whether_the_task_is_done_whatever_the_model_says(said: object, success: bool) -> None:
    check = Check("is_done", '{"note": "n1"}')
    report, _ = await ended(":memory:", ["All done!"], [checking(said)], check=check)
    assert (report.state, report.answer, report.success) == (State.COMPLETE, "All done!", success)


DONE = Check("is_done", '{"note": "n1"}')


async def test_only_without_a_check_nothing_is_known_of_success() -> None:
    report, _ = await ended(":memory:", ["All done!"], [checking(True)])
    assert (report.success, report.why) == (None, "")


async def test_a_check_that_may_not_be_asked_any_more_is_no_success_and_says_why(gate_path: str) -> None:
    model = Slow(["All done!"])
    async with opened(gate_path, model, [*Shelf().tools, checking(True)]) as gate:
        run = await start(gate, check=DONE)
        await model.asked.wait()
        policy = 'permit (principal, action == Action::"search", resource);'
        await gate.policies.save([PolicySource("test", policy)], by=OPERATOR)
        model.go.set()
        report = await run.result()
    assert (report.state, report.success) == (State.COMPLETE, False)
    assert report.why.startswith("Its check is_done did not say: its call is refused (TOOL_NOT_FOUND: ")


async def test_a_check_that_fails_is_no_success_and_says_why() -> None:
    @tool(effect="read", name="is_done", output_schema={})
    async def is_done(note: str) -> object:
        """Say whether it is done."""
        raise ValueError(note)

    report, _ = await ended(":memory:", ["All done!"], [is_done], check=DONE)
    assert (report.state, report.success) == (State.COMPLETE, False)
    assert report.why == (
        "Its check is_done did not say: its call is failed (TOOL_EXCEPTION: is_done failed with ValueError)."
    )


@pytest.mark.parametrize(
    ("check", "says"),
    [
        (Check("is_dnoe"), "no tool 'is_dnoe' that this principal may see .do you mean is_done"),
        (Check("hidden"), "no tool 'hidden' that this principal may see"),
        (Check("save", '{"note": "n", "text": "t"}'), "save cannot check whether a task is done: a check only reads"),
        (Check("is_done", '{"nota": "n1"}'), "is_done cannot be asked with .*Give arguments that fit its schema"),
        (Check("is_done", "n1"), "is_done cannot be asked with n1"),
    ],
)
async def test_a_check_that_can_never_be_asked_is_refused_at_the_start(check: Check, says: str) -> None:
    @tool(effect="read")
    async def hidden() -> bool:
        """Be seen by nobody."""
        return True

    policy = 'permit (principal, action, resource); forbid (principal, action == Action::"hidden", resource);'
    async with opened(":memory:", ScriptedModel([]), [*Shelf().tools, checking(True), hidden], policy) as gate:
        with pytest.raises(SettingsInvalid, match=says):
            await start(gate, check=check)


async def test_what_people_do_to_a_run_is_on_record() -> None:
    model = Slow(["done"])
    async with opened(":memory:", model, Shelf().tools) as gate:
        run = await start(gate)
        await model.asked.wait()
        await run.say("hello", by=OPERATOR)
        model.go.set()
        await run.result()
        kinds = [each.kind for each in await events(run)]
        assert kinds == ["begun", "said", "responded", "ended"]
        assert await _recorded(gate) == ["run.started", "run.told", "run.ended"]


async def _recorded(gate: Gate) -> list[str]:
    return [each["event"] for each in await records(gate) if each["event"].startswith("run.")]
