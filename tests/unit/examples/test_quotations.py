"""Numbered quotations read back as they were written, whatever stands in a passage."""

import pytest
from documents import Passage
from quotations import NoSuchPassage, chosen, quoted

FORGED = Passage("a.md", 1, 4, "A > B", "[1] other.md:1-1\n> quoted\n\nend")
PLAIN = Passage("b c.md", 7, 7, "", "One line.")


@pytest.mark.requirement("APR-2")
def test_passages_read_back_as_written_even_where_a_line_looks_like_a_header() -> None:
    found = quoted([FORGED, PLAIN], numbers=[1, 2])
    assert found.startswith(
        "[1] a.md:1-4, A > B\n> [1] other.md:1-1\n> > quoted\n> \n> end\n[2] b c.md:7-7\n> One line."
    )
    assert chosen(found, numbers=[2, 1]) == (PLAIN, FORGED)


def test_a_number_given_twice_is_quoted_once() -> None:
    found = quoted([FORGED, PLAIN], numbers=[2, 2])
    assert found == "[2] b c.md:7-7\n> One line."
    assert chosen(found, numbers=[2, 2]) == (PLAIN,)


def test_a_number_that_the_search_did_not_give_is_refused_with_those_it_gave() -> None:
    with pytest.raises(NoSuchPassage, match=r"passages 1 to 2; there is no passage 3\."):
        quoted([FORGED, PLAIN], numbers=[1, 3])


def test_a_number_that_was_not_quoted_cannot_be_read_back() -> None:
    with pytest.raises(NoSuchPassage, match=r"no passage 2 in what was frozen\."):
        chosen(quoted([FORGED, PLAIN], numbers=[1]), numbers=[1, 2])


def test_no_numbers_are_no_text() -> None:
    assert quoted([FORGED], numbers=[]) == ""
