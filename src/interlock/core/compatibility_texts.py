"""Texts that match a pattern or a format, drawn from how it is written: for values that show where schemas differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

T = TypeVar("T")

FORMATTED: Final[Mapping[str, tuple[str, ...]]] = {
    "date": ("2026-11-30", "1999-01-01"),
    "date-time": ("2026-11-30T09:00:00Z", "1999-01-01T00:00:00+02:00"),
    "time": ("09:00:00Z", "23:59:59+01:00"),
    "duration": ("P1D", "PT5M"),
    "email": ("a@example.com", "b.c@example.org"),
    "idn-email": ("a@example.com", "ü@example.com"),
    "hostname": ("example.com", "a"),
    "idn-hostname": ("example.com", "a"),
    "ipv4": ("127.0.0.1", "10.1.2.3"),
    "ipv6": ("::1", "2001:db8::5"),
    "uri": ("https://example.com/a", "urn:a:b"),
    "uri-reference": ("/a", "https://example.com/a", "a"),
    "iri": ("https://example.com/ü", "urn:a:b"),
    "iri-reference": ("/ü", "https://example.com/a", "a"),
    "uuid": ("2eb8aa08-aa98-11ea-b4aa-73b441d16380", "00000000-0000-0000-0000-000000000000"),
    "uri-template": ("https://example.com/{a}", "a"),
    "json-pointer": ("/a/0", ""),
    "relative-json-pointer": ("0", "1/a"),
    "regex": ("^a+$", "a"),
}
"""Texts of each format; for each there are others that it refuses, such as a space alone or a lone bracket."""

_ANY: Final = ((32, 126),)
_CLASSES: Final[Mapping[str, tuple[tuple[int, int], ...]]] = {
    "d": ((48, 57),),
    "w": ((48, 57), (65, 90), (95, 95), (97, 122)),
    "s": ((32, 32), (9, 9)),
}
_CONTROL: Final[Mapping[str, str]] = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "0": "\0"}
_REPEAT_MAX: Final = 400


class Dice:
    """Choices that are the same each time: a linear congruential generator (Knuth's MMIX)."""

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = seed & (2**64 - 1)

    def below(self, bound: int) -> int:
        """A number from 0 to below the bound."""
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) & (2**64 - 1)
        return (self._state >> 33) % bound

    def pick(self, choices: Sequence[T]) -> T:
        """One of the choices."""
        return choices[self.below(len(choices))]


def matching(pattern: str, dice: Dice) -> str | None:
    """A text that ought to match; None for a pattern with words that are not known here."""
    try:
        return _Reader(pattern, dice).whole()
    except (_Unreadable, IndexError, ValueError):
        return None


class _Unreadable(Exception):
    """A construct that is not known here."""


class _Reader:
    """Reads a pattern and writes a text beside it, one choice at a time."""

    def __init__(self, pattern: str, dice: Dice) -> None:
        self._pattern = pattern
        self._at = 0
        self._dice = dice

    def whole(self) -> str:
        text = self._alternatives()
        if self._at < len(self._pattern):
            raise _Unreadable
        return text

    def _peek(self) -> str:
        return self._pattern[self._at] if self._at < len(self._pattern) else ""

    def _next(self) -> str:
        self._at += 1
        return self._pattern[self._at - 1]

    def _alternatives(self) -> str:
        found = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            found.append(self._sequence())
        return self._dice.pick(found)

    def _sequence(self) -> str:
        parts = []
        while self._peek() not in ("", "|", ")"):
            parts.append(self._repeated())
        return "".join(parts)

    def _repeated(self) -> str:
        begin = self._at
        first = self._atom()
        least, most = self._times()
        few = min(most - least, 3) if self._dice.below(4) else most - least
        times = least + (few if few > 3 and self._dice.below(2) else self._dice.below(max(1, few + 1)))
        parts = [first] if times else []
        for _ in range(min(times, _REPEAT_MAX) - 1):
            self._at, after = begin, self._at
            parts.append(self._atom())
            self._at = after
        return "".join(parts)

    def _times(self) -> tuple[int, int]:
        sign = self._peek()
        least, most = {"*": (0, 9), "+": (1, 9), "?": (0, 1)}.get(sign, (1, 1))
        if sign in ("*", "+", "?") and sign:
            self._at += 1
        elif sign == "{":
            close = self._pattern.index("}", self._at)
            low, comma, high = self._pattern[self._at + 1 : close].partition(",")
            least, self._at = int(low), close + 1
            most = int(high) if high else least + (9 if comma else 0)
        else:
            return 1, 1
        if self._peek() == "?":
            self._at += 1
        return least, most

    def _atom(self) -> str:
        char = self._next()
        if char in "^$":
            return ""
        if char == "(":
            return self._group()
        if char == "[":
            return self._of(*self._bracket())
        if char == ".":
            return self._of(_ANY, False)
        return self._of(*self._escape()) if char == "\\" else char

    def _group(self) -> str:
        if self._peek() == "?":
            head = self._pattern[self._at : self._at + 2]
            if head != "?:" and head not in ("?P", "?<"):
                raise _Unreadable
            self._at = self._at + 2 if head == "?:" else self._pattern.index(">", self._at) + 1
        text = self._alternatives()
        if self._next() != ")":
            raise _Unreadable
        return text

    def _escape(self) -> tuple[tuple[tuple[int, int], ...], bool]:
        char = self._next()
        if char.lower() in _CLASSES:
            return _CLASSES[char.lower()], char.isupper()
        if char in ("x", "u"):
            digits = 2 if char == "x" else 4
            code = int(self._pattern[self._at : self._at + digits], 16)
            self._at += digits
            return ((code, code),), False
        if char.isalnum() and char not in _CONTROL:
            raise _Unreadable
        code = ord(_CONTROL.get(char, char))
        return ((code, code),), False

    def _bracket(self) -> tuple[tuple[tuple[int, int], ...], bool]:
        excluded = self._peek() == "^"
        self._at += excluded
        ranges: list[tuple[int, int]] = []
        while self._peek() != "]" or not ranges:
            low = self._one()
            if len(low) == 1 and self._peek() == "-" and self._pattern[self._at + 1] != "]":
                self._at += 1
                ranges.append((low[0][0], self._one()[0][1]))
            else:
                ranges.extend(low)
        self._at += 1
        return tuple(ranges), excluded

    def _one(self) -> tuple[tuple[int, int], ...]:
        char = self._next()
        if char != "\\":
            return ((ord(char), ord(char)),)
        ranges, excluded = self._escape()
        if excluded:
            raise _Unreadable
        return ranges

    def _of(self, ranges: tuple[tuple[int, int], ...], excluded: bool) -> str:
        if excluded:
            left = [code for code in range(32, 127) if not any(low <= code <= high for low, high in ranges)]
            return chr(self._dice.pick(left or [0x4E00]))
        low, high = self._dice.pick(ranges)
        return chr(low + self._dice.below(high - low + 1))
