"""Plain data becomes typed values, and what does not fit is named by its place."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from interlock.core.effect import Effect
from interlock.core.errors import SpecInvalid
from interlock.core.labels import Confidentiality, Labels
from interlock.core.tool import Document
from interlock.declare.typed_values import typed


@dataclass(frozen=True)
class Pair:
    left: int
    right: float = 0.5


@pytest.mark.parametrize(
    ("value", "hint", "expected"),
    [
        ("a", str, "a"),
        (1, float, 1),
        (None, str | None, None),
        ("write", Effect, Effect.WRITE),
        ("internal", Confidentiality, Confidentiality.INTERNAL),
        ([1, 2], tuple[int, ...], (1, 2)),
        (["a"], frozenset[str], frozenset({"a"})),
        ({"a": {"left": 1}}, Mapping[str, Pair], {"a": Pair(1)}),
        ({"confidentiality": "restricted"}, Labels, Labels(Confidentiality.RESTRICTED)),
        ({"b": 1}, Document, Document.of({"b": 1})),
        (object, Any, object),
    ],
)
def test_values_that_fit_are_taken(value: object, hint: object, expected: object) -> None:
    assert typed(value, hint, path="p") == expected


@pytest.mark.parametrize(
    ("value", "hint", "says"),
    [
        (1, str, "p: it must be text"),
        (True, int, "p: it must be a whole number"),
        (None, str, "p: it must be text"),
        ("x", Effect, "p: it must be one of read, "),
        ([1, "a"], tuple[int, ...], r"p\[1\]: it must be a whole number"),
        ({"a": {"left": "x"}}, Mapping[str, Pair], r"p\.a\.left"),
        ({"lift": 1}, Pair, "there is no 'lift'; is it 'left'"),
        ({}, Pair, "left is missing"),
        ([], Pair, "a mapping"),
        ({}, tuple[int, ...], "a list"),
    ],
)
def test_values_that_do_not_fit_are_named(value: object, hint: object, says: str) -> None:
    with pytest.raises(SpecInvalid, match=says):
        typed(value, hint, path="p")
