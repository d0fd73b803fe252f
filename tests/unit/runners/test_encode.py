"""Whatever a handler gives back becomes JSON bytes or a reason, and never an exception."""

import json
import math
from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePosixPath
from types import MappingProxyType
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.runners import encode as encoding
from interlock.runners.encode import Unencodable, encode


class Color(Enum):
    RED = "red"


@dataclass(frozen=True)
class Point:
    x: float
    label: str | None = None


Pair = namedtuple("Pair", "left right")


class Model:
    def model_dump(self, mode: str) -> dict[str, object]:
        return {"mode": mode, "none": None}


@pytest.mark.requirement("CALL-3", "EXEC-5")
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        ({"a": [1, 2.5, True, None, "ü"]}, '{"a":[1,2.5,true,null,"ü"]}'),
        (Point(1.5), '{"x":1.5,"label":null}'),
        ([Point(1.5, "a"), Color.RED], '[{"x":1.5,"label":"a"},"red"]'),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), '"2026-01-02T03:04:05+00:00"'),
        ([date(2026, 1, 2), time(3, 4), timedelta(seconds=90), None], '["2026-01-02","03:04:00",90.0,null]'),
        (Decimal("1.10"), '"1.10"'),
        (UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
        ({"b", "a"}, '["a","b"]'),
        (frozenset({3, 1, 2}), "[1,2,3]"),
        (b"\x00\xff", '"AP8="'),
        (PurePosixPath("a/b"), '"a/b"'),
        (Pair(1, None), '{"left":1,"right":null}'),
        ((1, 2), "[1,2]"),
        (OrderedDict(a=1), '{"a":1}'),
        (MappingProxyType({"a": None}), '{"a":null}'),
        (Model(), '{"mode":"json","none":null}'),
        ({"n": 2**64, "m": -(10**40)}, '{"n":18446744073709551616,"m":-10000000000000000000000000000000000000000}'),
        ({1: "a", UUID(int=1): Color.RED}, '{"1":"a","00000000-0000-0000-0000-000000000001":"red"}'),
        (["null", None], '["null",null]'),
    ],
)
def test_values_of_everyday_types_are_encoded(value: object, text: str) -> None:
    assert encode(value) == text.encode()


def cyclic() -> list[object]:
    inside: list[object] = []
    inside.append({"again": inside})
    return inside


class Hostile:
    def model_dump(self, mode: str) -> object:
        raise SyntaxError(mode)


@pytest.mark.requirement("EXEC-5")
@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (math.nan, "NaN"),
        ({"a": [None, math.inf]}, "NaN"),
        (Point(math.nan), "NaN"),
        (Decimal("NaN"), "NaN"),
        (cyclic(), "contains itself"),
        (object(), "object"),
        ({"a": lambda: 1}, "function"),
        (iter([1]), "list_iterator"),
        ({None: 1}, "NoneType"),
        ({1: "a", "1": "b"}, "same"),
        ("\ud800", "surrogate"),
        ({"\ud800": 2**70}, "surrogate"),
        (Hostile(), "SyntaxError"),
        (Point, "type"),
    ],
)
def test_what_cannot_be_encoded_is_a_reason_that_says_nothing_of_the_value(value: object, reason: str) -> None:
    found = encode(value)
    assert isinstance(found, Unencodable)
    assert reason in found.reason


def test_a_result_over_the_hard_cap_is_withheld(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "BYTES_MAX", 10)
    assert encode("x" * 8) == b'"xxxxxxxx"'
    assert isinstance(encode("x" * 9), Unencodable)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON)
def test_json_values_come_back_as_they_were(value: object) -> None:
    data = encode(value)
    assert isinstance(data, bytes)
    assert json.loads(data) == value
