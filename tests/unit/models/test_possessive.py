"""Patterns match the same with plain quantifiers, which stand in for possessive ones where Python has those wrong."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.models import gemini_elements, joining
from interlock.models.possessive import plain, possessive

PIECES = st.lists(
    st.sampled_from(["a", '"', "\\", "n", "u00e9", "ud83d", "\x01", "{", "\n", '{"d":{"t":"', '"},"n":1}\n'])
)


def matched(pattern: str, text: str) -> str | None:
    found = re.compile(pattern, re.DOTALL).match(text)
    return found and found.group()


def test_a_plain_pattern_has_no_possessive_quantifier() -> None:
    assert plain(r"(?:[^a]*+b){2,}+c+\.*") == r"(?:[^a]*b){2,}c+\.*"


def test_this_python_matches_what_was_made_for_it_rightly() -> None:
    # What CPython 3.11.0 to 3.11.4 make of possessive groups whose inside gives back.
    assert matched(possessive("(?:a?b|a)*+"), "abaaab") == "abaaab"
    assert matched(possessive("(?:ab?c){1,}+"), "acaca") == "acac"


@pytest.mark.parametrize("pattern", [joining._TEXT, gemini_elements._TEXT.pattern.decode()])
@given(pieces=PIECES)
def test_a_text_ends_where_it_does_either_way(pattern: str, pieces: list[str]) -> None:
    text = "".join(pieces)
    assert matched(plain(pattern), text) == matched(pattern, text)


@given(pieces=PIECES)
def test_a_run_of_events_ends_where_it_does_either_way(pieces: list[str]) -> None:
    event = '{"d":{"t":"a"},"n":1}\n'
    joints = joining.Joints((joining.Joint(("d", "t")),), unread=(("n",),))
    learned = joining._pattern(event, joints=joints)
    assert learned is not None
    text = event + "".join(pieces)
    assert matched(plain(learned.run.pattern), text) == matched(learned.run.pattern, text)


def test_a_run_that_ends_with_no_event_of_its_pattern_is_none() -> None:
    nothing = joining._Pattern(re.compile("x+"), re.compile("(?P<piece>y)"), "x", "")
    assert joining._as_one(nothing, "xxx", at=0, end=3) is None
