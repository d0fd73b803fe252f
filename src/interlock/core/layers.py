"""A mapping that never changes; one with a few other entries shares the rest with it.

    base   what most have in common, shared by all that were made of it
    over   what is other than there, copied for each: few, else they become a base of their own

So a change costs some microseconds among 100,000 entries, and a look-up one or two of a dict. Libraries have persistent
maps; those tried were compiled for no newer Python, kept what refers to itself for ever, or took eight times as long.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isqrt
from typing import Final, Generic, TypeVar, overload

K = TypeVar("K")
V = TypeVar("V")
D = TypeVar("D")

OVER_MIN: Final = 64
"""So few are always kept apart: a copy of them costs next to nothing."""


class Layers(Mapping[K, V]):
    """Made of any mapping, which it copies. None is no value: where a change has it, the entry is gone."""

    __slots__ = ("_base", "_len", "_over")

    def __init__(self, of: Mapping[K, V] | None = None) -> None:
        self._base: dict[K, V] = {} if of is None else dict(of)
        self._over: dict[K, V | None] = {}
        self._len = len(self._base)

    def changed(self, changes: Mapping[K, V | None]) -> Layers[K, V]:
        """The same with these entries, and without those that are None."""
        if not changes:
            return self
        new: Layers[K, V] = Layers()
        over = {**self._over, **changes}
        if len(over) > max(OVER_MIN, isqrt(len(self._base))):
            new._base, new._over = _one_layer(self._base, over), {}
        else:
            new._base, new._over = self._base, over
        new._len = self._len + sum((changes[key] is not None) - (key in self) for key in changes)
        return new

    def __getitem__(self, key: K) -> V:
        found = self._over[key] if key in self._over else self._base[key]
        if found is None:
            raise KeyError(key)
        return found

    @overload
    def get(self, key: K, /) -> V | None: ...

    @overload
    def get(self, key: K, default: V | D, /) -> V | D: ...

    def get(self, key: K, default: V | D | None = None, /) -> V | D | None:
        """The value, else the default."""
        found = self._over[key] if key in self._over else self._base.get(key)
        return default if found is None else found

    def __contains__(self, key: object) -> bool:
        return (self._over[key] is not None) if key in self._over else key in self._base

    def __iter__(self) -> Iterator[K]:
        over = self._over
        yield from (key for key in self._base if key not in over)
        yield from (key for key, value in over.items() if value is not None)

    def __len__(self) -> int:
        return self._len


def _one_layer(base: dict[K, V], over: dict[K, V | None]) -> dict[K, V]:
    merged = base.copy()
    for key, value in over.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = value
    return merged


class Changing(Generic[K, V]):
    """Changes that become one: each is seen by the look-ups after it."""

    __slots__ = ("_changes", "_of")

    def __init__(self, of: Mapping[K, V]) -> None:
        self._of = of if isinstance(of, Layers) else Layers(of)
        self._changes: dict[K, V | None] = {}

    def get(self, key: K) -> V | None:
        """The value as it is by now."""
        return self._changes[key] if key in self._changes else self._of.get(key)

    def put(self, key: K, value: V | None) -> None:
        """Set it; None takes it away."""
        self._changes[key] = value

    def finish(self) -> Layers[K, V]:
        """The mapping with them."""
        return self._of.changed(self._changes)
