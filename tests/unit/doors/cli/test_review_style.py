"""The style of a review's page cannot end its element, and loads nothing."""

import re

from interlock.doors.cli.review_style import STYLE


def test_the_style_ends_no_element_and_loads_nothing() -> None:
    assert not re.search(r"<|url\(|@import|expression", STYLE)


def test_the_page_is_light_and_dark_with_the_same_colours_named() -> None:
    light, dark = (set(re.findall(r"(--[a-z]+):", part)) for part in re.findall(r":root\{(.*?)\}", STYLE, re.DOTALL))
    assert light == dark
