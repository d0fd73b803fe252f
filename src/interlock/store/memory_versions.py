"""Published versions in memory, with the epoch at which each was published or moved last."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from interlock.ports import Registered
from interlock.store.rules import checked_version

Identity = tuple[str, str, str, str]


class MemoryVersions:
    """All of them, oldest first. What changed after an epoch is found without a look at the others."""

    def __init__(self) -> None:
        self._rows: dict[Identity, Registered] = {}
        self._numbers: dict[Identity, int] = {}
        self._epochs: list[int] = []
        self._changed: list[Identity] = []

    def all(self) -> tuple[Registered, ...]:
        """Every version."""
        return tuple(self._rows.values())

    def since(self, epoch: int) -> tuple[Registered, ...]:
        """Those that were published or moved after that epoch."""
        changed = frozenset(self._changed[bisect_right(self._epochs, epoch) :])
        return tuple(self._rows[each] for each in sorted(changed, key=self._numbers.__getitem__))

    def checked(self, found: Iterable[Registered]) -> dict[Identity, Registered]:
        """Those of them that change anything, the last of each. Raises `VersionExists` for another digest."""
        rows: dict[Identity, Registered] = {}
        for each in found:
            place = _identity(each)
            if checked_version(each, stored=rows.get(place) or self._rows.get(place)):
                rows[place] = each
        return rows

    def put(self, changed: dict[Identity, Registered], epoch: int) -> None:
        """Write what `checked` gave, by a change that leads to that epoch."""
        self._rows.update(changed)
        for place in changed:
            self._numbers.setdefault(place, len(self._numbers))
            self._epochs.append(epoch)
            self._changed.append(place)


def _identity(each: Registered) -> Identity:
    return each.tenant, each.source, each.name, each.version
