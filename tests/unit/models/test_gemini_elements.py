"""A JSON array that arrives in any pieces is cut into its elements, and only a whole one says that it is whole."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.models.gemini_elements import ElementCutter

TEXTS = st.text(alphabet='a"\\[]{},:é\n', max_size=12)
ELEMENTS = st.lists(st.dictionaries(TEXTS, TEXTS | st.lists(TEXTS, max_size=2), max_size=3), max_size=4)


@given(ELEMENTS, st.integers(1, 9), st.sampled_from([None, 2]))
def test_the_size_of_the_pieces_changes_nothing(elements: list[object], size: int, indent: int | None) -> None:
    sent = json.dumps(elements, indent=indent, ensure_ascii=False).encode()
    cutter = ElementCutter()
    pieces = [sent[at : at + size] for at in range(0, len(sent), size)]
    assert [json.loads(element) for piece in pieces for element in cutter.feed(piece)] == elements
    assert cutter.closed


@given(ELEMENTS, st.data())
def test_an_array_that_was_cut_is_not_whole(elements: list[object], data: st.DataObject) -> None:
    sent = json.dumps(elements).encode()
    cutter = ElementCutter()
    list(cutter.feed(sent[: data.draw(st.integers(1, len(sent) - 1))]))
    assert not cutter.whole


def test_objects_without_an_array_around_them_are_cut_too() -> None:
    cutter = ElementCutter()
    assert list(cutter.feed(b'{"a": "}"}\n{"b": [1]}')) == [b'{"a": "}"}', b'{"b": [1]}']
    assert cutter.whole
    assert list(cutter.feed(b'\n{"c"')) == []
    assert not cutter.whole


@pytest.mark.parametrize("sent", [b"[{} x {}]", b'[{} , "a" {}]', b"[{},,{}]", b"[1, {}]"])
def test_anything_else_between_the_elements_is_a_fault(sent: bytes) -> None:
    with pytest.raises(ValueError, match="more than JSON objects"):
        list(ElementCutter().feed(sent))


def test_what_follows_the_array_is_not_read() -> None:
    cutter = ElementCutter()
    assert list(cutter.feed(b'[{"a": 1}] {"b": 2}')) == [b'{"a": 1}']
    assert list(cutter.feed(b'[{"c": 3}]')) == []
