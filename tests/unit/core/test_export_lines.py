"""Every line of an export has one spelling; nothing else is read, and nothing raises."""

import re

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.chain import Veiled
from interlock.core.export_lines import LINE_BYTES_MAX, Header, Line, Trailer, read, spell
from tests.audit_samples import KEY, build_log, export

SHOWN, *_, CHECKPOINT = build_log()
LINES: list[Line] = [
    Header("acme", (KEY,), 3),
    SHOWN,
    Veiled("w\n\u2028", 2**62, "a" * 64, bytes(32)),
    CHECKPOINT,
    Trailer(1, 2, 3),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.sampled_from(["", "00"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)


@pytest.mark.parametrize("line", LINES)
def test_a_line_is_read_back_as_it_was_written_and_is_one_line(line: Line) -> None:
    data = spell(line)
    assert read(data) == line
    assert data.count(b"\n") == 1
    assert data.endswith(b"\n")


@pytest.mark.parametrize("line", LINES)
def test_the_same_content_in_another_spelling_is_not_read(line: Line) -> None:
    data = spell(line)
    value = orjson.loads(data)
    assert read(data[:-1]) is None
    assert read(b" " + data) is None
    assert read(orjson.dumps(value, option=orjson.OPT_INDENT_2) + b"\n") is None
    assert read(data.replace(b"{", b'{"more":1,', 1)) is None
    assert read(data.replace(b"{", b'{"trailer":1,', 1)) is None


def test_base64_with_idle_bits_set_is_not_read() -> None:
    data = spell(SHOWN)
    payload = orjson.loads(data)["record"]["payloads"]["arguments"]["payload"].encode()
    assert payload.endswith(b"==")
    idle = payload[:-3] + bytes([payload[-3] + 1]) + b"=="
    assert read(data.replace(payload, idle)) is None


@given(st.sampled_from(LINES), st.data(), JSON)
def test_a_field_of_another_kind_is_not_read(line: Line, data: st.DataObject, other: object) -> None:
    value = orjson.loads(spell(line))
    ((_, fields),) = value.items()
    name = data.draw(st.sampled_from(sorted(fields)))
    same = orjson.dumps(fields[name]) == orjson.dumps(other) or type(fields[name]) is type(other)
    fields[name] = other
    found = read(orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE))
    assert found is None or same


@pytest.mark.parametrize("line", LINES)
def test_true_is_not_read_as_a_number(line: Line) -> None:
    data = spell(line)
    numbers = list(re.finditer(rb"(?<=[^\\]\"[:,])\d+", data))
    assert numbers
    for number in numbers:
        assert read(data[: number.start()] + b"true" + data[number.end() :]) is None


def test_an_export_cannot_begin_before_the_first_checkpoint() -> None:
    assert read(spell(Header("acme", (KEY,), -1))) is None


@given(st.binary(max_size=60) | JSON.map(lambda value: orjson.dumps(value, default=str) + b"\n"))
def test_garbage_is_not_read_and_raises_nothing(data: bytes) -> None:
    assert read(data) is None


@pytest.mark.parametrize("data", [b"[" * 100_000, b'{"header":' * 5000, b"9" * 5000, b'{"trailer":"\\ud800"}\n'])
def test_hostile_json_is_not_read_and_raises_nothing(data: bytes) -> None:
    assert read(data) is None


def test_a_line_over_the_limit_is_not_parsed() -> None:
    assert read(spell(Header("t" * LINE_BYTES_MAX, (), 0))) is None


def test_a_record_shown_by_hash_alone_carries_four_fields() -> None:
    veiled = [orjson.loads(line)["record"] for line in export(build_log()) if b"body_hash" in line]
    assert veiled
    assert all(set(fields) == {"chain", "sequence", "hash", "body_hash"} for fields in veiled)
