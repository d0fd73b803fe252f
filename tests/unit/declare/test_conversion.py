"""A handler gets values of the types that it is annotated with."""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, TypedDict
from uuid import UUID

import pytest

from interlock.declare.conversion import conversion


class Color(Enum):
    RED = "red"


@dataclass
class Node:
    name: str
    color: Color = Color.RED
    children: "list[Node]" = field(default_factory=list)


class Draft(TypedDict):
    id: UUID
    of: Node


class Model:
    def __init__(self, value: object) -> None:
        self.value = value

    @classmethod
    def model_validate(cls, value: object) -> "Model":
        return cls(value)


@pytest.mark.requirement("TOOL-5")
@pytest.mark.parametrize(
    ("hint", "value", "converted"),
    [
        (datetime, "2026-01-02T03:04:05Z", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        (date, "2026-01-02", date(2026, 1, 2)),
        (UUID, "00000000-0000-0000-0000-000000000001", UUID(int=1)),
        (Decimal, "1.10", Decimal("1.10")),
        (Color, "red", Color.RED),
        (PurePosixPath, "a/b", PurePosixPath("a/b")),
        (Annotated[Color, "x"], "red", Color.RED),
        (Color | None, None, None),
        (Color | None, "red", Color.RED),
        (Color | date, "2026-01-02", date(2026, 1, 2)),
        (Color | str, "blue", "blue"),
        (set[int], [1, 2, 1], {1, 2}),
        (frozenset[Color], ["red"], frozenset({Color.RED})),
        (tuple[int, ...], [1, 2], (1, 2)),
        (tuple[Color, int], ["red", 2], (Color.RED, 2)),
        (list[Color], ["red"], [Color.RED]),
        (dict[str, Color], {"a": "red"}, {"a": Color.RED}),
        (Node, {"name": "a", "children": [{"name": "b"}]}, Node("a", children=[Node("b")])),
        (Draft, {"id": str(UUID(int=1)), "of": {"name": "a"}}, {"id": UUID(int=1), "of": Node("a")}),
    ],
)
def test_values_become_what_the_hint_says(hint: object, value: object, converted: object) -> None:
    convert = conversion(hint)
    assert convert is not None
    found = convert(value)
    assert (type(found), found) == (type(converted), converted)


def test_a_model_validates_its_value() -> None:
    convert = conversion(Model)
    assert convert is not None
    found = convert({"a": 1})
    assert isinstance(found, Model)
    assert found.value == {"a": 1}


@pytest.mark.parametrize(
    "hint", [str, int, float, bool, Any, list, dict, list[str], dict[str, int], int | None, Literal["a"]]
)
def test_json_types_need_no_conversion(hint: object) -> None:
    assert conversion(hint) is None


@pytest.mark.parametrize(("hint", "value"), [(Color, "blue"), (date, "soon"), (Node, {}), (Color | date, "x")])
def test_a_value_that_does_not_fit_raises(hint: object, value: object) -> None:
    convert = conversion(hint)
    assert convert is not None
    with pytest.raises((ValueError, TypeError)):
        convert(value)
