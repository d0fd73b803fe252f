"""Joins neighbouring events of a stream that differ in a piece of text alone, so that they are read as one.

Models are streamed in thousands of small events that are equal but for a word, and reading each as JSON costs more than
all that is done with it. So one of many is made into a pattern: its own text, with gaps for the piece and for values
that nobody reads. What matches is JSON with the same members; a run of it is handed out as its last event, with the
pieces of all in it. What matches no pattern is handed out as it came.

That pieces are joined as they are spelled is exact: each ends where an escape does, and one with half of a surrogate
pair matches nothing. A dialect names the places whose pieces it does nothing with but string them together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from interlock.models.possessive import possessive

Path: TypeAlias = tuple[str | int, ...]
Span: TypeAlias = tuple[int, int]

WAIT_MIN: Final = 24
WAIT_MAX: Final = 4_096
PATTERNS_MAX: Final = 4
AHEAD_MIN: Final = 1
EVENT_CHARACTERS_MAX: Final = 4_096
_PLAIN: Final = possessive(r'[^"\\\x00-\x1f]*+')
_ESCAPE: Final = r'\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4})'
_TEXT: Final = possessive(f"{_PLAIN}(?:{_ESCAPE}{_PLAIN})*+")
_PIECE: Final = "(?P<piece>"
_COUNT: Final = r"(?:0|[1-9][0-9]{0,14})"
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Joint:
    """Where a dialect's events hold a piece that is strung together with the next one.

    `element` is the place of a list's only element, around the piece: then the elements are strung together, each with
    a piece of its own, instead of the texts.
    """

    text: Path
    element: Path = ()


@dataclass(frozen=True, slots=True)
class Joints:
    """All such places of a dialect. Of what is at or below `unread`, nothing counts but what was said last."""

    of_pieces: tuple[Joint, ...] = ()
    unread: tuple[Path, ...] = ()


@dataclass(slots=True)
class _Pattern:
    """What one event was made into. Each of its kind begins with `head`; `between` stands between joined pieces."""

    run: re.Pattern[str]
    one: re.Pattern[str]
    head: str
    between: str
    used: bool = False


class Joining:
    """What was learned from one stream. `patterns` are empty as long as that is nothing."""

    def __init__(self, joints: Joints) -> None:
        self._joints = joints
        self.patterns: list[_Pattern] = []
        self._wait = self._left = WAIT_MIN

    def joined(self, block: str, at: int) -> tuple[str, int] | None:
        """The run of two or more events that begins there, as one event, and where it ends."""
        for index, pattern in enumerate(self.patterns):
            found = pattern.run.match(block, at)
            if found is not None:
                if index:
                    self.patterns.insert(0, self.patterns.pop(index))
                if not pattern.used:
                    pattern.used, self._wait = True, WAIT_MIN
                one = _as_one(pattern, block, at=at, end=found.end())
                return None if one is None else (one, found.end())
        return None

    def saw(self, block: str, *, at: int, end: int) -> None:
        """An event that was handed out as it came. One of many is learned from, where the block may hold its like."""
        self._left -= 1
        if self._left > 0 or len(block) - end < AHEAD_MIN * (end - at):
            return
        pattern = _pattern(block[at:end], joints=self._joints) if end - at <= EVENT_CHARACTERS_MAX else None
        if pattern is not None:
            self.patterns = [pattern, *self.patterns[: PATTERNS_MAX - 1]]
        self._left, self._wait = self._wait, min(2 * self._wait, WAIT_MAX)


def _as_one(pattern: _Pattern, block: str, *, at: int, end: int) -> str | None:
    """The last event of a run, with the pieces of all; None where no event ends it, so that it is read as it came."""
    last = block.rfind(pattern.head, at, end)
    while last >= 0:
        found = pattern.one.fullmatch(block, last, end)
        if found is not None:
            pieces = pattern.between.join(pattern.one.findall(block, at, end))
            return block[last : found.start("piece")] + pieces + block[found.end("piece") : end]
        last = block.rfind(pattern.head, at, last + len(pattern.head) - 1)
    return None


def _pattern(event: str, *, joints: Joints) -> _Pattern | None:
    """The pattern of an event that holds one piece; none for any other, or one that cannot be told apart safely."""
    start = event.find("{")
    if start < 0 or "\n" in event[start:].rstrip("\n"):
        return None
    spans = dict(_places(event, start))
    held = [joint for joint in joints.of_pieces if _is_text(event, spans.get(joint.text))]
    if len(held) != 1:
        return None
    around = held[0].element
    if around and (around not in spans or (*around[:-1], 1) in spans):
        return None
    text, element = spans[held[0].text], spans[around] if around else None
    gaps = {_inside(text): _TEXT if element else f"{_PIECE}{_TEXT})"}
    for path, span in spans.items():
        if any(path[: len(place)] == place for place in joints.unread):
            gaps |= _gap(event, span)
    head = event[: min(gaps)[0]]
    if element:
        gaps |= {(element[0], element[0]): _PIECE, (element[1], element[1]): ")"}
    return _compiled(event, gaps, head=head, between="," if element else "")


def _compiled(event: str, gaps: dict[Span, str], *, head: str, between: str) -> _Pattern:
    one, run, done = "", "", 0
    for (begin, end), gap in sorted(gaps.items()):
        literal = re.escape(event[done:begin])
        one, run, done = one + literal + gap, run + literal + gap.replace(_PIECE, "(?:"), end
    literal = re.escape(event[done:])
    return _Pattern(re.compile(f"(?:{run}{literal})" + possessive("{2,}+")), re.compile(one + literal), head, between)


def _gap(event: str, span: Span) -> dict[Span, str]:
    """What may stand in place of a value that is not read: another text, another count."""
    if _is_text(event, span):
        return {_inside(span): _TEXT}
    return {span: _COUNT} if re.fullmatch(_COUNT, event[slice(*span)]) else {}


def _is_text(event: str, span: Span | None) -> bool:
    return span is not None and event[span[0]] == '"'


def _inside(span: Span) -> Span:
    return span[0] + 1, span[1] - 1


@dataclass(slots=True)
class _Open:
    """An object or a list whose end has not come yet, and the place in it: the member's name, or the number."""

    begin: int
    place: str | int | None


def _places(event: str, start: int) -> Iterator[tuple[Path, Span]]:
    """Where each value stands. What is no JSON gives places of no meaning, and is found to be none when it is read."""
    around: list[_Open] = []
    for token in _TOKEN.finditer(event, start):
        word = token[0]
        inner = around[-1] if around else None
        if word in "{[":
            around.append(_Open(token.start(), None if word == "{" else 0))
        elif word in "}]":
            if inner is None:
                return
            around.pop()
            yield _path(around), (inner.begin, token.end())
        elif inner is None:
            return
        elif word == ",":
            inner.place = inner.place + 1 if isinstance(inner.place, int) else None
        elif inner.place is None:
            inner.place = word[1:-1]
        elif word != ":":
            yield _path(around), token.span()


def _path(around: list[_Open]) -> Path:
    return tuple(each.place for each in around if each.place is not None)
