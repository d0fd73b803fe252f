"""A sample of bounded size that is the same whatever order its members came in, and in however many parts.

Of all keys those are kept whose hashes are the least: one that is put out never comes back, since the bound only falls,
and one that belongs to the sample is never put out. So what is kept of a key is all that was ever said of it, two
samples of parts of a log join to that of the whole, and the greatest kept hash tells how many keys there were (D. Beyer
et al., "On synopses for distinct-value estimation under multiset operations", 2007).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import blake2b
from heapq import heappop, heappush
from typing import Final, Generic, TypeVar

V = TypeVar("V")

_HASHES: Final = 1 << 64


class Sample(Generic[V]):
    """At most `size` keys, each with what `new` begins and whoever asks for it adds to."""

    def __init__(self, size: int, new: Callable[[], V]) -> None:
        self._size = size
        self._new = new
        self._kept: dict[str, tuple[int, V]] = {}
        self._greatest: list[tuple[int, str]] = []
        self._is_full = False

    def of(self, key: str) -> V | None:
        """What is kept of a key, to be added to; None where it is not in the sample."""
        found = self._kept.get(key)
        return found[1] if found is not None else self._begin(key, hash_of(key))

    def join(self, other: Sample[V], add: Callable[[V, V], None]) -> None:
        """Take in what another part of the log had; `add` puts the second of two into the first."""
        for key, (_, value) in other._kept.items():
            mine = self.of(key)
            if mine is not None:
                add(mine, value)
        self._is_full = self._is_full or other._is_full

    def items(self) -> Iterator[tuple[str, V]]:
        """What is kept, by key."""
        for key in sorted(self._kept):
            yield key, self._kept[key][1]

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def is_whole(self) -> bool:
        """Whether every key that came is in it."""
        return not self._is_full

    @property
    def estimate(self) -> int:
        """How many keys there were: exact while it is whole."""
        if self.is_whole:
            return len(self._kept)
        return (self._size - 1) * _HASHES // max(1, -self._greatest[0][0])

    def _begin(self, key: str, hashed: int) -> V | None:
        if len(self._kept) >= self._size:
            self._is_full = True
            if -hashed <= self._greatest[0][0]:
                return None
            _, out = heappop(self._greatest)
            del self._kept[out]
        value = self._new()
        self._kept[key] = hashed, value
        heappush(self._greatest, (-hashed, key))
        return value


def hash_of(text: str) -> int:
    """64 bits that are spread evenly, whoever chose the text."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
