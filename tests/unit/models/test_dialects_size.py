"""What providers limit in a schema is counted."""

from typing import Any

from interlock.models.dialects_size import Size, size_of


def test_members_levels_values_and_characters_are_counted_once() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"ab": {"type": ["string", "null"], "enum": ["x", None]}, "c": {"anyOf": [{"const": 1}]}},
        "required": ["ab"],
        "$defs": {"d": {"type": "array", "items": {"type": "array", "items": {}}}},
    }
    assert size_of(schema) == Size(members=2, levels=2, values=3, characters=11, optional=1, unions=2)


def test_nothing_has_no_size() -> None:
    assert size_of({}) == Size()
