"""What is wanted of members is followed from what is known of them, of those that nobody names too."""

import pytest

from interlock.core.canonical import Json
from tests.unit.core.compatibility_cases import NUMBER, TEXT, closed, opened
from tests.unit.core.test_compatibility_proof import doubts

pytestmark = pytest.mark.requirement("REG-5")

Schema = dict[str, Json]
MAP: Schema = {"type": "object", "additionalProperties": TEXT}


@pytest.mark.parametrize(
    ("known", "goal", "left"),
    [
        (closed("a", a=TEXT), opened("a", a=TEXT), []),
        (opened(a=TEXT), closed(a=TEXT), [("/*", "false")]),
        (closed(a=TEXT, b=TEXT), closed(a=TEXT), [("/b", "false")]),
        (closed(a=TEXT), MAP, []),
        (closed(a=NUMBER), MAP, [("/a", "type")]),
        ({**closed(), "patternProperties": {"^x": TEXT}}, MAP, []),
        ({**closed(), "patternProperties": {"^x": NUMBER}}, MAP, [("/*", "type")]),
        (MAP, {"patternProperties": {"^x": TEXT}}, []),
        (opened(xa=NUMBER), {"patternProperties": {"^x": TEXT}}, [("/xa", "type"), ("/*", "type")]),
        (closed("a", "b", a=TEXT, b=TEXT), {"minProperties": 2, "maxProperties": 2}, []),
        (closed(a=TEXT), {"minProperties": 1}, [("", "minProperties")]),
        (closed(abc=TEXT), {"propertyNames": {"maxLength": 3}}, []),
        (closed(abcd=TEXT), {"propertyNames": {"maxLength": 3}}, [("", "propertyNames")]),
        ({"type": "object", "propertyNames": {"maxLength": 2}}, {"propertyNames": {"maxLength": 3}}, []),
        (closed("b", a=TEXT, b=TEXT), {"dependentRequired": {"a": ["b"]}}, []),
        (closed(b=TEXT), {"dependentRequired": {"a": ["b"]}}, []),
        (closed(a=TEXT, b=TEXT), {"dependentRequired": {"a": ["b"]}}, [("", "dependentRequired")]),
        (closed("b", b=TEXT), {"dependentSchemas": {"a": {"required": ["b"]}}}, []),
        (closed(a=TEXT), {"properties": {"a": True}, "unevaluatedProperties": False}, []),
        (
            closed(a=TEXT, b=TEXT), {"allOf": [opened(a=TEXT)], "unevaluatedProperties": False},
            [("/b", "false")],
        ),
    ],
)  # fmt: skip
def test_members_are_followed(known: Schema, goal: Schema, left: list[tuple[str, str]]) -> None:
    assert list(dict.fromkeys(doubts(known, goal))) == left
