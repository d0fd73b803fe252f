"""What is known of a value that fits some parts at once never says more than holds."""

from fractions import Fraction

import pytest

from interlock.core.canonical import Json
from interlock.core.compatibility_facts import ALL, Facts, matches, type_of
from tests.unit.core.compatibility_cases import NUMBER, TEXT, closed, facts, opened


def test_types_are_what_all_parts_allow() -> None:
    assert facts({}).types == ALL
    assert facts({"type": ["string", "number"]}, {"anyOf": [TEXT, NUMBER]}).types == {"string", "integer"}
    assert facts({"not": {"type": "string"}}).types == ALL - {"string"}
    assert facts({"enum": ["a", 1, 1.5]}).types == {"string", "integer", "fraction"}
    assert facts({"type": "number", "multipleOf": 2}).types == {"integer"}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "minimum": 3, "exclusiveMaximum": 4, "not": {"const": 3}},
        {"type": "string", "minLength": 3, "maxLength": 2},
        {"type": "string", "format": "uuid", "maxLength": 9},
        {"type": "array", "minItems": 2, "prefixItems": [TEXT], "items": False},
        {"type": "array", "contains": {"const": "x"}, "items": NUMBER},
        {"type": "object", "required": ["a"], "properties": {"a": False}},
        {"type": "object", "required": ["a", "b"], "maxProperties": 1},
        {"enum": ["a"], "minLength": 2},
    ],
)
def test_what_no_value_fits_is_seen(schema: dict[str, Json]) -> None:
    assert facts(schema).is_impossible


def test_few_values_are_listed() -> None:
    assert facts({"type": ["boolean", "null"]}).finite == [None, False, True]
    assert facts({"type": "integer", "minimum": 1, "maximum": 3}).finite == [1, 2, 3]
    assert facts({"enum": ["a", "bb"]}, {"maxLength": 1}).finite == ["a"]
    assert facts({"type": "integer"}).finite is None


def test_bounds_are_the_tightest() -> None:
    found = facts({"minimum": 1, "maximum": 9}, {"exclusiveMinimum": 1, "maximum": 5.5, "minLength": 2})
    assert (found.low(), found.high()) == ((Fraction(1), True), (Fraction(11, 2), False))
    assert (found.count("minLength"), found.count("maxLength")) == (2, None)


def test_members_are_what_every_part_says_of_them() -> None:
    found = facts(opened("a", a=TEXT), {"patternProperties": {"^a": {"minLength": 1}}, "additionalProperties": False})
    assert [each.words for each in found.member("a").parts] == [{"type": "string"}, {"minLength": 1}]
    assert found.member("b").is_impossible
    assert found.speaks_of("b")
    assert not facts(opened(a=TEXT)).speaks_of("b")
    assert facts(closed(a=TEXT)).is_closed


def test_what_is_demanded_by_what_is_demanded_is_demanded() -> None:
    chain: dict[str, Json] = {"required": ["a"], "dependentRequired": {"a": ["b"], "b": ["c"], "x": ["y"]}}
    assert facts(chain).required == {"a", "b", "c"}


def test_choices_are_gone_through_one_by_one() -> None:
    found = facts({"type": "string", "anyOf": [TEXT, NUMBER]}).branches()
    assert found is not None
    assert [each.types for each in found] == [{"string"}]
    assert found[0].branches() is None
    assert len(facts({"if": {"type": "string"}, "then": {"minLength": 1}}).branches() or []) == 2
    assert [each.types for each in facts({"type": ["string", "null"]}).by_type()] == [{"null"}, {"string"}]


def test_a_choice_of_one_excludes_the_others() -> None:
    found = facts({"oneOf": [{"minimum": 3}, {"type": "integer"}]}).branches()
    assert found is not None
    assert [len(each.values("not")) for each in found] == [1, 1]


def test_items_end_where_there_can_be_none() -> None:
    assert facts({"type": "array", "prefixItems": [TEXT, NUMBER], "items": False}).items_max == 2
    assert Facts([]).items_max is None


def test_values_have_types_and_texts_match() -> None:
    assert [type_of(each) for each in (None, True, 1, 1.0, 1.5, "", [], {})] == [
        "null", "boolean", "integer", "integer", "fraction", "string", "array", "object",
    ]  # fmt: skip
    assert matches("^x-", "x-a")
    assert not matches("(?=x)", "x")
