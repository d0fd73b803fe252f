"""How each item of a call stands that is about several: recipients of a mail, rows of an import."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from interlock.core.frozen import frozen


class ItemState(StrEnum):
    """Of an UNKNOWN item it is not known whether it was done; only what is DONE is never done again."""

    DONE = "done"
    OPEN = "open"
    UNKNOWN = "unknown"


@frozen
class Item:
    """One item by its name, such as a recipient's address, with what there is to say, such as how it was delivered."""

    name: str
    state: ItemState = ItemState.DONE
    says: str = ""


Items = tuple[Item, ...]


def open_names(items: Iterable[Item]) -> tuple[str, ...]:
    """The items that are not done, in order."""
    return tuple(each.name for each in items if each.state is not ItemState.DONE)


def marked(names: Iterable[str]) -> Items:
    """Open items of which nothing else is known."""
    return tuple(Item(name, ItemState.OPEN) for name in names)


def rejoined(before: Items, now: Items, *, still_open: Iterable[str]) -> Items:
    """How all items stand once those that were open were tried again.

    What the later try says of one holds. Of what it does not name it did what is not `still_open`.
    """
    told, left = {each.name: each for each in now}, frozenset(still_open)
    joined = [told[each.name] if each.name in told else _after(each, is_open=each.name in left) for each in before]
    known = {each.name for each in before}
    return (*joined, *(each for each in now if each.name not in known))


def failed_again(before: Items, *, says: str, state: ItemState) -> Items:
    """How all items stand once trying the open ones again has failed as a whole."""
    return tuple(each if each.state is ItemState.DONE else Item(each.name, state, says) for each in before)


def _after(item: Item, *, is_open: bool) -> Item:
    return item if is_open or item.state is ItemState.DONE else Item(item.name)
