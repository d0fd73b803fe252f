"""A line of those who wait: within a tenant who came first is first, and tenants take turns."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class FairLine(Generic[T]):
    """Who waits, by tenant. A tenant that many wait of takes no more turns than one that few wait of."""

    def __init__(self) -> None:
        self._first: deque[tuple[str, T]] = deque()
        self._waiting: OrderedDict[str, deque[T]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[T]:
        yield from [who for _, who in self._first]
        for waiting in self._waiting.values():
            yield from waiting

    def join(self, who: T, *, tenant: str) -> None:
        """Come last of this tenant."""
        self._waiting.setdefault(tenant, deque()).append(who)
        self._count += 1

    def join_first(self, who: T, *, tenant: str) -> None:
        """Come before everybody, having been called in vain: that was a turn of one's tenant, and this is none."""
        self._first.append((tenant, who))
        self._count += 1

    def next(self) -> T | None:
        """Call whose turn it is, who has left the line then."""
        if not self._count:
            return None
        if self._first:
            self._count -= 1
            return self._first.popleft()[1]
        tenant, waiting = next(iter(self._waiting.items()))
        who = waiting.popleft()
        self._waiting.move_to_end(tenant)
        self._tidy(tenant)
        return who

    def leave(self, who: T, *, tenant: str) -> None:
        """Go without having been called; nothing where one is not there."""
        waiting = self._waiting.get(tenant, ())
        if (tenant, who) in self._first:
            self._first.remove((tenant, who))
            self._count -= 1
        elif who in waiting:
            self._waiting[tenant].remove(who)
            self._tidy(tenant)

    def of(self, tenant: str) -> int:
        """How many of this tenant wait."""
        return len(self._waiting.get(tenant, ())) + sum(each == tenant for each, _ in self._first)

    def ahead_of(self, who: T, *, tenant: str) -> int:
        """How many are called before one who waits, should nobody join or leave."""
        if (tenant, who) in self._first:
            return self._first.index((tenant, who))
        mine = self._waiting[tenant].index(who)
        before = True
        ahead = len(self._first) + mine
        for other, waiting in self._waiting.items():
            before = before and other != tenant
            if other != tenant:
                ahead += min(len(waiting), mine + before)
        return ahead

    def last_of_most(self) -> tuple[str, T] | None:
        """The tenant of which most wait for a turn, and who came last of it."""
        tenant = max(self._waiting, key=lambda each: len(self._waiting[each]), default=None)
        return None if tenant is None else (tenant, self._waiting[tenant][-1])

    def _tidy(self, tenant: str) -> None:
        self._count -= 1
        if not self._waiting[tenant]:
            del self._waiting[tenant]
