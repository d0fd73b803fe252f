"""Schemas are read as people publish them: older drafts, slips, references of every kind."""

from typing import Any

import pytest

from interlock.models.dialects_source import Source, implied_type, modern, of_type, reference_of, type_of_value


def test_bounds_and_tuples_of_draft_4_are_said_in_the_words_of_today() -> None:
    assert modern({"minimum": 1, "exclusiveMinimum": True}) == ({"exclusiveMinimum": 1}, [])
    assert modern({"maximum": 1, "exclusiveMaximum": False}) == ({"maximum": 1}, [])
    old: dict[str, Any] = {"items": [{}], "additionalItems": False}
    assert modern(old) == ({"prefixItems": [{}], "items": False}, [])


@pytest.mark.parametrize(
    ("keyword", "value"),
    [
        ("type", "any"),
        ("type", []),
        ("required", True),
        ("enum", "x"),
        ("anyOf", []),
        ("properties", []),
    ],
)
def test_what_makes_no_sense_is_left_out_and_named(keyword: str, value: Any) -> None:
    assert modern({keyword: value}) == ({}, [keyword])


def test_what_constrains_nothing_is_left_out_without_a_word() -> None:
    assert modern({"$schema": "x", "$comment": "y", "x-order": 1, "example": 2, "then": {}}) == ({}, [])


def test_references_lead_to_parts_of_the_schema_and_nowhere_else() -> None:
    root: dict[str, Any] = {"$defs": {"a/b": {"$anchor": "here"}}, "anyOf": [{"type": "null"}]}
    source = Source(root)
    assert source.target("#") == root
    assert source.target("#/anyOf/0") == {"type": "null"}
    assert source.target("#/$defs/a~1b") == source.target("#here") == {"$anchor": "here"}
    for reference in ("https://a.example/", "file:///etc/passwd", "#/anyOf/9", "#/$defs/gone", "#gone", "", 5, None):
        assert source.target(reference) is None


def test_a_circle_is_known_and_what_only_leads_to_one_is_none() -> None:
    root: dict[str, Any] = {
        "$defs": {
            "loop": {"items": {"$ref": "#/$defs/other"}},
            "other": {"$ref": "#/$defs/loop"},
            "into": {"$ref": "#/$defs/loop"},
            "plain": {"type": "string"},
        }
    }
    source = Source(root)
    assert [source.is_cyclic(f"#/$defs/{name}") for name in root["$defs"]] == [True, True, False, False]


def test_a_reference_may_be_of_any_draft() -> None:
    assert reference_of({"$recursiveRef": "#"}) == reference_of({"$dynamicRef": "#"}) == reference_of({"$ref": "#"})
    assert reference_of({"$ref": 5}) is None


def test_keywords_tell_which_type_they_are_about() -> None:
    told = [implied_type({word: 1}) for word in ("required", "contains", "pattern", "multipleOf", "description")]
    assert told == ["object", "array", "string", "number", ""]


def test_every_integer_is_a_number_and_no_boolean_is_one() -> None:
    values: list[Any] = [1, 1.0, 1.5, True, None, "", [], {}]
    assert [type_of_value(value) for value in values] == [
        *["integer", "integer", "number", "boolean", "null", "string", "array", "object"]
    ]
    assert of_type(1, "number")
    assert not of_type(True, "number")
