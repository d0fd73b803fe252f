"""The canonical form: one byte form for each typed value, exact integers, orjson only where it agrees."""

import json
from enum import IntEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.arguments import careful_arguments, plain_arguments
from interlock.core.canonical import canonical, decode, flat_canonical, integral, sha256_hex

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
INTEGERS = st.integers() | st.integers(-(2**70), 2**70)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
LEAVES = st.none() | st.booleans() | INTEGERS | FLOATS | TEXTS
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=20)


def typed(value: Any) -> Any:
    """A value that compares with its types: Python says True == 1 == 1.0."""
    if isinstance(value, dict):
        return ("object", {key: typed(item) for key, item in value.items()})
    if isinstance(value, list):
        return ("list", [typed(item) for item in value])
    return (type(value), value)


@pytest.mark.requirement("CALL-3", "CALL-7")
@given(VALUES)
def test_decoding_the_canonical_bytes_gives_the_same_typed_value(value: Any) -> None:
    value = integral(value)
    assert typed(decode(canonical(value))) == typed(value)


@pytest.mark.requirement("CALL-7")
@given(VALUES)
def test_canonicalizing_twice_gives_the_same_bytes(value: Any) -> None:
    data = canonical(value)
    assert canonical(decode(data)) == data


@pytest.mark.requirement("CALL-7")
@given(VALUES, VALUES)
def test_equal_bytes_mean_equal_typed_values(left: Any, right: Any) -> None:
    left, right = integral(left), integral(right)
    assert (canonical(left) == canonical(right)) == (typed(left) == typed(right))


@pytest.mark.requirement("CALL-7")
@given(st.dictionaries(TEXTS, INTEGERS))
def test_the_fast_path_writes_what_the_exact_path_writes(value: Any) -> None:
    # A float anywhere takes the exact path.
    assert canonical([value, 0.5]) == b"[" + canonical(value) + b",0.5]"


@pytest.mark.requirement("CALL-3")
@pytest.mark.parametrize("number", [2**53 + 1, -(2**53) - 1, 2**63 - 1, 2**64 - 1, 2**64, -(2**63) - 1, 10**25 + 1])
def test_an_integer_keeps_every_digit(number: int) -> None:
    assert canonical({"id": number}) == b'{"id":%d}' % number
    assert decode(canonical({"id": number})) == {"id": number}


@pytest.mark.requirement("CALL-7")
def test_keys_are_sorted_by_utf16_unit_past_the_basic_plane() -> None:
    assert list(json.loads(canonical({"\ufb33": 1, "\U0001f600": 2}))) == ["\U0001f600", "\ufb33"]


@pytest.mark.requirement("CALL-7")
def test_true_one_and_one_as_text_have_different_bytes() -> None:
    assert len({canonical([value]) for value in (True, 1, "1", None, "true")}) == 5


@pytest.mark.requirement("CALL-7")
@pytest.mark.parametrize(
    ("before", "after"),
    [(1.0, 1), (-0.0, 0), (1e20, 10**20), (2.0**60, 2**60), (1e21, 1e21), (0.5, 0.5), (True, True), ("1.0", "1.0")],
)
def test_integral_floats_below_1e21_become_the_integers_that_they_equal(before: Any, after: Any) -> None:
    assert typed(integral([{"x": before}])) == typed([{"x": after}])


def test_making_integral_shares_what_does_not_change_and_leaves_the_input() -> None:
    value: Any = {"same": [0.5, "a"], "new": [1.0]}
    changed: Any = integral(value)
    assert changed["same"] is value["same"]
    assert typed(value["new"]) == typed([1.0])
    assert integral(value["same"]) is value["same"]


class Level(IntEnum):
    """Prints otherwise than it compares, depending on the writer."""

    HIGH = 3


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), "\ud800", {"\ud800": 1}, {1: 2}, {1}, (1,), b"a", Level.HIGH, [Level.HIGH], 1j],
)
def test_what_is_not_json_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="JSON"):
        canonical(value)


def test_a_value_nested_past_the_stack_is_refused() -> None:
    value: Any = 0.5
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ValueError, match="deeply"):
        canonical(value)


def test_the_hash_is_sha256_in_hexadecimal() -> None:
    assert sha256_hex(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@given(st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()))
def test_what_is_read_as_plain_has_its_canonical_form_by_the_short_way(members: dict[str, Any]) -> None:
    for text in (json.dumps(members), json.dumps(members, ensure_ascii=False)):
        plain = plain_arguments(text)
        if plain is not None:
            assert flat_canonical(plain) == canonical(plain)
            assert plain == careful_arguments(text)
