"""A mapping in layers is what a dict with the same changes is, and the one that it was made of stays as it was."""

import gc
from weakref import ref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.layers import OVER_MIN, Changing, Layers

CHANGES = st.lists(st.dictionaries(st.integers(0, 40), st.none() | st.integers(), max_size=12), max_size=12)


def shown(layers: Layers[int, int]) -> dict[int, int]:
    """All that can be seen of it, each way to see it held against the others."""
    items = dict(layers.items())
    assert len(layers) == len(items) == len(list(layers))
    assert all(key in layers and layers[key] == layers.get(key) == value for key, value in items.items())
    for key in range(50):
        assert layers.get(key, "none") == items.get(key, "none")
        assert (key in layers) is (key in items)
    return items


@given(st.dictionaries(st.integers(0, 40), st.integers()), CHANGES)
def test_it_holds_what_a_dict_would_after_the_same_changes(
    begun: dict[int, int], changes: list[dict[int, int | None]]
) -> None:
    expected, layers = dict(begun), Layers(begun)
    for change in changes:
        before, was = layers, dict(expected)
        layers = before.changed(change)
        expected = {key: value for key, value in {**expected, **change}.items() if value is not None}
        assert shown(layers) == expected
        assert shown(before) == was


def test_what_is_gone_is_missing_as_in_a_dict() -> None:
    layers = Layers({1: "one", 2: "two"}).changed({1: None})
    with pytest.raises(KeyError):
        layers[1]
    with pytest.raises(KeyError):
        layers[3]
    assert layers == {2: "two"}


def test_a_copy_of_a_dict_does_not_follow_it() -> None:
    begun = {1: "one"}
    layers = Layers(begun)
    begun[2] = "two"
    assert layers == {1: "one"}


def test_many_changes_one_after_the_other_leave_few_entries_apart() -> None:
    layers: Layers[int, int] = Layers(dict.fromkeys(range(10_000), 0))
    copied = 0
    for number in range(10_000):
        layers = layers.changed({number: 1})
        copied += len(layers._over)
    assert layers == dict.fromkeys(range(10_000), 1)
    assert copied < 10_000 * OVER_MIN


def test_changes_that_become_one_are_seen_by_the_look_ups_between() -> None:
    begun = Layers({1: "one", 2: "two"})
    changing = Changing(begun)
    changing.put(1, None)
    changing.put(3, "three")
    assert (changing.get(1), changing.get(2), changing.get(3)) == (None, "two", "three")
    assert changing.finish() == {2: "two", 3: "three"}
    assert begun == {1: "one", 2: "two"}


def test_what_refers_to_itself_through_one_is_let_go_of() -> None:
    class Holder:
        held: object = None

    holder = Holder()
    holder.held = Layers({1: holder})
    seen = ref(holder)
    del holder
    gc.collect()
    assert seen() is None
