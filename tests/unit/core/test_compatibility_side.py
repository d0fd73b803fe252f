"""A part of a schema is read in the words of draft 2020-12, and compared with another by how it is written."""

from interlock.core.canonical import Json
from interlock.core.compatibility_side import Likeness, Part, Side, default_of
from tests.unit.core.compatibility_cases import NUMBER, TEXT, closed, part


def test_only_words_that_can_refuse_a_value_are_kept() -> None:
    side = Side({"type": "string", "title": "T", "format": "colour", "minContains": 2, "then": False})
    assert Part(side.root, side).words == {"type": "string"}


def test_words_of_older_drafts_are_put_into_those_of_today() -> None:
    old: dict[str, Json] = {"$schema": "http://json-schema.org/draft-07/schema#"}
    words = part({**old, "items": [TEXT], "additionalItems": NUMBER, "dependencies": {"a": ["b"], "c": TEXT}}).words
    assert (words["prefixItems"], words["items"]) == ([TEXT], NUMBER)
    assert (words["dependentRequired"], words["dependentSchemas"]) == ({"a": ["b"]}, {"c": TEXT})
    beside = part({**old, "$ref": "#/definitions/n", "type": "string", "definitions": {"n": TEXT}})
    assert beside.words.keys() == {"$ref"}


def test_what_always_holds_with_a_part_is_found_through_references() -> None:
    found = part({"$ref": "#/$defs/n", "allOf": [{"minLength": 1}], "$defs": {"n": {"$ref": "#", "type": "string"}}})
    assert [each.words.keys() for each in found.expanded()] == [{"$ref", "allOf"}, {"$ref", "type"}, {"minLength"}]
    assert default_of(part({"$ref": "#/$defs/n", "$defs": {"n": {"default": 3}}})) == b"3"


def test_a_part_judges_by_itself_one_that_was_made_here_too() -> None:
    root = part({"$ref": "#/$defs/n", "$defs": {"n": TEXT}})
    assert root.fits("a")
    assert not root.fits(1)
    assert root.below(root.side.negated(root.schema)).fits(1)
    assert root.below(root.side.demanding("a")).fits({"a": 1})


def test_parts_are_alike_where_they_say_the_same_whatever_they_are_called() -> None:
    tree = closed(name=TEXT, below={"$ref": "#"})
    named: dict[str, Json] = {"$ref": "#/$defs/t", "$defs": {"t": closed(name=TEXT, below={"$ref": "#/$defs/t"})}}
    like = Likeness()
    assert like.same(part(tree), part({**tree, "title": "Tree"}))
    assert like.same(part({"enum": [1, 2], "required": ["a", "b"]}), part({"enum": [2, 1], "required": ["b", "a"]}))
    assert not like.same(part(tree), part(closed(name=NUMBER, below={"$ref": "#"})))
    assert not like.same(part({"default": 1}), part({"default": 2}))
    assert not like.same(part(tree), part(named))
    assert not like.same(
        part({"$dynamicRef": "#n", "$dynamicAnchor": "n"}), part({"$dynamicRef": "#n", "$dynamicAnchor": "n"})
    )
