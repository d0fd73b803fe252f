"""Arguments that come value by value are whole, or they are no arguments."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.models.gemini_arguments import PartialArguments

SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=6)
TREES = st.dictionaries(
    st.text(min_size=1, max_size=5),
    st.recursive(
        SCALARS,
        lambda inner: (
            st.lists(inner, min_size=1, max_size=3)
            | st.dictionaries(st.text(min_size=1, max_size=5), inner, min_size=1, max_size=3)
        ),
        max_leaves=8,
    ),
    max_size=4,
)


def put_together(*pieces: object) -> PartialArguments:
    partial = PartialArguments()
    for piece in pieces:
        partial.add([piece])
    return partial


def test_values_stand_where_their_paths_say() -> None:
    partial = put_together(
        {"jsonPath": "$.operations[0].action", "stringValue": "add"},
        {"jsonPath": "$.operations[0]['dotted.name']", "numberValue": 2},
        {"jsonPath": '$.operations[1]["it\\"s"]', "boolValue": False},
        {"jsonPath": "$.none", "nullValue": None},
    )
    assert json.loads(partial.raw()) == {
        "operations": [{"action": "add", "dotted.name": 2}, {'it"s': False}],
        "none": None,
    }
    assert partial.whole


def test_a_text_goes_on_until_it_says_so() -> None:
    pieces = [{"jsonPath": "$.text", "stringValue": word, "willContinue": True} for word in ("Bos", "ton")]
    partial = put_together(*pieces)
    assert not partial.whole
    partial.add([{"jsonPath": "$.text", "stringValue": ""}])
    assert (json.loads(partial.raw()), partial.whole) == ({"text": "Boston"}, True)


def test_a_piece_without_a_value_ends_a_text() -> None:
    partial = put_together({"jsonPath": "$.a", "stringValue": "x", "willContinue": True}, {"jsonPath": "$.a"})
    assert (json.loads(partial.raw()), partial.whole) == ({"a": "x"}, True)


def test_no_pieces_are_no_arguments() -> None:
    assert PartialArguments().raw() == "{}"


def test_pieces_add_to_what_came_whole_before_them_and_never_replace_it() -> None:
    partial = PartialArguments()
    partial.add_whole({"a": 1})
    partial.add([{"jsonPath": "$.b", "numberValue": 2}])
    assert json.loads(partial.raw()) == json.loads(partial.raw()) == {"a": 1, "b": 2}
    partial.add([{"jsonPath": "$.a", "numberValue": 3}])
    assert isinstance(json.loads(partial.raw()), list)


@pytest.mark.parametrize(
    "pieces",
    [
        [{"jsonPath": "$.a", "numberValue": 1}, {"jsonPath": "$.a", "numberValue": 2}],
        [{"jsonPath": "$.a", "stringValue": "x"}, {"jsonPath": "$.a", "stringValue": "y"}],
        [{"jsonPath": "$.a", "stringValue": "x"}, {"jsonPath": "$.a.b", "stringValue": "y"}],
        [{"jsonPath": "$.a[1]", "stringValue": "x"}],
        [{"jsonPath": "$.a[0]", "numberValue": 1}, {"jsonPath": "$.a.b", "numberValue": 1}],
        [{"jsonPath": "$.a", "numberValue": "NaN"}],
        [{"jsonPath": "$.a"}],
        [{"jsonPath": "$", "stringValue": "x"}],
        [{"jsonPath": "a", "stringValue": "x"}],
        [{"jsonPath": "$..a", "stringValue": "x"}],
        [{"jsonPath": "$" + ".a" * 65, "stringValue": "x"}],
        [{"jsonPath": None, "stringValue": "x"}],
        [{"stringValue": "x"}],
        ["x"],
    ],
)
@pytest.mark.requirement("LOOP-3")
def test_pieces_that_contradict_themselves_make_no_object(pieces: list[object]) -> None:
    partial = put_together({"jsonPath": "$.fine", "numberValue": 1}, *pieces)
    assert isinstance(json.loads(partial.raw()), list)


@given(TREES, st.integers(1, 3))
def test_every_value_of_every_tree_arrives(tree: dict[str, object], size: int) -> None:
    assert json.loads(put_together(*pieces_of(tree, path="$", size=size)).raw()) == tree


def pieces_of(value: object, *, path: str, size: int) -> list[dict[str, object]]:
    if isinstance(value, dict):
        steps = [(f"{path}[{quoted(name)}]", below) for name, below in value.items()]
        return [piece for step, below in steps for piece in pieces_of(below, path=step, size=size)]
    if isinstance(value, list):
        return [piece for at, below in enumerate(value) for piece in pieces_of(below, path=f"{path}[{at}]", size=size)]
    if isinstance(value, str):
        cut = [value[at : at + size] for at in range(0, len(value), size)]
        return [{"jsonPath": path, "stringValue": text, "willContinue": True} for text in cut] + [
            {"jsonPath": path, "stringValue": ""}
        ]
    name = "nullValue" if value is None else "boolValue" if isinstance(value, bool) else "numberValue"
    return [{"jsonPath": path, name: value}]


def quoted(name: str) -> str:
    """A name in a path: quotes and backslashes are escaped, nothing else."""
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
