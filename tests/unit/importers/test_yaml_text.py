"""YAML is read as plain data, or refused with the line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.errors import SpecInvalid
from interlock.importers.yaml_text import BYTES_MAX, read_yaml


def test_plain_data_is_read() -> None:
    assert read_yaml("a: [1, 2.5, true, null, text]\nb: {c: 'd'}") == {
        "a": [1, 2.5, True, None, "text"],
        "b": {"c": "d"},
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: 1\na: 2", "line 2: 'a' stands here twice"),
        ("a: &x [1]\nb: *x", "line 2: aliases"),
        ("a: !!python/object/apply:os.system [ls]", "line 1: could not determine a constructor"),
        ("a: [1", "line 1"),
        ("on: 1", "line 1: a key must be text"),
        ("1: a", "line 1: a key must be text"),
        ("<<: {a: 1}", "line 1: a key must be text"),
        ("[a, b]: c", "line 1: a key must be text"),
        ("a: 1\n---\nb: 2", "line 2"),
        ("a: \x00", "not YAML"),
        ("[" * 3_000, "not YAML: RecursionError"),
        ("x" * (BYTES_MAX + 1), "larger"),
    ],
)
def test_what_a_reader_would_not_expect_is_refused(text: str, says: str) -> None:
    with pytest.raises(SpecInvalid, match=says):
        read_yaml(text)


@given(st.text(alphabet="ab:-[]{}&*!#|>\n \"'0%@,?<", max_size=60))
def test_no_text_raises_anything_else(text: str) -> None:
    try:
        read_yaml(text)
    except SpecInvalid:
        return
