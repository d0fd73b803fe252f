"""Tool names are spelled in the letters a provider allows, and read back without guessing."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.models.names import spell

ALLOWED = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def test_a_name_that_fits_is_sent_as_it_is() -> None:
    assert spell(["save_draft", "a-b"]).to_wire == {"save_draft": "save_draft", "a-b": "a-b"}


def test_a_name_with_foreign_characters_stays_readable() -> None:
    assert spell(["files.read"]).to_wire["files.read"].startswith("files_read_")


def test_names_that_differ_only_in_foreign_characters_or_far_at_the_end_stay_apart() -> None:
    names = ["a.b", "a/b", "a_b", "x" * 65, "x" * 66]
    spelling = spell(names)
    assert len(set(spelling.to_wire.values())) == len(names)


def test_a_name_that_was_not_offered_is_not_guessed() -> None:
    spelling = spell(["search", "files.read"])
    for wire_name in ("Search", "search ", "files.read", "files_read", ""):
        assert spelling.original(wire_name) is None


def test_two_names_with_one_spelling_are_a_fault() -> None:
    taken = spell(["a.b"]).to_wire["a.b"]
    with pytest.raises(ValueError, match="one spelling"):
        spell(["a.b", taken])


@given(st.sets(st.text(max_size=80), max_size=5))
def test_every_spelling_is_allowed_and_leads_back(names: set[str]) -> None:
    spelling = spell(names)
    for name in names:
        assert ALLOWED.fullmatch(spelling.to_wire[name])
        assert spelling.original(spelling.to_wire[name]) == name
