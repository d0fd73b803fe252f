"""What is offered of too many tools: pins first, then what fits, always in the order of all of them."""

import pytest

from interlock.core.choice import LINE_CHARS_MAX, is_over, kept, one_line

pytestmark = pytest.mark.requirement("REG-10")

NAMES = ("a", "b", "c", "d", "find_tools", "hand_off")


def test_pins_go_first_and_the_best_of_the_others_follow() -> None:
    assert kept(NAMES, pinned=["d"], ranked=["c", "a", "b"], most=2) == ("c", "d", "find_tools", "hand_off")


def test_the_order_is_that_of_the_names_whatever_ranks_best() -> None:
    one = kept(NAMES, ranked=["c", "a", "b"], most=3)
    assert one == kept(NAMES, ranked=["b", "c", "a"], most=3) == ("a", "b", "c", "find_tools", "hand_off")


def test_what_fits_nothing_is_left_to_be_searched_for() -> None:
    assert kept(NAMES, ranked=["b"], most=3) == ("b", "find_tools", "hand_off")


def test_names_that_are_not_there_and_the_gates_own_take_no_room() -> None:
    assert kept(NAMES, pinned=["x", "find_tools"], ranked=["a", "b"], most=1) == ("a", "find_tools", "hand_off")


def test_there_are_too_many_only_where_the_others_can_be_searched_for() -> None:
    assert is_over(NAMES, 3)
    assert not is_over(NAMES, 4)
    assert not is_over(NAMES[:4], 1)


def test_a_description_is_told_in_one_clean_bounded_line() -> None:
    assert one_line("Sends\n a   mail. And more.") == "Sends a mail."
    assert one_line("Sends\u202e mail\x1b[31m") == "Sends mail[31m"
    long = one_line("word " * 1_000)
    assert len(long) == LINE_CHARS_MAX
    assert long.endswith("…")
