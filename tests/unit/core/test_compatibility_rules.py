"""Each keyword of plain values and of choices is followed from what is known, and not from less."""

import pytest

from interlock.core.canonical import Json
from tests.unit.core.test_compatibility_proof import doubts

pytestmark = pytest.mark.requirement("REG-5")

TEXT: Json = {"type": "string"}
INTEGER: Json = {"type": "integer"}

FOLLOWS: tuple[tuple[dict[str, Json], dict[str, Json]], ...] = (
    ({"type": "integer"}, {"type": "number"}),
    ({"const": "a"}, {"enum": ["a", "b"]}),
    ({"type": "integer", "minimum": 1}, {"exclusiveMinimum": 0}),
    ({"type": "integer", "exclusiveMinimum": 0}, {"minimum": 1}),
    ({"exclusiveMaximum": 3}, {"maximum": 3}),
    ({"type": "integer", "multipleOf": 6}, {"multipleOf": 3}),
    ({"type": "integer"}, {"multipleOf": 0.5}),
    ({"minLength": 3}, {"minLength": 2}),
    ({"format": "uuid"}, {"maxLength": 36}),
    ({"pattern": "^a", "maxLength": 3}, {"pattern": "^a"}),
    ({"type": "string", "minLength": 2}, {"allOf": [TEXT, {"minLength": 1}]}),
    ({"type": "string"}, {"anyOf": [INTEGER, TEXT]}),
    ({"type": "string"}, {"oneOf": [INTEGER, TEXT]}),
    ({"type": "string"}, {"not": {"type": "integer"}}),
    ({"not": {"type": "string"}}, {"not": {"type": "string", "minLength": 3}}),
    ({"type": "string", "minLength": 3}, {"if": TEXT, "then": {"minLength": 2}, "else": False}),
    ({"type": "string"}, {"$ref": "#/$defs/n", "$defs": {"n": TEXT}}),
)


@pytest.mark.parametrize(("known", "goal"), FOLLOWS)
def test_what_follows_is_followed_and_not_the_other_way_round(known: dict[str, Json], goal: dict[str, Json]) -> None:
    assert doubts(known, goal) == []
    if goal.keys() not in ({"$ref", "$defs"}, {"multipleOf"}, {"exclusiveMinimum"}, {"minimum"}):
        assert doubts(goal, known) != []


@pytest.mark.parametrize(
    ("known", "goal"),
    [
        ({"type": "number", "exclusiveMinimum": 0}, {"minimum": 1}),
        ({"type": "number"}, {"multipleOf": 0.5}),
        ({"pattern": "^a"}, {"pattern": "^ab"}),
        ({"type": "integer"}, {"oneOf": [INTEGER, {"type": "number"}]}),
        ({"type": "string"}, {"not": {"minLength": 3}}),
        ({"type": "string"}, {"if": {"minLength": 2}, "then": {"maxLength": 1}}),
    ],
)
def test_what_does_not_follow_is_doubted(known: dict[str, Json], goal: dict[str, Json]) -> None:
    assert doubts(known, goal) != []
