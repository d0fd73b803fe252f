"""Documents of the library are told apart by their names."""

import pytest

from interlock.core.example_names import can_be_kept, case_name, example_name, is_case, tool_of, words_of


def test_stores_that_were_written_already_keep_their_names() -> None:
    assert example_name("notes.read", "no title") == "notes.read\x1fno title"
    assert case_name("notes.read", "c0ffee") == "notes.read\x1f\x1fc0ffee"


def test_words_are_told_from_examples_and_both_say_their_tool() -> None:
    example, case = example_name("read", "one"), case_name("read", "c0ffee")
    assert (is_case(example), is_case(case)) == (False, True)
    assert tool_of(example) == tool_of(case) == "read"
    assert words_of(case) == "read: c0ffee"


@pytest.mark.parametrize(("tool", "name"), [("read\x1f", "one"), ("read", "\x1fone")])
def test_a_name_that_would_be_taken_for_another_cannot_be_kept(tool: str, name: str) -> None:
    assert can_be_kept("read", "one")
    assert not can_be_kept(tool, name)
