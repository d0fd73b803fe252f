"""Keeps a long text while it comes, cleaned and redacted, so that no more of it than some parts is ever in memory.

What is hidden may straddle two pieces. So the end of what came is held back, and cut off only where redacting both
sides gives the same as redacting the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from interlock.core.artifact import PART_BYTES, TEXT
from interlock.core.outcome import Whole
from interlock.core.redaction import Redactor
from interlock.core.text import clean
from interlock.ports import Artifacts, Clock

HELD_BACK: Final = 16_384
"""How many characters are held back: as long as anything that is hidden."""

CUTS_MAX: Final = 8
"""How many places are tried for a cut before one is made anyway, at the first."""

UNCLEANED: Final = 16
"""How many characters wait to be cleaned: as long as any sequence in which an invisible character is kept."""

STREAM_CHARS_MAX: Final = 1 << 30
"""The most that one result may have."""


class TooLong(Exception):
    """It goes on beyond what one result may have."""


@dataclass(slots=True)
class Spool:
    """One text on its way. The first `shown_max` characters of it are kept to be shown.

    It is looked at `at_once` characters at a time, and `held_back` of them wait for what comes next.
    """

    artifacts: Artifacts
    tenant: str
    handle: str
    at_us: int
    redactor: Redactor
    shown_max: int
    at_once: int = PART_BYTES
    held_back: int = HELD_BACK
    _came: int = 0
    _beginning: str = ""
    _raw: str = ""
    _held: str = ""
    _part: bytearray = field(default_factory=bytearray)
    _number: int = 0
    _size_bytes: int = 0

    @property
    def shown(self) -> str:
        """The beginning; where more came, with nothing at its end that would be hidden were it not cut."""
        shown = self._beginning[: self.shown_max]
        if self._came <= self.shown_max:
            return shown
        safe = self.redactor.text(clean(self._beginning).text)
        return shown if safe.startswith(self.redactor.text(clean(shown).text)) else safe[: self.shown_max]

    async def write(self, text: str) -> None:
        """Some more of it. Raises `TooLong`."""
        self._came += len(text)
        if self._came > STREAM_CHARS_MAX:
            raise TooLong
        if len(self._beginning) < self.shown_max + self.held_back:
            self._beginning += text[: self.shown_max + self.held_back - len(self._beginning)]
        self._raw += text
        ready = self._raw[:-UNCLEANED].removesuffix("\r")
        self._raw = self._raw[len(ready) :]
        self._held += clean(ready).text
        while len(self._held) > self.at_once + self.held_back:
            cut = self._cut()
            await self._keep(self.redactor.text(self._held[:cut]))
            self._held = self._held[cut:]

    async def end(self) -> Whole | None:
        """All of it is there. None where it is no longer than what is shown."""
        if self._came <= self.shown_max:
            return None
        await self._keep(self.redactor.text(self._held + clean(self._raw).text))
        if self._part:
            await self._append(bytes(self._part))
        return Whole(TEXT, self._size_bytes, handle=self.handle)

    def _cut(self) -> int:
        """Where the beginning of what is held can be cut off without cutting through what is hidden.

        Where there is no such place near, what is hidden has no end: then at least no known secret is cut.
        """
        first = len(self._held) - self.held_back
        around = max(0, first - CUTS_MAX * self.held_back)
        whole = self.redactor.text(self._held[around:])
        for cut in range(first, around, -self.held_back):
            for near in self._near(cut, around, whole):
                if around < near < len(self._held) and "".join(self._redacted(near, around)) == whole:
                    return near
        return self.redactor.outside_known(self._held, first) or first

    def _near(self, cut: int, around: int, whole: str) -> Iterator[int]:
        """The place, and where what it cuts through begins and ends: there redacting a side alone begins to differ."""
        yield cut
        before, after = self._redacted(cut, around)
        yield cut - (len(before) - _in_common(before, whole))
        yield cut + (len(after) - _in_common(after[::-1], whole[::-1]))

    def _redacted(self, cut: int, around: int) -> tuple[str, str]:
        return self.redactor.text(self._held[around:cut]), self.redactor.text(self._held[cut:])

    async def _keep(self, text: str) -> None:
        self._part += text.encode("utf-8", "replace")
        while len(self._part) >= PART_BYTES:
            await self._append(bytes(self._part[:PART_BYTES]))
            del self._part[:PART_BYTES]

    async def _append(self, data: bytes) -> None:
        await self.artifacts.append(self.tenant, self.handle, number=self._number, data=data, at_us=self.at_us)
        self._number += 1
        self._size_bytes += len(data)


def _in_common(one: str, other: str) -> int:
    """How many characters both begin with."""
    same, most = 0, min(len(one), len(other))
    while same < most:
        middle = (same + most + 1) // 2
        same, most = (middle, most) if one[same:middle] == other[same:middle] else (same, middle - 1)
    return same


@dataclass(frozen=True, slots=True)
class Spools:
    """Opens spools on the store of this gate."""

    artifacts: Artifacts
    clock: Clock
    new_id: Callable[[], str]

    def open(self, tenant: str, *, redactor: Redactor, shown_max: int) -> Spool:
        """One for a result that is about to come."""
        return Spool(self.artifacts, tenant, self.new_id(), self.clock.now_us(), redactor, shown_max)
