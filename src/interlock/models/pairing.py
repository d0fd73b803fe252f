"""Repairs a history before it is sent, so that every call in it is answered in the very next message, results first.

Providers whose turns are lists of blocks refuse a whole history for one call without a result, for good. A call that
was interrupted may have taken effect: the result that is put in says that nothing is known, and is marked as failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from interlock.models.conversation import Entry, Repaired
from interlock.models.strict import mappings

INTERRUPTED: Final = "This call was interrupted before its result came back. Whether it took effect is not known."


@dataclass(frozen=True, slots=True)
class Pairs:
    """How a provider spells a call, its result and text. The ids are empty for any other block."""

    call_id: Callable[[Mapping[str, object]], str]
    result_id: Callable[[Mapping[str, object]], str]
    result: Callable[[str, str], Entry]
    words: Callable[[str], Entry]


def paired(messages: Sequence[Mapping[str, object]], *, pairs: Pairs) -> Repaired:
    """The messages, with every call answered once and next. What was already right stays as it is.

    Results that answer no call of the message before them are dropped: providers refuse those too. What messages of the
    role `system` say, wherever they stand, is sent elsewhere.
    """
    system, messages = split_system(messages)
    repaired: list[Entry] = []
    waiting: list[str] = []
    for message in messages:
        if message.get("role") != "user":
            _answer(repaired, waiting, pairs=pairs)
            waiting = _calls(message, pairs=pairs) if message.get("role") == "assistant" else []
            repaired.append(message)
        else:
            repaired += _answered(message, waiting, pairs=pairs)
            waiting = []
    _answer(repaired, waiting, pairs=pairs)
    return Repaired(repaired, not waiting, system)


def split_system(messages: Sequence[Mapping[str, object]]) -> tuple[list[object], list[Entry]]:
    """What the messages of the role `system` say, wherever they stand, and the other messages."""
    said = [message.get("content") for message in messages if message.get("role") == "system"]
    return said, [dict(message) for message in messages if message.get("role") != "system"]


def merged(messages: Sequence[Mapping[str, object]], *, pairs: Pairs) -> list[Entry]:
    """The messages with neighbours of one role as one message, for providers that want the roles to take turns."""
    turns: list[Entry] = []
    for message in messages:
        blocks = _blocks(message, pairs=pairs)
        if turns and turns[-1].get("role") == message.get("role"):
            turns[-1] = turns[-1] | {"content": [*_blocks(turns[-1], pairs=pairs), *blocks]}
        else:
            turns.append(dict(message) | {"content": blocks})
    return turns


def _answer(repaired: list[Entry], waiting: Sequence[str], *, pairs: Pairs) -> None:
    if waiting:
        content = [pairs.result(call_id, INTERRUPTED) for call_id in waiting]
        repaired.append({"role": "user", "content": content})


def _answered(message: Entry, waiting: Sequence[str], *, pairs: Pairs) -> list[Entry]:
    blocks = _blocks(message, pairs=pairs)
    given = {pairs.result_id(block): block for block in reversed(blocks) if pairs.result_id(block)}
    if list(_in_order(blocks, pairs=pairs)) == list(waiting) and _results_first(blocks, pairs=pairs):
        return [message]
    answers = [given.get(call_id) or pairs.result(call_id, INTERRUPTED) for call_id in waiting]
    rest = [block for block in blocks if not pairs.result_id(block)]
    return [message | {"content": answers + rest}] if answers or rest else []


def _in_order(blocks: Iterable[Entry], *, pairs: Pairs) -> Iterable[str]:
    return (pairs.result_id(block) for block in blocks if pairs.result_id(block))


def _results_first(blocks: Sequence[Entry], *, pairs: Pairs) -> bool:
    first = [bool(pairs.result_id(block)) for block in blocks]
    return first == sorted(first, reverse=True)


def _calls(message: Mapping[str, object], *, pairs: Pairs) -> list[str]:
    return [pairs.call_id(block) for block in _blocks(message, pairs=pairs) if pairs.call_id(block)]


def _blocks(message: Mapping[str, object], *, pairs: Pairs) -> list[Entry]:
    content = message.get("content")
    return [pairs.words(content)] if isinstance(content, str) else [dict(block) for block in mappings(content)]
