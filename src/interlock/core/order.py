"""Names of tools in their order, for pages of them and for what stands near a name, at no look at all the others."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import groupby
from typing import Final

from interlock.core.tool import SHARED

Named = tuple[str, str]
"""A tenant and a name."""

NEAR_MAX: Final = 64
"""How many names on either side of one are near it, read forwards and read backwards."""


class Order:
    """The names that each tenant has, sorted, forwards and backwards. An order never changes."""

    def __init__(self, places: Iterable[Named] = ()) -> None:
        names: dict[str, list[str]] = {}
        for tenant, name in places:
            names.setdefault(tenant, []).append(name)
        self._names = {tenant: sorted(each) for tenant, each in names.items()}
        self._backwards = {tenant: sorted(name[::-1] for name in each) for tenant, each in names.items()}

    def changed(self, *, appeared: Iterable[Named], gone: Iterable[Named]) -> Order:
        """The same with these names, and without those."""
        new, owned = Order(), set[str]()
        new._names, new._backwards = self._names.copy(), self._backwards.copy()
        for places, change in ((gone, _drop), (appeared, insort)):
            for tenant, name in places:
                if tenant not in owned:
                    owned.add(tenant)
                    new._names[tenant] = new._names.get(tenant, []).copy()
                    new._backwards[tenant] = new._backwards.get(tenant, []).copy()
                change(new._names[tenant], name)
                change(new._backwards[tenant], name[::-1])
        return new

    def after(self, tenant: str, name: str) -> Iterator[str]:
        """The names that a tenant sees, its own and shared ones, each once, after another in order."""
        own = (_rest(self._names.get(owner, []), name) for owner in {tenant, SHARED})
        return (each for each, _ in groupby(merge(*own)))

    def near(self, tenant: str, name: str) -> list[str]:
        """Names that begin or end like one, as far as there are any: at most so many, whatever their number."""
        found: set[str] = set()
        for owner in (tenant, SHARED):
            found.update(_around(self._names.get(owner, []), name))
            found.update(each[::-1] for each in _around(self._backwards.get(owner, []), name[::-1]))
        return sorted(found)


def _rest(names: list[str], name: str) -> Iterator[str]:
    return (names[index] for index in range(bisect_right(names, name), len(names)))


def _around(names: list[str], name: str) -> list[str]:
    index = bisect_left(names, name)
    return names[max(0, index - NEAR_MAX) : index + NEAR_MAX]


def _drop(names: list[str], name: str) -> None:
    index = bisect_left(names, name)
    if index < len(names) and names[index] == name:
        del names[index]
