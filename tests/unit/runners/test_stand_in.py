"""What stands in for the world while an example runs: its answers in order, and never the real code of an effect."""

from dataclasses import replace
from typing import Any

import pytest

from interlock.core.example import Answer, ExampleKind, ExampleWorld, Expected, ToolExample
from interlock.core.observation import Status
from interlock.core.outcome import Failed, Partial, Succeeded
from interlock.core.redaction import Redactor
from interlock.core.refusals import Code
from interlock.core.tool import Document, ErrorContract
from interlock.declare import tool
from interlock.ports import Invocation
from interlock.runners.python import PythonRunner
from interlock.runners.stand_in import StandIn
from interlock.testing.fakes import FakeClock
from tests.execution import invocation_of


@tool(effect="write", owner="notes", errors=[ErrorContract("GONE", nothing_happened=True)])
async def save(n: int = 1) -> int:
    """Save a number."""
    raise AssertionError("the real tool must never run")


def example(*answers: Answer, **world: Any) -> ToolExample:
    expected = Expected(status=Status.OK)
    made = ExampleWorld(answers=answers, **world)
    return ToolExample(name="n", tool="save", kind=ExampleKind.TYPICAL, expected=expected, world=made)


def stand_in(told: ToolExample, **fixtures: Any) -> StandIn:
    return StandIn(told, FakeClock(), fixtures=fixtures, real=PythonRunner(redactor=Redactor()))


def asked() -> Invocation:
    return invocation_of(save, {"n": 1})


async def test_answers_come_in_order_and_the_last_one_again_and_again() -> None:
    runner = stand_in(example(Answer(gives=Document.of(1)), Answer(gives=Document.of(2))))
    seen = [(await runner.run(asked())).outcome for _ in range(3)]
    assert [each.data for each in seen if isinstance(each, Succeeded)] == [b"1", b"2", b"2"]
    assert runner.played.effects == 3


async def test_an_error_that_proves_that_nothing_happened_is_no_effect() -> None:
    runner = stand_in(example(Answer(fails="GONE")))
    found = (await runner.run(asked())).outcome
    assert isinstance(found, Failed)
    assert (found.code, found.tool_code, runner.played.effects) == (Code.TOOL_ERROR, "GONE", 0)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Answer(fails="TOOL_UNAVAILABLE"), Code.TOOL_UNAVAILABLE),
        (Answer(fails="UNDECLARED"), Code.TOOL_EXCEPTION),
        (Answer(hangs=True), Code.TOOL_TIMEOUT),
        (Answer(takes_ms=10_000_000), Code.TOOL_TIMEOUT),
        (Answer(lost=True), Code.TOOL_UNAVAILABLE),
    ],
)
async def test_what_goes_wrong_goes_wrong_as_it_would_really(answer: Answer, code: Code) -> None:
    runner = stand_in(example(answer))
    found = (await runner.run(asked())).outcome
    assert isinstance(found, Failed)
    assert (found.code, runner.played.effects) == (code, 1)


async def test_what_is_done_in_part_names_what_is_open() -> None:
    found = (await stand_in(example(Answer(open_items=("b",)))).run(asked())).outcome
    assert isinstance(found, Partial)
    assert found.open_items == ("b",)


async def test_a_tool_of_which_nothing_is_said_cannot_be_reached_and_is_remembered() -> None:
    runner = stand_in(example())
    found = (await runner.run(asked())).outcome
    assert isinstance(found, Failed)
    assert (found.code, found.nothing_happened, runner.played.unsaid) == (Code.TOOL_UNAVAILABLE, True, ["save"])


@pytest.mark.requirement("REG-8")
async def test_the_code_of_an_effect_is_never_bound() -> None:
    for runner in (stand_in(example()), stand_in(example(real=True))):
        runner.bind(save.spec(), code=save.code)
        found = (await runner.run(asked())).outcome
        assert isinstance(found, Failed)
        assert (found.nothing_happened, runner.played.unsaid) == (True, ["save"])


async def test_a_fixture_that_raises_is_the_tools_failure() -> None:
    def broken(n: int) -> int:
        raise ValueError(n)

    found = (await stand_in(example(), save=broken).run(asked())).outcome
    assert isinstance(found, Failed)
    assert found.code is Code.TOOL_EXCEPTION

    async def fine(n: int) -> int:
        return n + 1

    assert isinstance((await stand_in(example(), save=fine).run(asked())).outcome, Succeeded)


async def test_a_look_up_finds_what_the_example_says() -> None:
    found = await stand_in(example(found=Document.of("n1"))).reconcile(asked())
    assert isinstance(found, Succeeded)
    nothing = await stand_in(example()).reconcile(asked())
    assert isinstance(nothing, Failed)
    assert nothing.nothing_happened
    assert await stand_in(example(cannot_tell=True)).reconcile(asked()) is None
    other = replace(example(found=Document.of("n1")), tool="other")
    assert await stand_in(other).reconcile(asked()) is None


async def test_a_precondition_refuses_in_the_examples_words() -> None:
    found = await stand_in(example(refuses="It is locked.")).precondition(asked())
    assert found is not None
    assert (found.code, found.message) == (Code.PRECONDITION_FAILED, "It is locked.")
    assert await stand_in(example()).precondition(asked()) is None
