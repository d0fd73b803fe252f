"""What a model gets wrong goes back to it so many times; then the run ends, and says why."""

import pytest

from interlock import tool
from interlock.core.errors import ToolFault
from interlock.core.tool import ErrorContract
from interlock.loop.limits import RunLimits
from interlock.loop.machine import State
from interlock.testing.models import Call, Said, ScriptedModel
from tests.gates import Shelf
from tests.runs import ended, events, opened, start, told

UNFIT: Call = ("search", {"quarry": "x"})
FITS: Call = ("search", {"query": "x"})


@pytest.mark.requirement("LOOP-5")
@pytest.mark.parametrize("bad", [UNFIT, ("search", "{broken"), ("serach", {"query": "x"})])
async def test_what_the_model_can_mend_goes_back_three_times_and_the_fourth_ends_the_run(bad: Call) -> None:
    report, model = await ended(":memory:", [bad] * 4, Shelf().tools, limits=RunLimits(repeats=0))
    assert (report.state, report.reason, report.spent.rounds) == (State.FAILED, "fixable", 4)
    assert report.why == f"Calls of {bad[0]} were refused 4 times in a row."
    assert len([text for text in told(model.requests[-1]) if "Next: " in text]) == 3


@pytest.mark.requirement("LOOP-5")
async def test_a_success_in_between_starts_the_count_anew(gate_path: str) -> None:
    script: list[Said] = [*[UNFIT] * 3, FITS, *[UNFIT] * 3, "done"]
    report, _ = await ended(gate_path, script, Shelf().tools, limits=RunLimits(repeats=0))
    assert (report.state, report.spent.rounds) == (State.COMPLETE, 8)


@pytest.mark.requirement("LOOP-5")
async def test_a_success_of_another_tool_does_not() -> None:
    script: list[Said] = [[UNFIT, ("save", {"note": str(number), "text": "t"})] for number in range(4)]
    report, _ = await ended(":memory:", script, Shelf().tools, limits=RunLimits(repeats=0))
    assert (report.state, report.reason) == (State.FAILED, "fixable")


@pytest.mark.requirement("LOOP-5", "LOOP-6")
async def test_calls_of_one_turn_count_once_since_the_model_was_not_told_of_the_first() -> None:
    report, model = await ended(":memory:", [[UNFIT] * 5, "sorry"], Shelf().tools)
    assert (report.state, report.answer) == (State.COMPLETE, "sorry")
    assert len([text for text in told(model.requests[1]) if "TOOL_ARGUMENT_INVALID" in text]) == 5


@pytest.mark.requirement("LOOP-5")
async def test_zero_means_that_nothing_goes_back() -> None:
    report, _ = await ended(":memory:", [UNFIT], Shelf().tools, limits=RunLimits(fixable=0))
    assert (report.state, report.reason, report.spent.rounds) == (State.FAILED, "fixable", 1)


@pytest.mark.requirement("LOOP-6")
async def test_one_and_the_same_call_that_fails_again_and_again_ends_the_run(gate_path: str) -> None:
    tries: list[int] = []

    @tool(effect="read", errors=[ErrorContract("GONE", nothing_happened=True)])
    async def fetch(page: int) -> str:
        """Fetch a page."""
        tries.append(page)
        raise ToolFault("GONE", "It is gone.")

    same, other = ("fetch", {"page": 1}), ("fetch", {"page": 2})
    report, _ = await ended(gate_path, [same, other, same, other, same, "never asked"], [fetch])
    assert (report.state, report.reason, tries) == (State.ABORTED, "repeats", [1, 2, 1, 2, 1])
    assert report.why == "One and the same call failed 3 times."


@pytest.mark.requirement("LOOP-6")
async def test_what_policy_refuses_again_and_again_ends_the_run_too() -> None:
    policy = """permit (principal, action, resource) unless { context.args has query && context.args.query == "x" };"""
    report, model = await ended(":memory:", [FITS] * 3, Shelf().tools, policy)
    assert (report.state, report.reason, len(model.requests)) == (State.ABORTED, "repeats", 3)


@pytest.mark.requirement("LOOP-6", "CALL-4")
async def test_names_that_no_tool_has_end_the_run_whatever_they_are(gate_path: str) -> None:
    script: list[Said] = [(f"invented_{number}", {}) for number in range(6)]
    report, model = await ended(gate_path, script, Shelf().tools)
    assert (report.state, report.reason, report.spent.rounds) == (State.ABORTED, "invented", 6)
    assert report.why == "6 names were called that no tool has."
    assert "TOOL_NOT_FOUND" in told(model.requests[1])[1]


@pytest.mark.requirement("LOOP-6", "CALL-4")
async def test_a_tool_that_the_caller_may_not_see_is_told_and_counted_like_an_invented_name() -> None:
    reads = 'permit (principal, action in Action::"read", resource);'
    texts = []
    for name in ("save", "nothing"):
        report, model = await ended(":memory:", [(name, {"note": "n", "text": "t"}), "done"], Shelf().tools, reads)
        assert report.state is State.COMPLETE
        texts.append(told(model.requests[1])[1].replace(name, "X"))
    assert texts[0] == texts[1]


@pytest.mark.requirement("LOOP-6")
async def test_what_passes_by_itself_does_not_count_as_failing() -> None:
    """Both depend on the first, which fails: that says nothing of them."""

    @tool(effect="read", errors=[ErrorContract("GONE", nothing_happened=True)])
    async def first(number: int) -> str:
        """Go first."""
        raise ToolFault("GONE", "It is gone.")

    @tool(effect="read", depends_on=["first"])
    async def then() -> str:
        """Go on."""
        return "done"

    script: list[Said] = [[("first", {"number": number}), ("then", {})] for number in range(4)]
    report, _ = await ended(":memory:", [*script, "done"], [first, then])
    assert report.state is State.COMPLETE


@pytest.mark.requirement("LOOP-5")
async def test_the_end_of_such_a_run_is_an_event_with_the_reason(gate_path: str) -> None:
    model = ScriptedModel([UNFIT] * 4)
    async with opened(gate_path, model, Shelf().tools) as gate:
        run = await start(gate, limits=RunLimits(repeats=0))
        await run.result()
        last = (await events(run))[-1]
    assert (last.kind, last.state, last.data["reason"]) == ("ended", State.FAILED, "fixable")


@pytest.mark.requirement("LOOP-5")
async def test_calls_whose_outcome_nobody_knows_are_named_in_the_report(gate_path: str) -> None:
    @tool(effect="write")
    async def send(to: str) -> str:
        """Send it."""
        raise ValueError("the line went dead")

    model = ScriptedModel([FITS, [("send", {"to": "x"}), FITS], "done"])
    async with opened(gate_path, model, [*Shelf().tools, send]) as gate:
        run = await start(gate, task_id="t")
        report = await run.result()
    assert (report.state, report.unknown) == (State.COMPLETE, (f"{run.id}.2.0",))
