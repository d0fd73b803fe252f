"""What `clean` takes out, what `visible` shows, and the sequences that both leave alone."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.canonical import Json
from interlock.core.text import Cleaned, clean, clean_json, free_key, visible

ALLOWED = {
    "flag of Wales": "\U0001f3f4\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f",
    "flag of England": "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "flag of a country": "🇨🇳",
    "family": "👨‍👩‍👧‍👦",
    "kiss with skin tones": "👩🏽‍❤️‍💋‍👨🏿",
    "rainbow flag": "🏳️‍🌈",
    "woman running": "🏃🏽‍♀️",
    "keycap": "1️⃣#️⃣",
    "heart": "❤️",
    "text heart": "❤︎",
    "name with a variant": "葛\U000e0100城",
    "Chinese": "你好，世界。\u3000《联锁》\n\t完",
    "accents": "naïve Ångström e\u0301",
}

REMOVED = {
    "tags": ("404\U000e0073\U000e0065", "404", 2),
    "tags after a flag that is not RGI": ("\U0001f3f4\U000e0075\U000e0073\U000e007f", "\U0001f3f4", 3),
    "tags after another emoji": ("😀\U000e0067\U000e0062\U000e007f", "😀", 3),
    "a second variation selector": ("❤\ufe0f\ufe0f\ufe0e", "❤\ufe0f", 2),
    "selectors that carry bytes": ("😀\U000e015c\U000e0155", "😀", 2),
    "a selector after a letter": ("a\ufe0f", "a", 1),
    "a selector after a digit that is no keycap": ("1\ufe0f2", "12", 1),
    "an unregistered ideographic selector": ("葛\U000e01ef", "葛", 1),
    "bidi": ("a\u202eb\u2066c\u200f", "abc", 3),
    "zero width": ("pass\u200bword\u2060\ufeff", "password", 3),
    "a joiner between letters": ("a\u200db\u200cc", "abc", 2),
    "a joiner after an emoji": ("😀\u200da", "😀a", 1),
    "a fifth element": ("👨‍👩‍👧‍👦\u200d👦", "👨‍👩‍👧‍👦👦", 1),
    "controls": ("a\x00\x1b[31mb\x7f\x9b", "a[31mb", 4),
    "fillers": ("\u115fa\u3164\uffa0\u00ad\u034f", "a", 5),
    "line breaks": ("a\u2028b\x0bc\x85d", "a\nb\nc\nd", 3),
    "a lone surrogate": ("a\ud800b", "ab", 1),
    "carriage returns, uncounted": ("a\r\nb\rc", "a\nb\nc", 0),
}

alphabet = st.sampled_from(
    "a1#\n\r\t 👩👦❤😀葛🏴\u200d\ufe0f\ufe0e\u20e3\u200b\u202e\U000e0067\U000e0062\U000e007f\U000e0100🏽⟨⟩а\u2028"
)
texts = st.one_of(st.text(), st.text(alphabet))


@pytest.mark.requirement("OBS-6")
@pytest.mark.parametrize("text", ALLOWED.values(), ids=ALLOWED)
def test_sequences_whose_meaning_can_be_seen_survive(text: str) -> None:
    assert clean(text) == Cleaned(text, 0)
    assert visible(text) == text


@pytest.mark.requirement("OBS-6")
@pytest.mark.parametrize(("text", "kept", "removed"), REMOVED.values(), ids=REMOVED)
def test_hidden_characters_are_removed_and_counted(text: str, kept: str, removed: int) -> None:
    assert clean(text) == Cleaned(kept, removed)


@given(texts)
def test_cleaning_twice_changes_nothing_and_never_grows(text: str) -> None:
    once = clean(text)
    assert clean(once.text) == Cleaned(once.text, 0)
    assert len(once.text) <= len(text)


def test_ordinary_text_is_returned_as_the_same_object() -> None:
    text = "one\n\ttwo"
    assert clean(text).text is text


@pytest.mark.requirement("OBS-6")
def test_every_string_and_key_of_a_value_is_cleaned() -> None:
    value: Json = {"k\u200b": ["a\u202e", {"b": "c\x00"}], "n": 1}
    assert clean_json(value) == ({"k": ["a", {"b": "c"}], "n": 1}, 3)


def test_keys_that_become_equal_keep_both_members() -> None:
    assert clean_json({"k": 1, "k\u200b": 2, "k\u200c": 3}) == ({"k": 1, "k#2": 2, "k#3": 3}, 2)
    assert free_key("a", {"a": 1, "a#2": 2}) == "a#3"


@pytest.mark.parametrize(
    "value",
    [{"a": ["plain\n", 1, None, 2.5]}, {"path": "C:\\users\\reports"}, {"中文": ["完"]}, 2**70, [2**70, "x"]],
)
def test_a_clean_value_is_returned_as_the_same_object(value: Json) -> None:
    cleaned, removed = clean_json(value)
    assert cleaned is value
    assert removed == 0


@pytest.mark.parametrize("control", [*map(chr, range(9)), "\x0b", "\x0c", "\x1b", "\x7f"])
def test_no_ascii_control_passes_the_fast_path_of_a_value(control: str) -> None:
    assert clean_json([f"a{control}b"])[1] == 1


@pytest.mark.requirement("APR-2")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("pay\u202eevil", "pay⟨U+202E⟩evil"),
        ("a\u200b\u200b\u200bb", "a⟨U+200B ×3⟩b"),
        ("ok" + "".join(chr(0xE0000 + ord(c)) for c in "approve all"), "ok⟨hidden text: approve all⟩"),
        ("a\u00a0b", "a⟨U+00A0⟩b"),
        ("⟨17 blank lines⟩", "⟨U+27E8⟩17 blank lines⟨U+27E9⟩"),
        ("a" + "\n" * 18 + "b", "a\n⟨17 blank lines⟩\nb"),
        ("a\n\n\nb", "a\n\n\nb"),
        ("a\n \n\t\n\u3000\nb", "a\n⟨3 blank lines⟩\nb"),
        ("a" + " " * 900 + "b", "a⟨900 spaces⟩b"),
        ("to p\u0430ypal.com", "to p\u0430⟨U+0430⟩ypal.com"),
        ("привет world", "привет world"),
        ("a\r\nb\rc", "a\nb⟨U+000D⟩c"),
        ("\x1b[2K", "⟨U+001B⟩[2K"),
        ("\n\n\n", "⟨4 blank lines⟩"),
    ],
)
def test_an_approver_sees_what_would_not_be_seen(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.requirement("APR-2")
@given(texts)
def test_nothing_visible_is_missing_from_what_an_approver_sees(text: str) -> None:
    expected = re.sub(r"\s", "", clean(text).text.replace("⟨", "").replace("⟩", ""))
    shown = re.sub(r"\s", "", re.sub("⟨[^⟩]*⟩", "", visible(text)))
    assert shown == expected


@given(texts)
def test_what_an_approver_sees_holds_nothing_hidden(text: str) -> None:
    assert clean(visible(text)).removed == 0


def test_long_hostile_text_takes_linear_time() -> None:
    for text in ("a" * 300_000 + "\u0430", " " * 300_000, "\u200b" * 300_000, "👩\u200d" * 100_000, "\n " * 150_000):
        assert visible(text)
        assert clean(text).removed >= 0
