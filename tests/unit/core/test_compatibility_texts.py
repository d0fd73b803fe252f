"""Texts drawn from a pattern match it, and those of a format are of it."""

import pytest

from interlock.core.compatibility_facts import matches
from interlock.core.compatibility_side import FORMATS
from interlock.core.compatibility_texts import FORMATTED, Dice, matching
from tests.unit.core.compatibility_cases import part


@pytest.mark.parametrize(
    "pattern",
    [
        "^[a-z]+$",
        "^\\d{4}-\\d{2}-\\d{2}$",
        "^(x|y)-[0-9]{1,3}$",
        "^(?:a|bc)*d?$",
        "^[^\\s/]+\\.(json|ya?ml)$",
        "^(?<year>[0-9]{4})\\/\\x41\\u00e9$",
        "^[A-Za-z_][\\w.-]*$",
        "^\\S+@\\S+$",
        ".",
        "",
    ],
)
def test_what_is_drawn_from_a_pattern_matches_it(pattern: str) -> None:
    drawn = [matching(pattern, Dice(seed)) for seed in range(20)]
    assert all(text is not None and matches(pattern, text) for text in drawn)


@pytest.mark.parametrize("pattern", ["(?=a)b", "\\p{L}", "[a", "(a", "a{x}"])
def test_a_pattern_with_words_that_are_not_known_gives_nothing(pattern: str) -> None:
    assert matching(pattern, Dice(1)) is None


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_there_are_texts_of_each_format_and_others(name: str) -> None:
    stated = part({"type": "string", "format": name})
    assert all(stated.fits(text) for text in FORMATTED[name])
    assert len(FORMATTED[name]) > 1


def test_dice_fall_the_same_each_time_and_on_every_side() -> None:
    first, second = ([dice.below(6) for _ in range(60)] for dice in (Dice(7), Dice(7)))
    assert first == second
    assert set(first) == set(range(6))
