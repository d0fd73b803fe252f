"""Values of exactly the type that policies were validated against, or none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.canonical import Json
from interlock.core.policy_values import (
    BOOLEAN,
    DECIMAL,
    LONG,
    STRING,
    STRINGS,
    CedarType,
    Field,
    Record,
    SetOf,
    Unfit,
    convert,
    convert_fields,
    instant,
    prune,
    record,
    type_schema,
)


@pytest.mark.requirement("POL-1")
@pytest.mark.parametrize(
    ("value", "type_"),
    [
        (True, LONG),
        (1, BOOLEAN),
        ("1", LONG),
        (1, STRING),
        (None, STRING),
        (1.5, LONG),
        (2**63, LONG),
        (float(2**53), LONG),
        (True, DECIMAL),
        ("1", DECIMAL),
        (0.00001, DECIMAL),
        (1e15, DECIMAL),
        (1e300, DECIMAL),
        ("a", STRINGS),
        ([1], STRINGS),
        ({"a": 1}, STRING),
        ([], record(a=LONG)),
        ({"a": "x"}, record(a=LONG)),
        ({"__entity": {"type": "User", "id": "root"}}, STRING),
        ({"__extn": {"fn": "decimal", "arg": "1.0"}}, DECIMAL),
    ],
)
def test_a_value_of_another_type_is_unfit(value: Json, type_: CedarType) -> None:
    assert isinstance(convert(value, to=type_, at="context.args.x"), Unfit)


@pytest.mark.parametrize(
    ("value", "text"),
    [(1, "1.0000"), (1.0, "1.0000"), (-0.5, "-0.5000"), (2.25, "2.2500"), (1e-4, "0.0001"), (-0.0, "0.0000")],
)
def test_a_number_becomes_a_decimal_of_four_places(value: float, text: str) -> None:
    assert convert(value, to=DECIMAL, at="x") == {"__extn": {"fn": "decimal", "arg": text}}


def test_a_whole_float_is_the_integer_that_json_schema_takes_it_for() -> None:
    found = convert(3.0, to=LONG, at="x")
    assert (found, type(found)) == (3, int)


def test_only_named_fields_of_an_object_are_seen_and_null_is_absence() -> None:
    type_ = Record((Field("a", LONG), Field("b", STRING, required=False)))
    value: dict[str, Json] = {"a": 1, "b": None, "__entity": {"type": "User", "id": "x"}}
    assert convert_fields(value, to=type_, at="x") == {"a": 1}
    assert convert_fields({"a": None}, to=type_, at="x") == Unfit("x.a is missing")


def test_pruning_keeps_what_is_read() -> None:
    whole = record(a=LONG, b=record(c=LONG, d=STRING), e=STRINGS)
    assert prune(whole, paths=frozenset({("b", "d"), ("e",)})) == record(b=record(d=STRING), e=STRINGS)
    assert prune(whole, paths=frozenset({()})) == whole
    assert prune(whole, paths=frozenset({("b",), ("b", "c")})) == record(b=whole.fields[1].type)
    assert prune(whole, paths=frozenset()) == Record()


def test_types_are_written_in_the_schema_format_of_cedar() -> None:
    assert type_schema(Record((Field("x", SetOf(DECIMAL), required=False),))) == {
        "type": "Record",
        "attributes": {"x": {"type": "Set", "element": {"type": "Extension", "name": "decimal"}, "required": False}},
    }


@pytest.mark.parametrize("now_us", [-(2**62), 2**62, -62_135_596_800_000_001, 253_402_300_800_000_000])
def test_an_instant_that_no_calendar_holds_is_unfit(now_us: int) -> None:
    assert isinstance(instant(now_us), Unfit)


def test_an_instant_has_milliseconds() -> None:
    assert instant(-62_135_596_800_000_000) == {"__extn": {"fn": "datetime", "arg": "0001-01-01T00:00:00.000Z"}}
    assert instant(1_700_000_000_123_456) == {"__extn": {"fn": "datetime", "arg": "2023-11-14T22:13:20.123Z"}}


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=6,
    )
)
def test_every_value_is_converted_or_unfit_for_every_type(value: Json) -> None:
    for type_ in (STRING, LONG, BOOLEAN, DECIMAL, STRINGS, SetOf(LONG), record(a=LONG)):
        convert(value, to=type_, at="x")
