"""The messages of a conversation, which grow at their end and nowhere else, with how far a codec has looked at them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

Entry = dict[str, object]


class Repaired(NamedTuple):
    """Messages as they are sent: `entries`, and `system`, what is sent elsewhere of them. `is_whole`: each call in them
    has its result, so that nothing that comes later changes how they are sent."""

    entries: list[Entry]
    is_whole: bool
    system: list[object]


Repair = Callable[[Sequence[Mapping[str, object]]], Repaired]
Join = Callable[[list[Entry]], list[Entry]]


class Conversation(list[Entry]):
    """Messages in order. Of the first `looked` is known how they are sent: `sent` and `system`.

    So each request looks at what was added since the last, and a long run costs as much a turn as a short one. Belongs
    to one codec; who changes a message that is there, or takes one away, makes a new one.
    """

    __slots__ = ("looked", "sent", "system")

    def __init__(self, messages: Iterable[Entry] = ()) -> None:
        super().__init__(messages)
        self.looked = 0
        self.sent: list[Entry] = []
        self.system: list[object] = []


def as_sent(messages: Sequence[Mapping[str, object]], *, repair: Repair, join: Join | None = None) -> Repaired:
    """All messages as they are sent; of a conversation only what was added since is repaired, where that is whole.

    `join` is what becomes of the last that was sent before and what follows it, where that is not left as it is.
    """
    if isinstance(messages, Conversation):
        found = repair(messages[messages.looked :])
        if found.is_whole:
            sent = messages.sent
            sent[-1:] = [*sent[-1:], *found.entries] if join is None else join([*sent[-1:], *found.entries])
            messages.system += found.system
            messages.looked = len(messages)
            return Repaired([*sent], True, [*messages.system])
    return repair(messages)
