"""Strict reading of arguments: one complete JSON object within limits, or a refusal that repeats nothing of it."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from interlock.core.arguments import DEFAULT_LIMITS, INTEGER_DIGITS_MAX, ArgumentLimits, Unparsed, parse_arguments
from interlock.core.canonical import canonical
from tests.unit.core.test_canonical import LEAVES, TEXTS, VALUES, typed

ANY_KEY = st.integers() | st.text()
SMALL = ArgumentLimits(bytes_max=40, depth_max=3)


def reason(raw: Any, limits: ArgumentLimits = DEFAULT_LIMITS) -> str:
    refused = parse_arguments(raw, limits)
    assert isinstance(refused, Unparsed)
    assert not refused.not_an_object
    return refused.reason


@pytest.mark.requirement("CALL-2")
@given(st.dictionaries(TEXTS, VALUES))
def test_text_bytes_and_mapping_are_read_to_the_same_value(value: dict[str, Any]) -> None:
    data = canonical(value)
    from_bytes = parse_arguments(data)
    assert canonical(from_bytes) == data  # type: ignore[arg-type]
    assert typed(parse_arguments(data.decode())) == typed(from_bytes)
    assert typed(parse_arguments(value)) == typed(value)


@pytest.mark.requirement("CALL-2")
@given(st.text() | st.binary())
@example("[" * 200_000)
@example('{"a":' * 200_000)
@example('{"a":' + "9" * 100_000 + "}")
@example('{"a":1e999}')
def test_no_text_raises(raw: str | bytes) -> None:
    assert isinstance(parse_arguments(raw), dict | Unparsed)


KEYS = st.sampled_from(['"a"', '"b"', '"a":1,"a"', '"a" ', '"a:"', '"\\u0061"', '"\x7f"', '"é"'])
SCALARS = [
    "1",
    "-0",
    "01",
    "1.0",
    "1e400",
    "9" * 19,
    "-" + "9" * 19,
    "9" * 30,
    "null",
    "NaN",
    '":"',
    '"x\ty"',
    '"\x01"',
]
PARTS = st.builds("{}:{}".format, KEYS, st.sampled_from([*SCALARS, "[]", "{}", '"{"', '"\\ud800"']))


@pytest.mark.requirement("CALL-2")
@given(st.builds("{{{}}}{}".format, st.lists(PARTS, max_size=3).map(",".join), st.sampled_from(["", " ", "x", ","])))
@example('{"a" :1,"a":2}')
@example('{"a":1,"a":":"}')
def test_a_text_that_is_read_the_fast_way_is_read_as_its_bytes_are(raw: str) -> None:
    fast, careful = parse_arguments(raw), parse_arguments(raw.encode())
    assert typed(fast) == typed(careful) if isinstance(fast, dict) else fast == careful


@pytest.mark.requirement("CALL-2")
@given(st.recursive(LEAVES | st.text() | st.floats() | st.binary(), lambda inner: st.dictionaries(ANY_KEY, inner)))
def test_no_value_raises(raw: Any) -> None:
    assert isinstance(parse_arguments(raw), dict | Unparsed)


@pytest.mark.requirement("CALL-2")
@pytest.mark.parametrize("raw", [None, "", b"", " ", "\n\t\r ", "null", b" null\n"])
def test_missing_blank_and_null_mean_no_arguments(raw: str | bytes | None) -> None:
    assert parse_arguments(raw) == {}


@pytest.mark.requirement("CALL-2")
@pytest.mark.parametrize("raw", ["[]", "1", '"{}"', "true", b"0.5", "[null]", [1], 5])
def test_a_root_that_is_no_object_is_told_from_invalid_json(raw: Any) -> None:
    refused = parse_arguments(raw)
    assert isinstance(refused, Unparsed)
    assert refused.not_an_object


@pytest.mark.requirement("CALL-2")
@pytest.mark.parametrize(
    ("raw", "because"),
    [
        ("{} {}", "after"),
        ("{}x", "after"),
        ('{"secret":', "complete"),
        ('{"secret":"a', "complete"),
        ('{"secret":1,}', "not valid JSON"),
        ("{'secret':1}", "not valid JSON"),
        ("\ufeff{}", "not valid JSON"),
        (b"\xef\xbb\xbf{}", "not valid JSON"),
        ('{"secret":"a\nb"}', "not valid JSON"),
        ('{"secret":01}', "not valid JSON"),
        ("\u00a0", "not valid JSON"),
        ('{"secret":NaN}', "NaN"),
        ('{"secret":-Infinity}', "Infinity"),
        ('{"secret":1e999}', "too large"),
        ('{"secret":"\\ud800"}', "surrogate"),
        ('{"\\udc00":"secret"}', "surrogate"),
        ('{"secret":"\ud800"}', "UTF-8"),
        (b'{"secret":"\xff"}', "UTF-8"),
        ('{"secret":1}'.encode("utf-16"), "UTF-8"),
        ('{"secret":1,"secret":2}', "twice"),
        ('{"a":[{"secret":1,"\\u0073ecret":1}]}', "twice"),
        ('{"secret":' + "9" * (INTEGER_DIGITS_MAX + 1) + "}", "digits"),
    ],
)
def test_text_that_is_not_one_unambiguous_value_is_refused_without_repeating_it(raw: str | bytes, because: str) -> None:
    said = reason(raw)
    assert because in said
    assert "secret" not in said


@pytest.mark.requirement("CALL-2")
@pytest.mark.parametrize(
    ("raw", "because"),
    [
        ({"a": float("nan")}, "NaN"),
        ({"a": {1: 2}}, "key"),
        ({"a": (1,)}, "type"),
        ({"a": "\ud800"}, "surrogate"),
        ({"a": 10**INTEGER_DIGITS_MAX}, "digits"),
    ],
)
def test_a_mapping_is_held_to_the_rules_of_text(raw: Mapping[str, object], because: str) -> None:
    assert because in reason(raw)


@pytest.mark.requirement("CALL-2")
@pytest.mark.parametrize("form", [lambda value: value, lambda value: canonical(value).decode(), canonical])
def test_depth_is_bounded_at_the_limit(form: Any) -> None:
    assert parse_arguments(form({"a": [{"b": "[[[["}]}), SMALL) == {"a": [{"b": "[[[["}]}
    assert "deeper than 3" in reason(form({"a": [{"b": []}]}), SMALL)


@pytest.mark.requirement("CALL-2")
@pytest.mark.parametrize("form", [lambda value: value, lambda value: canonical(value).decode(), canonical])
def test_bytes_are_bounded_at_the_limit(form: Any) -> None:
    assert isinstance(parse_arguments(form({"a": "é" * 16}), SMALL), dict)
    assert "longer than 40" in reason(form({"a": "é" * 17}), SMALL)


@pytest.mark.requirement("CALL-2")
def test_shared_and_circular_parts_of_a_mapping_are_refused_by_the_limits() -> None:
    shared: Any = ["a"]
    for _ in range(40):
        shared = [shared, shared]
    circular: dict[str, Any] = {}
    circular["a"] = circular
    assert "longer" in reason({"a": shared})
    assert "deeper" in reason(circular)


@pytest.mark.requirement("CALL-2")
def test_the_result_shares_nothing_with_a_mapping() -> None:
    raw: dict[str, Any] = {"a": [{"b": 1}]}
    value = parse_arguments(raw)
    raw["a"][0]["b"] = 2
    assert value == {"a": [{"b": 1}]}


@pytest.mark.requirement("CALL-3")
@pytest.mark.parametrize("number", [7301992846551000003, 2**63 - 1, -(2**53) - 1, 2**64 + 1, 10**40 + 1])
def test_integers_past_the_doubles_stay_exact(number: int) -> None:
    assert parse_arguments(f'{{"id": {number}}}') == {"id": number}
    assert parse_arguments({"id": number}) == {"id": number}


def test_a_surrogate_pair_and_an_escaped_backslash_are_ordinary_text() -> None:
    assert parse_arguments(r'{"a":"\ud83d\ude00","b":"\\ud800"}') == {"a": "😀", "b": r"\ud800"}


class Hostile(dict[str, object]):
    """A mapping whose own code fails, in the way that it is told to."""

    def __init__(self, fault: Exception) -> None:
        super().__init__(query="x")
        self._fault = fault

    def items(self) -> Any:
        raise self._fault


@pytest.mark.requirement("CALL-2", "CALL-8")
@pytest.mark.parametrize("fault", [RuntimeError("hush"), ValueError("hush"), StopIteration("hush"), OSError("hush")])
def test_a_mapping_whose_own_code_fails_is_refused_and_not_quoted(fault: Exception) -> None:
    assert parse_arguments(Hostile(fault)) == Unparsed("The arguments could not be read.")
    assert parse_arguments({"a": [Hostile(fault)]}) == Unparsed("The arguments could not be read.")
