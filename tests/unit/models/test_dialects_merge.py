"""Two schemas that must both hold become one that accepts at least what both accept."""

from typing import Any

import pytest

from interlock.models.dialects_merge import merged


def both(one: dict[str, Any], other: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    noted: list[str] = []
    return merged(one, other, noted=noted.append), noted


@pytest.mark.parametrize(
    ("one", "other", "result"),
    [
        ({"minimum": 1, "maximum": 9}, {"minimum": 3, "maximum": 5}, {"minimum": 3, "maximum": 5}),
        ({"type": ["string", "null"]}, {"type": "string"}, {"type": "string"}),
        ({"type": "number"}, {"type": ["integer", "null"]}, {"type": "integer"}),
        ({"type": "string"}, {"type": "integer"}, {"type": []}),
        ({"required": ["a"]}, {"required": ["b", "a"]}, {"required": ["a", "b"]}),
        ({"enum": [1, 2]}, {"enum": [2, 3]}, {"enum": [2]}),
        ({"allOf": [1]}, {"allOf": [2]}, {"allOf": [1, 2]}),
        (
            {"properties": {"a": {"type": "string"}}},
            {"properties": {"a": {"maxLength": 2}, "b": {}}},
            {"properties": {"a": {"allOf": [{"type": "string"}, {"maxLength": 2}]}, "b": {}}},
        ),
        ({"description": "one"}, {"description": "other"}, {"description": "one"}),
        ({"items": {"type": "null"}}, {"items": {}}, {"items": {"allOf": [{"type": "null"}, {}]}}),
    ],
)
def test_what_both_say_is_said_in_one(one: dict[str, Any], other: dict[str, Any], result: dict[str, Any]) -> None:
    assert both(one, other) == (result, [])


@pytest.mark.parametrize(
    ("one", "other", "keyword"),
    [
        ({"pattern": "a"}, {"pattern": "b"}, "pattern"),
        ({"additionalProperties": False}, {"additionalProperties": {}}, "additionalProperties"),
        ({"additionalProperties": False}, {"properties": {"b": {}}}, "additionalProperties"),
        ({"anyOf": [{}]}, {"anyOf": [{"type": "null"}]}, "anyOf"),
    ],
)
def test_what_one_schema_cannot_say_is_noted(one: dict[str, Any], other: dict[str, Any], keyword: str) -> None:
    result, noted = both(one, other)
    assert noted == [keyword]
    assert result[keyword] == one[keyword]
