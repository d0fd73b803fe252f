"""Kept results in parts and pages: nothing lost, no character cut, nothing beyond the end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core import artifact as module
from interlock.core.artifact import JSON, Artifact, Match, fits, matches, page, part_of, parts_between, parts_of
from interlock.core.labels import NO_LABELS


def kept(data: bytes) -> Artifact:
    return Artifact("acme", "h", "op", "search", "alice", JSON, len(data), NO_LABELS, 0, b"")


def read(data: bytes, offset: int, length: int) -> module.Page:
    """What a desk does: only the parts that hold the page are joined."""
    parts = dict(parts_of(data))
    wanted = parts_between(offset, min(len(data), offset + length + 3))
    return page(kept(data), b"".join(parts[number] for number in wanted), offset=offset, length=length)


@pytest.mark.requirement("OBS-4")
@given(st.text(alphabet="aé漢😀", min_size=1, max_size=400), st.integers(4, 50), st.integers(1, 40))
def test_pages_one_after_the_other_are_the_whole(text: str, length: int, part_bytes: int) -> None:
    data, told, offset = text.encode(), "", 0
    before, module.PART_BYTES = module.PART_BYTES, part_bytes
    try:
        while True:
            found = read(data, offset, length)
            told += found.text
            assert len(found.text.encode()) <= length
            if found.next_offset is None:
                break
            assert found.next_offset > offset
            offset = found.next_offset
    finally:
        module.PART_BYTES = before
    assert told == text


@pytest.mark.requirement("OBS-4")
def test_a_page_that_begins_inside_a_character_begins_with_the_next() -> None:
    assert read("漢字".encode(), 1, 10).text == "字"
    assert read(b"abc", 3, 10).text == ""


@pytest.mark.requirement("OBS-4")
def test_all_places_of_a_text_are_found_up_to_so_many() -> None:
    data = b"x" * 500 + b"needle" + b"y" * 500 + b"needle"
    assert [each.offset for each in matches(data, "needle", most=9)] == [500, 1006]
    assert matches(data, "needle", most=1) == (Match(500, "x" * 160 + "needle" + "y" * 160),)
    assert matches(data, "", most=9) == ()
    assert [each.offset for each in matches(b"abc" * 100, "abc", most=9)] == [0, 165]


@pytest.mark.requirement("OBS-4")
@pytest.mark.parametrize(
    ("pointer", "told"),
    [
        ("", {"members": {"a/b": [10, 11, 12]}, "start": 0, "of": 2}),
        ("/a~1b", {"items": [10], "start": 0, "of": 3}),
        ("/a~1b/2", {"value": 12}),
        ("/c~0/x", {"value": "y"}),
    ],
)
def test_a_pointer_leads_to_a_place_in_the_json(pointer: str, told: object) -> None:
    assert part_of({"a/b": [10, 11, 12], "c~": {"x": "y"}}, pointer, start=0, count=1) == told


@pytest.mark.parametrize("pointer", ["/z", "/a/3", "/a/-1", "/a/x", "/a/0/0", "/a/²"])
def test_a_pointer_to_nothing_is_a_lookup_error(pointer: str) -> None:
    with pytest.raises(LookupError):
        part_of({"a": [1]}, pointer, start=0, count=1)


def test_what_is_too_much_at_once_does_not_fit() -> None:
    assert fits("x" * 100)
    assert not fits("x" * module.PAGE_BYTES_MAX)
