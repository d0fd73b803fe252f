"""The runs of one batch: their heads as they were read and as its ops have made them, and what happened in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from interlock.store.postgres_arrays import bigints, blobs, bools, texts
from interlock.store.postgres_line import Row, Step
from interlock.store.run_rules import NO_OWNER, Standing

_SEQUENCE_BITS: Final = 32


@dataclass(slots=True)
class HeadRow:
    """Where a run stands. `owner_lives`: the process that holds it has its lease still."""

    place: bytes
    number: int
    tenant: str
    id: str
    state: str
    version: int
    fence: int
    owner: int
    agent: str
    principal: str
    started_us: int
    changed_us: int
    wake_us: int | None = None
    woken: bool = False
    over: bool = False
    owner_lives: bool = True

    def is_held(self, *, by: int) -> bool:
        """Whether a process at work holds it; the one that asks always is."""
        return self.owner != NO_OWNER and (self.owner == by or self.owner_lives)

    def stands(self, *, owner: int) -> Standing:
        """What moving it has to know."""
        return Standing(self.version, self.fence, own=self.owner == owner, over=self.over, woken=self.woken)


class RunSheet:
    """The heads of one batch, by place, with the numbers of those that it may begin."""

    def __init__(self) -> None:
        self.heads: dict[bytes, HeadRow] = {}
        self.numbers: dict[bytes, int] = {}
        self._new: dict[bytes, HeadRow] = {}
        self._changed: dict[bytes, HeadRow] = {}
        self._entries: list[tuple[int, str, int, bytes]] = []

    # --- what ops do --------------------------------------------------------------------------------------------------

    def begin(self, head: HeadRow) -> None:
        """A new run."""
        self.heads[head.place] = self._new[head.place] = head

    def change(self, head: HeadRow) -> None:
        """A run that is another now."""
        if head.place not in self._new:
            self._changed[head.place] = head

    def append(self, entries: Sequence[tuple[int, str, int, bytes]]) -> None:
        """What happened, by its place."""
        self._entries += entries

    # --- what is read -------------------------------------------------------------------------------------------------

    def reads(self, heads: set[bytes], *, begun: set[bytes]) -> list[Step]:
        """The steps that read and lock heads, after all else that a batch locks."""
        steps: list[Step] = [("take_run_numbers", (len(begun),))] if begun else []
        if heads:
            steps.append(("lock_run_heads", (blobs(sorted(heads)),)))
        return steps

    def take_in(self, rows: Mapping[str, list[Row]], *, begun: set[bytes]) -> None:
        """What was read."""
        numbers = [number for (number,) in rows.get("take_run_numbers", ())]
        self.numbers.update(zip(sorted(begun), numbers, strict=False))
        for row in rows.get("lock_run_heads", ()):
            self.heads.setdefault(row[0], HeadRow(*row))

    # --- what is written ----------------------------------------------------------------------------------------------

    def writes(self) -> list[Step]:
        """The steps that write what the ops have made of it: before those that change approvals, which wake."""
        steps: list[Step] = []
        if self._changed:
            steps.append(
                ("update_run_heads", _columns([self._changed[each] for each in sorted(self._changed)], _MOVED))
            )
        if self._new:
            steps.append(("insert_run_heads", _columns([self._new[each] for each in sorted(self._new)], _HEAD)))
        if self._entries:
            places, kinds, times, sealed = zip(*self._entries, strict=True)
            steps.append(("insert_run_entries", (bigints(places), texts(kinds), bigints(times), blobs(sealed))))
        return steps


def place_in_run(number: int, *, sequence: int) -> int:
    """The row of an entry."""
    return number << _SEQUENCE_BITS | sequence


def sequence_of(place: int) -> int:
    """The sequence of an entry."""
    return place & (1 << _SEQUENCE_BITS) - 1


_Columns = Mapping[str, Callable[[list[Any]], object]]


def _columns(rows: list[HeadRow], columns: _Columns) -> tuple[object, ...]:
    return tuple(column([getattr(row, name) for row in rows]) for name, column in columns.items())


_MOVED: Final[_Columns] = {
    "place": blobs,
    "state": texts,
    "version": bigints,
    "fence": bigints,
    "owner": bigints,
    "changed_us": bigints,
    "wake_us": bigints,
    "woken": bools,
    "over": bools,
}

_HEAD: Final[_Columns] = {
    "place": blobs,
    "number": bigints,
    "tenant": texts,
    "id": texts,
    "state": texts,
    "version": bigints,
    "fence": bigints,
    "owner": bigints,
    "agent": texts,
    "principal": texts,
    "started_us": bigints,
    "changed_us": bigints,
    "wake_us": bigints,
    "woken": bools,
    "over": bools,
}
