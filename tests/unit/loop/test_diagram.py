"""The drawings show every step of the tables, and what is not drawn stands in the table beside."""

import pytest

from interlock.loop.diagram import EVERYWHERE, call_diagram, ends_table, run_diagram
from interlock.loop.machine import CALL, RUN

pytestmark = pytest.mark.requirement("LOOP-1")


def test_each_step_of_a_run_is_an_arrow_or_in_the_table_of_ends() -> None:
    drawing = run_diagram().splitlines()
    for state, steps in RUN.items():
        for cause, to in steps.items():
            assert (f"    {state.name} --> {to.name}: {cause.value}" in drawing) is (cause not in EVERYWHERE)
    assert drawing[:2] == ["stateDiagram-v2", "    [*] --> START"]
    assert [line for line in drawing if line.endswith("--> [*]")] == [
        f"    {state.name} --> [*]" for state in RUN if state.is_over
    ]


def test_each_step_of_a_call_is_an_arrow() -> None:
    drawing = call_diagram().splitlines()
    steps = [(stage, cause, to) for stage, each in CALL.items() for cause, to in each.items()]
    assert len(drawing) == 2 + len(steps) + 2
    for stage, cause, to in steps:
        assert f"    {stage.name} --> {to.name}: {cause.value}" in drawing


def test_the_ends_that_come_from_everywhere_are_told_with_where_they_lead() -> None:
    assert ends_table().splitlines()[2:] == [
        "| stopped | STOPPED | every state that is not over |",
        "| gave_up | FAILED | every state that is not over |",
        "| cancelled | CANCELLED | every state that is not over |",
        "| over_limit | ABORTED | every state that is not over |",
    ]
