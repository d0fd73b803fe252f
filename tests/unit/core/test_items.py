"""What is known of items once those that were open were tried again: what was done stays done."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.items import Item, ItemState, failed_again, marked, open_names, rejoined

pytestmark = [pytest.mark.requirement("EXEC-9")]

DONE, OPEN, UNKNOWN = ItemState.DONE, ItemState.OPEN, ItemState.UNKNOWN
BEFORE = (Item("a", DONE, "delivered"), Item("b", OPEN, "full"), Item("c", UNKNOWN))


def test_what_a_later_try_says_holds_and_what_it_does_not_name_it_did() -> None:
    assert rejoined(BEFORE, (Item("b", DONE, "delivered late"),), still_open=["c"]) == (
        Item("a", DONE, "delivered"),
        Item("b", DONE, "delivered late"),
        Item("c", UNKNOWN),
    )
    assert open_names(rejoined(BEFORE, (), still_open=())) == ()


def test_items_that_nobody_knew_of_are_added() -> None:
    assert rejoined(marked(["b"]), (Item("d"),), still_open=["b"]) == (Item("b", OPEN), Item("d"))


def test_a_try_that_fails_as_a_whole_leaves_what_was_done() -> None:
    assert failed_again(BEFORE, says="busy", state=OPEN) == (
        BEFORE[0],
        Item("b", OPEN, "busy"),
        Item("c", OPEN, "busy"),
    )


@given(st.dictionaries(st.text(max_size=3), st.sampled_from(ItemState), max_size=6), st.sets(st.text(max_size=3)))
def test_nothing_that_was_done_is_ever_open_again_unless_the_later_try_says_so(
    states: dict[str, ItemState], left: set[str]
) -> None:
    before = tuple(Item(name, state) for name, state in states.items())
    after = rejoined(before, (), still_open=left)
    assert [each.name for each in after] == list(states)
    assert all(each.state is DONE for each in after if states[each.name] is DONE)
