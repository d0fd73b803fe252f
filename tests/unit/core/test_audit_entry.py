"""An entry has one spelling, and whatever else is found in its place is not read as one."""

from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.audit_entry import AuditEntry, decode_entry, encode_entry

ENTRY = AuditEntry("w1", 7, 1_764_460_800_123_456, "t", "call.settled", "ab" * 16, (("call", "c"),), (("result", "r"),))
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
PAIRS = st.dictionaries(TEXT, TEXT, max_size=3).map(lambda pairs: tuple(sorted(pairs.items(), key=_by_bytes)))


def _by_bytes(pair: tuple[str, str]) -> bytes:
    return pair[0].encode()


@given(TEXT, st.integers(0, 2**63), TEXT, PAIRS, PAIRS)
def test_an_entry_is_read_back_as_it_was_written(
    text: str, number: int, tenant: str, ids: tuple[tuple[str, str], ...], commitments: tuple[tuple[str, str], ...]
) -> None:
    entry = AuditEntry(text, number, number, tenant, text, "ab" * 16, ids, commitments)
    assert decode_entry(encode_entry(entry)) == entry


def test_the_time_is_kept_in_whole_microseconds() -> None:
    assert b'"time_us":1764460800123456' in encode_entry(ENTRY)


@pytest.mark.requirement("AUD-4")
def test_an_entry_without_enough_randomness_to_hide_it_is_not_written() -> None:
    with pytest.raises(ValueError, match="16 random bytes"):
        encode_entry(replace(ENTRY, nonce="ab" * 15))


@given(st.binary() | st.integers(0, len(encode_entry(ENTRY))).map(lambda cut: encode_entry(ENTRY)[:cut] + b" "))
def test_other_bytes_are_not_an_entry_and_raise_nothing(body: bytes) -> None:
    assert decode_entry(body) is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("sequence", True),
        ("time_us", 1.5),
        ("tenant", None),
        ("ids", {"call": 1}),
        ("commitments", []),
        ("more", "than known"),
    ],
)
def test_a_field_of_another_type_or_name_makes_it_no_entry(field: str, value: object) -> None:
    fields = {**orjson.loads(encode_entry(ENTRY)), field: value}
    assert decode_entry(orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)) is None


def test_a_field_given_twice_makes_it_no_entry() -> None:
    assert decode_entry(encode_entry(ENTRY).replace(b'{"chain"', b'{"chain":"other","chain"')) is None
