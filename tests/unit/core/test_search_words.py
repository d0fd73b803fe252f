"""Any script falls into words, of names and sentences alike, and no text can make that slow or fail."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.search_words import SAME_MAX, TEXT_CHARS_MAX, name_words, words

pytestmark = pytest.mark.requirement("REG-10")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Send an invoice to a customer", ("send", "invoice", "customer")),
        ("GitHub issues", ("github", "git", "hub", "issues")),
        ("Café CRÈME", ("cafe", "creme")),
        ("查询天气", ("查", "询", "查询", "天", "询天", "气", "天气")),
        ("天気を調べる", ("天", "気", "天気", "を", "気を", "調", "を調", "べ", "調べ", "る", "べる")),
        ("날씨 API", ("날", "씨", "날씨", "api")),
        ("الطقس في دبي", ("الطقس", "في", "دبي")),
        ("😀🎉", ()),
        ('"NEAR(a* b)" OR x:y ^', ("near", "b", "x", "y")),
        ("a\0b", ("b",)),
        ("", ()),
        ("who is it", ("who", "is", "it")),
    ],
)
def test_a_text_falls_into_the_words_that_tell_something(text: str, found: tuple[str, ...]) -> None:
    assert words(text) == found


def test_two_characters_that_stand_together_are_found_wherever_they_stand() -> None:
    assert {"天气"} <= {*words("天气")} & {*words("今天天气怎么样")}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("send_invoice", ("send", "invoice")),
        ("mail.sendNow", ("mail", "sendnow", "send", "now")),
        ("HTTPServer-2", ("httpserver", "http", "server", "2")),
        ("who", ("who",)),
        ("发票.查询", ("发", "票", "发票", "查", "询", "查询")),
    ],
)
def test_a_name_falls_apart_at_case_and_at_what_is_no_letter(name: str, found: tuple[str, ...]) -> None:
    assert name_words(name) == found


def test_a_word_that_is_repeated_counts_as_often_as_twice() -> None:
    assert words("invoice " * 500) == ("invoice",) * SAME_MAX


def test_a_very_long_text_costs_no_more_than_its_beginning() -> None:
    began_s = process_time()
    found = words("查询 weather " * 1_000_000)
    assert len(found) <= TEXT_CHARS_MAX
    assert process_time() - began_s < 1.0


@given(st.text())
def test_every_text_gives_words_that_are_letters_and_digits(text: str) -> None:
    for each in (*words(text), *name_words(text)):
        assert each
        assert "_" not in each
        assert not any(part.isspace() or part == "\0" for part in each)
