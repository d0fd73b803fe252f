"""The messages of a conversation, which grow at their end and nowhere else, with how far a codec has looked at them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class Conversation(list[dict[str, object]]):
    """Messages in order. The first `paired` are known to need no repair, and to leave no call without a result.

    So each request looks at what was added since the last, and a long run costs as much a turn as a short one. Belongs
    to one codec; who changes a message that is there, or takes one away, makes a new one.
    """

    __slots__ = ("paired",)

    def __init__(self, messages: Iterable[dict[str, object]] = ()) -> None:
        super().__init__(messages)
        self.paired = 0

    def add_whole(self, messages: Sequence[dict[str, object]]) -> None:
        """Add what a codec has made of one turn: the turn, and a result for each of its calls."""
        is_paired = self.paired == len(self)
        self += messages
        if is_paired:
            self.paired = len(self)
