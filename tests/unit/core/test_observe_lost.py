"""What goes back for calls that did not end by themselves says what is known of them, and who says so."""

import pytest

from interlock.core.items import Item, ItemState
from interlock.core.observation import Observation, Status, to_bytes
from interlock.core.observe_lost import closed_by, in_part_before, lost
from interlock.core.refusals import REFUSALS, Code
from tests.unit.core.call_cases import NOW_US

DONE, OPEN = Item("a@b.c"), Item("d@e.f", ItemState.OPEN)


def orphan() -> Observation:
    return lost(call_id="c1", tool="save_draft", version="1", operation_id="op1", at_us=NOW_US)


@pytest.mark.requirement("OBS-7", "CALL-8")
def test_of_a_call_whose_worker_died_it_is_not_known_whether_it_happened() -> None:
    found = orphan()
    assert (found.status, found.status.is_terminal) == (Status.UNKNOWN, False)
    assert (found.call_id, found.operation_id, found.executed_at_us) == ("c1", "op1", NOW_US)
    assert found.user_text == REFUSALS[Code.OUTCOME_UNKNOWN].user


def test_what_was_done_of_it_before_stays_done_and_the_rest_is_unknown() -> None:
    before = Observation("c1", "save_draft", "1", Status.PARTIAL, items=(DONE, OPEN))
    found = in_part_before(orphan(), to_bytes(before))
    assert [(each.name, each.state) for each in found.items] == [("a@b.c", "done"), ("d@e.f", "unknown")]


@pytest.mark.requirement("OBS-7")
@pytest.mark.parametrize(("happened", "status"), [(True, Status.OK), (False, Status.FAILED)])
def test_an_unknown_call_that_a_person_closed_says_who_and_what(happened: bool, status: Status) -> None:
    closed = closed_by("carol", orphan(), happened=happened)
    assert (closed.status, closed.status.is_terminal, closed.operation_id) == (status, True, "op1")
    assert (closed.executed_at_us is None, closed.error is None) == (not happened, happened)
    assert "carol" in (closed.error.message if closed.error else closed.user_text)
    assert closed.hint == ("" if happened else "Propose it again if it is still wanted.")


def test_one_done_in_part_of_which_the_rest_did_not_happen_is_open_again_there() -> None:
    before = Observation("c1", "save_draft", "1", Status.PARTIAL, items=(DONE, OPEN))
    closed = closed_by("carol", in_part_before(orphan(), to_bytes(before)), happened=False)
    assert (closed.status, closed.error, closed.open_items) == (Status.PARTIAL, None, ("d@e.f",))
    assert "carol" in closed.user_text
