"""Words for keywords: types as JSON Schema means them, paths as pointers."""

from typing import Any

import pytest

from interlock.core.schema_words import below, cut, expected, expected_type, is_of_type, kind_inside


@pytest.mark.parametrize(
    ("value", "name", "answer"),
    [
        (1, "number", True),
        (1.0, "integer", True),
        (1.5, "integer", False),
        (True, "integer", False),
        (None, "null", True),
    ],
)
def test_types_are_those_of_json_schema(value: Any, name: str, answer: bool) -> None:
    assert is_of_type(value, name) is answer


@pytest.mark.parametrize(
    ("value", "inside"), [("[1]", "array"), (' {"a":1}', "object"), ("[1", ""), ("1", ""), ([1], ""), ("[" * 5000, "")]
)
def test_only_a_whole_list_or_object_counts_as_json_in_a_string(value: Any, inside: str) -> None:
    assert kind_inside(value) == inside


def test_expectations_are_bounded() -> None:
    assert len(expected({"enum": ["x" * 1000]}, "enum")) == 200
    assert cut("short") == "short"
    assert expected_type(["array", "null"]) == "an array or null"


def test_a_path_is_a_json_pointer() -> None:
    assert below("/a", "b/c~d") == "/a/b~1c~0d"


@pytest.mark.parametrize(
    ("alternatives", "words"),
    [
        ([{"required": ["a"]}, {"required": ["b", "c"]}], "an object with at least one of these: a; b and c"),
        ([{"required": ["a"]}, {"type": "object"}], "a value that fits at least one of the alternatives"),
        ([{"required": []}], "a value that fits at least one of the alternatives"),
        ([True], "a value that fits at least one of the alternatives"),
    ],
)
def test_alternatives_that_demand_properties_are_told_by_their_names(alternatives: Any, words: str) -> None:
    assert expected({"anyOf": alternatives}, "anyOf") == words
    assert expected({"oneOf": [{"required": ["a"]}]}, "oneOf") == "an object with exactly one of these: a"
