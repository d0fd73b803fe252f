"""Frozen values that are cheap to make behave as the standard library's frozen dataclasses do."""

import copy
import pickle
from dataclasses import FrozenInstanceError, field, fields, replace

import pytest
from rich.pretty import pretty_repr

from interlock.core.frozen import fields_of, frozen


@frozen
class Point:
    """Two numbers, a name and notes."""

    x: int
    y: int = 0
    name: str = "origin"
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def far(self) -> bool:
        return self.x > 10


@frozen
class Hidden:
    """A number, and a secret that stays out of sight."""

    number: int
    secret: str = field(repr=False, compare=False)


def test_fields_take_their_values_by_position_by_name_or_by_default() -> None:
    point = Point(1, name="p")
    assert (point.x, point.y, point.name, point.notes, point.far) == (1, 0, "p", {}, False)


def test_no_field_can_be_set_or_deleted() -> None:
    point = Point(1)
    with pytest.raises(FrozenInstanceError):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del point.y
    with pytest.raises((AttributeError, TypeError)):
        point.other = 1  # type: ignore[attr-defined]
    assert point == Point(1)


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(TypeError, match="x"):
        Point()  # type: ignore[call-arg]


def test_each_instance_gets_its_own_made_default() -> None:
    assert Point(1).notes is not Point(1).notes


def test_values_of_equal_fields_are_equal_and_told_alike() -> None:
    assert Point(1, 2) == Point(1, 2) != Point(2, 2)
    assert repr(Point(1)).endswith("Point(x=1, y=0, name='origin', notes={})")


def test_they_are_copied_replaced_pickled_and_matched_like_any_dataclass() -> None:
    point = Point(1, 2)
    assert replace(point, y=3) == Point(1, 3)
    assert copy.copy(point) == copy.deepcopy(point) == pickle.loads(pickle.dumps(point)) == point
    assert [each.name for each in fields(point)] == ["x", "y", "name", "notes"]
    match point:
        case Point(1, y=found):
            assert found == 2
        case _:
            pytest.fail("it did not match")


def test_the_fields_of_a_value_are_given_by_name_and_in_order() -> None:
    told = fields_of(Point(1, name="p"))
    assert told == {"x": 1, "y": 0, "name": "p", "notes": {}}
    assert [*told] == ["x", "y", "name", "notes"]


def test_a_field_that_is_not_compared_or_shown_is_neither() -> None:
    assert Hidden(1, "a") == Hidden(1, "b")
    assert hash(Hidden(1, "a")) == hash(Hidden(1, "b"))
    assert "a" not in repr(Hidden(1, "a")).removeprefix("Hidden")


@pytest.mark.requirement("OBS-5")
def test_a_field_that_is_not_shown_is_not_shown_in_a_printed_stack_trace_either() -> None:
    assert pretty_repr(Hidden(1, "hunter2")) == "Hidden(number=1)"
    assert pretty_repr(Point(1, 2)) == "Point(x=1, y=2, name='origin', notes={})"


def test_a_class_that_wants_to_run_code_of_its_own_when_made_is_refused() -> None:
    class Checked:
        """It has a check."""

        def __post_init__(self) -> None:
            """The check."""

    with pytest.raises(TypeError, match="__post_init__"):
        frozen(Checked)
