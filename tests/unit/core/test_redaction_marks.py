"""Which places a schema marks, and that a marked place is masked whatever it holds."""

import pytest

from interlock.core.canonical import Json
from interlock.core.redaction_marks import MASK, marked_pointers, marks_tree, mask_marked, needles

SECRET: Json = {"type": "string", "sensitive": True}


@pytest.mark.requirement("OBS-5")
@pytest.mark.parametrize(
    ("schema", "pointers"),
    [
        ({"properties": {"a": {"sensitive": True}, "b": {}}}, {"/a"}),
        ({"properties": {"a": {"x-sensitivity": "secret"}, "b": {"writeOnly": True}}}, {"/a", "/b"}),
        ({"properties": {"a": {"format": "password"}, "b": {"format": "date"}}}, {"/a"}),
        ({"properties": {"a": {"sensitive": False}, "b": {"x-sensitivity": "public"}}}, set()),
        ({"properties": {"l": {"items": {"properties": {"p": SECRET}}}}}, {"/l/*/p"}),
        ({"prefixItems": [{}, SECRET], "items": False}, {"/1"}),
        ({"additionalProperties": {"properties": {"p": SECRET}}}, {"/*/p"}),
        ({"patternProperties": {"^x": SECRET}}, {"/*"}),
        ({"anyOf": [{"properties": {"a": SECRET}}, {"type": "null"}]}, {"/a"}),
        ({"if": {}, "then": {"properties": {"a": SECRET}}}, {"/a"}),
        ({"properties": {"a/b~c": SECRET}}, {"/a~1b~0c"}),
        ({"properties": {"a": {"$ref": "#/$defs/s"}}, "$defs": {"s": SECRET}}, {"/a"}),
        ({"$defs": {"s": SECRET}}, set()),
        (SECRET, {""}),
        (True, set()),
    ],
)
def test_marked_places_are_found(schema: Json, pointers: set[str]) -> None:
    assert marked_pointers(schema) == pointers


@pytest.mark.requirement("OBS-5")
@pytest.mark.parametrize(
    ("schema", "pointers"),
    [
        ({"properties": {"p": SECRET, "next": {"$ref": "#"}}}, {"/p", "/next/p", "/next/next"}),
        ({"properties": {"p": SECRET, "x": {"$ref": "https://example.org/s"}}}, {"/p", "/x"}),
        ({"properties": {"p": SECRET, "x": {"$ref": "#name"}}}, {"/p", "/x"}),
        ({"properties": {"next": {"$ref": "#"}}}, set()),
    ],
)
def test_where_references_cannot_be_followed_everything_below_is_marked(schema: Json, pointers: set[str]) -> None:
    assert marked_pointers(schema) == pointers


def test_a_schema_that_doubles_at_each_level_is_bounded_and_still_hides_its_secret() -> None:
    levels: dict[str, Json] = {
        f"l{n}": {"properties": {side: {"$ref": f"#/$defs/l{n + 1}"} for side in "ab"}} for n in range(30)
    }
    schema: Json = {"$ref": "#/$defs/l0", "$defs": {**levels, "l30": SECRET}}
    marks = marks_tree(marked_pointers(schema))
    value: Json = "deep"
    for _ in range(30):
        value = {"b": value}
    assert "deep" not in str(mask_marked(value, marks))


@pytest.mark.requirement("OBS-5")
@pytest.mark.parametrize("held", ["text", "", 5, None, True, {"x": 1}, ["y"]])
def test_a_marked_place_is_masked_whatever_it_holds(held: Json) -> None:
    marks = marks_tree(frozenset({"/a/*/p", "/b"}))
    value: Json = {"a": [{"p": held, "q": 1}, {}], "b": held, "c": 2}
    assert mask_marked(value, marks) == {"a": [{"p": MASK, "q": 1}, {}], "b": MASK, "c": 2}


def test_a_value_without_marked_places_is_the_same_object() -> None:
    value: Json = {"a": [{"q": 1}], "c": {"b": 2}}
    assert mask_marked(value, marks_tree(frozenset({"/a/*/p", "/b", "/a/7"}))) is value


def test_needles_are_in_the_bytes_of_every_value_that_has_a_marked_place() -> None:
    assert set(needles(frozenset({"/a/*/p~1q", "/b/*"}))) == {b'"p/q"', b'"b"'}
    assert needles(frozenset({"/*"})) == needles(frozenset({""})) == needles(frozenset({"/0"})) == (b"",)
