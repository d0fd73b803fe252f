"""Models are found by their names, and who a run is for is asked for anew."""

import pytest

from interlock.loop.model import ModelUnknown
from interlock.loop.reach import DOOR, Models, caller_for
from interlock.testing.models import ScriptedModel
from tests.unit.loop.journal import ALICE, Journal

pytestmark = pytest.mark.requirement("LOOP-7")


async def test_a_model_is_known_by_its_name_and_closed_with_the_others() -> None:
    one, two = ScriptedModel([], name="one"), ScriptedModel([], name="two")
    models = Models([one])
    assert models.add(two) == "two"
    assert models.named("two") is two
    assert (models.is_empty, Models().is_empty) == (False, True)
    await models.close()
    assert (one.closed, two.closed) == (True, True)


def test_one_that_is_not_here_is_an_error_that_says_which_are() -> None:
    with pytest.raises(ModelUnknown, match=r"there is no model 'three' here \(there is: one, two\)"):
        Models([ScriptedModel([], name="two"), ScriptedModel([], name="one")]).named("three")


def test_a_call_is_made_for_whom_the_run_is_by_the_agent_that_is_at_it() -> None:
    caller = caller_for(Journal().view, ALICE, turn=3, model="m")
    assert (caller.principal, caller.run, caller.turn) == (ALICE, "r", 3)
    assert (caller.origin.door, caller.origin.agent, caller.origin.model) == (DOOR, "a", "m")
