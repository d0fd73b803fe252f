"""What is wanted of items is followed from what is known of them, one by one and of all others."""

import pytest

from interlock.core.canonical import Json
from tests.unit.core.compatibility_cases import NUMBER, TEXT
from tests.unit.core.test_compatibility_proof import doubts

pytestmark = pytest.mark.requirement("REG-5")

Schema = dict[str, Json]
PAIR: Schema = {"type": "array", "prefixItems": [TEXT, NUMBER], "items": False}


@pytest.mark.parametrize(
    ("known", "goal", "left"),
    [
        (PAIR, {"items": {"type": ["string", "integer"]}}, []),
        (PAIR, {"items": TEXT}, [("/1", "type")]),
        (PAIR, {"maxItems": 2}, []),
        (PAIR, {"maxItems": 1}, [("", "maxItems")]),
        (PAIR, {"uniqueItems": True}, []),
        (PAIR, {"prefixItems": [TEXT], "unevaluatedItems": NUMBER}, []),
        ({"type": "array", "items": TEXT}, {"prefixItems": [TEXT, TEXT]}, []),
        ({"type": "array", "items": TEXT}, {"prefixItems": [TEXT], "items": NUMBER}, [("/1", "type")]),
        ({"type": "array", "items": TEXT}, {"uniqueItems": True}, [("", "uniqueItems")]),
        ({"type": "array", "items": TEXT, "minItems": 2}, {"contains": TEXT, "minContains": 2}, []),
        ({"type": "array", "contains": {"const": 1}}, {"contains": NUMBER}, []),
        ({"type": "array", "contains": NUMBER}, {"contains": {"const": 1}}, [("", "contains")]),
        ({"type": "array", "maxItems": 2}, {"contains": TEXT, "minContains": 0, "maxContains": 2}, []),
    ],
)
def test_items_are_followed(known: Schema, goal: Schema, left: list[tuple[str, str]]) -> None:
    assert doubts(known, goal) == left
