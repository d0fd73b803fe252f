"""A document is read as plain data, whatever it holds, and never twice in two ways."""

import pytest

from interlock.core.errors import SpecInvalid
from interlock.importers.openapi_text import DEPTH_MAX, check_bounds, read_document


def test_yaml_is_read_as_the_json_that_it_means() -> None:
    text = "on: yes\n200: {a: 1, b: -1.5, c: null, d: true}\nday: 2020-01-01\nodd: 0x10\nlist: [~, 'true', \"1\"]\n"
    assert read_document(text.encode()) == {
        "on": "yes",
        "200": {"a": 1, "b": -1.5, "c": None, "d": True},
        "day": "2020-01-01",
        "odd": "0x10",
        "list": [None, "true", "1"],
    }
    assert read_document(b'\xef\xbb\xbf{"a": [1, 2.5]}') == {"a": [1, 2.5]}
    assert read_document(b"{a: b}") == {"a": "b"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"a": 1, "a": 2}', "'a' stands twice"),
        ("a: 1\nb: 2\na: 3", "line 3: 'a' stands here twice"),
        ("a: &x [1]\nb: *x", "line 2: aliases are not read"),
        ("a: !!python/object:os.system x", "is not read"),
        ("a:\n  <<: {b: 1}", "merge key"),
        ("? [a]\n: 1", "a key must be text"),
        ('{"a": NaN}', "no JSON"),
        ('{"a": 1e999}', "too large a number"),
        ('{"a": ' + "9" * 500 + "}", "integer without end"),
        ('{"a": "\\ud800"}', "no JSON"),
        ("[" * 100_000, "this is no|deeper"),
        ('{"a":' * 300 + "1" + "}" * 300, "deeper"),
        ("- " * 400 + "x", "deeper"),
        ("a: 1\n---\nb: 2", "one document"),
        ("a: [1", "line"),
        ("", "one document"),
    ],
)
def test_what_could_be_read_in_two_ways_or_without_end_is_refused(text: str, says: str) -> None:
    with pytest.raises(SpecInvalid, match=says):
        read_document(text.encode())


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(SpecInvalid, match="UTF-8"):
        read_document(b"\xff\xfe")


def test_depth_is_bounded_exactly() -> None:
    value: list[object] = []
    for _ in range(DEPTH_MAX - 1):
        value = [value]
    check_bounds(value)  # type: ignore[arg-type]
    with pytest.raises(SpecInvalid, match="deeper"):
        check_bounds([value])  # type: ignore[list-item]
