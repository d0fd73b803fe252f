"""Next steps: one for every code, for a person and not for a model."""

import pytest

from interlock.core.refusals import REFUSALS, Code
from interlock.doors.cli.steps import step_for


@pytest.mark.requirement("DOOR-6")
@pytest.mark.parametrize("code", list(Code))
def test_every_code_has_a_step_for_a_person(code: Code) -> None:
    step = step_for(code, tool="save_note", approval="a1")
    assert step.endswith(".")
    assert "{" not in step.replace('{"id": "a1"}', "")
    assert step != REFUSALS[code].next_step
    assert "the user" not in step


def test_a_step_names_the_tool_and_the_approval_and_says_so_where_it_knows_none() -> None:
    assert step_for(Code.TOOL_FROZEN, tool="a b").startswith(
        "`interlock tools release 'a b' --reason WHY` opens it again"
    )
    assert "approve a1 --as ID" in step_for(Code.APPROVAL_REQUIRED, approval="a1")
    assert "release NAME" in step_for(Code.TOOL_FROZEN)


def test_a_frozen_tool_leads_to_the_stops_that_may_close_it_and_a_drifted_one_to_its_snapshot() -> None:
    assert "`interlock tools stops`" in step_for(Code.TOOL_FROZEN)
    assert "renew its snapshot" in step_for(Code.TOOL_QUARANTINED)
