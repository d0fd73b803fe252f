"""A field that a policy names is masked wherever it stands, and nothing else is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.canonical import Json, canonical, decode
from interlock.core.redaction import Redactor
from interlock.core.redaction_marks import MASK
from interlock.core.redaction_names import DEPTH_MAX, mask_named, name_needles

SSN = frozenset({"ssn"})
WORDS = st.sampled_from(["ssn", "name", "id"])
VALUES = st.recursive(
    st.integers(0, 9) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3) | inner.map(json.dumps),
    max_leaves=12,
)


@pytest.mark.requirement("POL-6")
@pytest.mark.parametrize("held", ["123", 123, None, {"a": 1}, ["x"]])
def test_a_named_field_is_masked_at_any_depth_whatever_it_holds(held: Json) -> None:
    value: Json = {"ssn": held, "rows": [{"n": 1, "ssn": held}, [{"in": {"ssn": held}}]], "ssns": held}
    assert mask_named(value, SSN) == {
        "ssn": MASK,
        "rows": [{"n": 1, "ssn": MASK}, [{"in": {"ssn": MASK}}]],
        "ssns": held,
    }


@pytest.mark.requirement("POL-6")
def test_a_named_field_is_masked_in_a_text_that_is_json() -> None:
    told = json.dumps({"row": json.dumps({"ssn": "123", "n": 1})})
    assert mask_named({"text": told}, SSN) == {"text": '{"row":"{\\"ssn\\":\\"[redacted]\\",\\"n\\":1}"}'}
    assert mask_named(['{"\\u0073sn":"123"}'], SSN) == ['{"ssn":"[redacted]"}']


@pytest.mark.requirement("POL-6")
@pytest.mark.parametrize("cut", ['[{"ssn":"123"},{"n":', '{"n":1,"ssn":"12', '"{\\"ssn\\":\\"12'])
def test_the_head_of_json_that_was_cut_is_masked_whole_where_it_names_the_field(cut: str) -> None:
    assert mask_named({"truncated": True, "head": cut}, SSN) == {"truncated": True, "head": MASK}
    assert mask_named({"head": cut.replace("ssn", "sum")}, SSN) == {"head": cut.replace("ssn", "sum")}


def test_a_value_without_the_field_is_the_same_object() -> None:
    value: Json = {"a": [{"q": "an ssn"}, '{"q":1}'], "c": {"ssn": MASK}}
    assert mask_named(value, SSN) is value


def test_what_lies_too_deep_is_masked_whole() -> None:
    value: Json = "123"
    for _ in range(DEPTH_MAX + 1):
        value = [value]
    assert "123" not in str(mask_named(value, SSN))


@pytest.mark.requirement("POL-6")
@given(VALUES)
def test_no_value_of_a_named_field_is_left_in_the_bytes(value: Json) -> None:
    redacted = Redactor().json_bytes(canonical(value), named=SSN)
    assert redacted == canonical(mask_named(value, SSN))
    assert json.dumps(decode(redacted)).count("ssn") == json.dumps(decode(redacted)).count(MASK)


def test_needles_are_in_the_bytes_of_every_value_that_has_the_field() -> None:
    assert name_needles(frozenset({"ssn", "straße"})) == (b"ssn", "straße".encode())
    assert name_needles(frozenset({'a"b'})) == (b"",)


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ('{"n":1,"ssn":"7"}\n{"n":2}\n', '{"n":1,"ssn":"[redacted]"}\n{"n":2}\n'),
        ('{"n":1,"ssn":"7"}\n{"n":2,"ssn":"8', '{"n":1,"ssn":"[redacted]"}\n[redacted]'),
        ('rows\n{"ssn":"7"}\n[1, "ssn"\nthe ssn\n', 'rows\n{"ssn":"[redacted]"}\n[redacted]\nthe ssn\n'),
        ('[\n1, {"ssn":\n"7"},\n2', MASK),
        ('{\n  "ssn": "7",\n  "n": 1', MASK),
    ],
)
def test_a_named_field_is_masked_in_each_line_that_is_json(told: str, shown: str) -> None:
    assert mask_named({"text": told}, SSN) == {"text": shown}
