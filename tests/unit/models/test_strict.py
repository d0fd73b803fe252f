"""What a provider sent is read strictly, and nothing is taken out of it that has the wrong type."""

import json

import pytest

from interlock.models.strict import (
    DEPTH_MAX,
    count,
    error_of,
    error_sentence,
    free_id,
    is_object,
    mappings,
    raw_text,
    strict_json,
    text,
    unreadable,
)


@pytest.mark.requirement("LOOP-3")
@pytest.mark.parametrize("source", ["", '{"a": 1, "a": 2}', '{"a": NaN}', "-Infinity", '{"a": ', "{} {}"])
def test_what_is_not_one_plain_json_value_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        strict_json(source)


@pytest.mark.requirement("LOOP-3")
def test_what_was_read_can_be_written_again_from_any_depth() -> None:
    assert strict_json("[" * DEPTH_MAX + "]" * DEPTH_MAX)
    assert strict_json("[" + "[]," * 1000 + "{}]")
    for source in ("[" * (DEPTH_MAX + 1) + "]" * (DEPTH_MAX + 1), '{"a":' * 988 + "1" + "}" * 988, "[" * 100_000):
        with pytest.raises(RecursionError):
            strict_json(source)


def test_a_value_of_the_wrong_type_counts_as_none() -> None:
    assert (text(None), text(1), text("a")) == ("", "", "a")
    assert (count(True), count(-1), count("3"), count(3)) == (None, None, None, 3)
    assert mappings([{"a": 1}, None, "b"]) == [{"a": 1}]
    assert mappings({"a": 1}) == []


def test_arguments_that_came_as_a_value_are_written_down_as_text() -> None:
    assert (raw_text(None), raw_text("x"), raw_text({"a": 1})) == ("", "x", '{"a": 1}')


@pytest.mark.parametrize(
    ("source", "answer"), [("{}", True), ("[]", False), ('{"a": NaN}', False), ("", False), ("[" * 100_000, False)]
)
def test_only_a_whole_object_goes_back_in_a_history(source: str, answer: bool) -> None:
    assert is_object(source) is answer


def test_an_error_is_told_in_the_providers_words_and_kept_as_it_came() -> None:
    assert error_sentence({"error": {"message": "No.", "code": 1}}) == "No."
    assert error_sentence({"detail": "Not here."}) == "Not here."
    assert error_sentence({}) == "The provider reported an error without a message."
    assert json.loads(error_of({"error": {"code": 1}})) == {"code": 1}
    assert json.loads(error_of({"message": "No."})) == {"message": "No."}
    assert unreadable(200) == "The response is no JSON."


def test_a_made_up_label_is_one_that_nobody_has() -> None:
    assert free_id(0, {"call_0", "call_0_"}) == "call_0__"
