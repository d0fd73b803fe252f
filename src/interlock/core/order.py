"""Names of tools in their order, for pages of them and for what stands near a name, at no look at all the others."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import groupby, islice
from typing import Final

from interlock.core.tool import SHARED

Named = tuple[str, str]
"""A tenant and a name."""

NEAR_MAX: Final = 64
"""How many names on either side of one are near it, read forwards and read backwards."""

PIECE: Final = 512
"""How many names stand together: as many are copied for each that comes or goes."""


class Order:
    """The names that each tenant has, sorted, forwards and backwards. An order never changes."""

    def __init__(self, places: Iterable[Named] = ()) -> None:
        names: dict[str, list[str]] = {}
        for tenant, name in places:
            names.setdefault(tenant, []).append(name)
        self._names = {tenant: Sorted(each) for tenant, each in names.items()}
        self._backwards = {tenant: Sorted(name[::-1] for name in each) for tenant, each in names.items()}

    def changed(self, *, appeared: Iterable[Named], gone: Iterable[Named]) -> Order:
        """The same with these names, and without those."""
        come, left = _by_tenant(appeared), _by_tenant(gone)
        new = Order()
        new._names, new._backwards = self._names.copy(), self._backwards.copy()
        for tenant in {*come, *left}:
            more, less = come.get(tenant, []), left.get(tenant, [])
            new._names[tenant] = self._names.get(tenant, NOTHING).changed(more, less)
            turned = [name[::-1] for name in more], [name[::-1] for name in less]
            new._backwards[tenant] = self._backwards.get(tenant, NOTHING).changed(*turned)
        return new

    def after(self, tenant: str, name: str) -> Iterator[str]:
        """The names that a tenant sees, its own and shared ones, each once, after another in order."""
        own = (self._names.get(owner, NOTHING).after(name) for owner in {tenant, SHARED})
        return (each for each, _ in groupby(merge(*own)))

    def near(self, tenant: str, name: str) -> list[str]:
        """Names that begin or end like one, as far as there are any: at most so many, whatever their number."""
        found: set[str] = set()
        for owner in (tenant, SHARED):
            found.update(self._names.get(owner, NOTHING).around(name))
            found.update(each[::-1] for each in self._backwards.get(owner, NOTHING).around(name[::-1]))
        return sorted(found)


class Sorted:
    """Names in order, in pieces; what changes a few of them shares all pieces but theirs."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        found = sorted(names)
        self._pieces = [found[at : at + PIECE] for at in range(0, len(found), PIECE)]
        self._firsts = [each[0] for each in self._pieces]

    def changed(self, more: Sequence[str], less: Sequence[str]) -> Sorted:
        """The same with these names, and without those."""
        if len(more) + len(less) > PIECE:
            without = frozenset(less)
            kept = (name for piece in self._pieces for name in piece if name not in without)
            return Sorted([*kept, *more])
        new = Sorted()
        new._pieces, new._firsts = self._pieces.copy(), self._firsts.copy()
        for name in less:
            new._drop(name)
        for name in more:
            new._put(name)
        return new

    def after(self, name: str) -> Iterator[str]:
        """Those after one."""
        at = self._piece_of(name)
        for piece in islice(self._pieces, at, None):
            yield from islice(piece, bisect_right(piece, name), None)

    def around(self, name: str) -> list[str]:
        """Those that stand next to one, on both sides."""
        at = self._piece_of(name)
        backwards = (self._pieces[index] for index in range(min(at, len(self._pieces) - 1), -1, -1))
        before = (each for piece in backwards for each in reversed(piece) if each < name)
        following = (each for piece in islice(self._pieces, at, None) for each in piece if each >= name)
        return [*islice(before, NEAR_MAX), *islice(following, NEAR_MAX)]

    def _piece_of(self, name: str) -> int:
        """The last piece that begins with that name or one before it, else the first."""
        return max(0, bisect_right(self._firsts, name) - 1)

    def _put(self, name: str) -> None:
        at = self._piece_of(name)
        piece = self._pieces[at].copy() if self._pieces else []
        insort(piece, name)
        half = PIECE if len(piece) > 2 * PIECE else len(piece)
        self._set(at, [each for each in (piece[:half], piece[half:]) if each])

    def _drop(self, name: str) -> None:
        at = self._piece_of(name)
        piece = self._pieces[at].copy() if self._pieces else []
        index = bisect_left(piece, name)
        if index < len(piece) and piece[index] == name:
            del piece[index]
            self._set(at, [piece] if piece else [])

    def _set(self, at: int, pieces: list[list[str]]) -> None:
        self._pieces[at : at + 1] = pieces
        self._firsts[at : at + 1] = [each[0] for each in pieces]


NOTHING: Final = Sorted()


def _by_tenant(places: Iterable[Named]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for tenant, name in places:
        found.setdefault(tenant, []).append(name)
    return found
