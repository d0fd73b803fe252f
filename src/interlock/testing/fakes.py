"""Twins of the ports that a host provides, for tests: a clock to be moved, known randomness, people, secrets, facts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from interlock.core.call import Principal
from interlock.core.canonical import Json
from interlock.core.operation import Operation

START_US = 1_764_460_800_000_000


class FakeClock:
    """A clock that stands still until it is moved. `sleep` moves it, and lets everything else go one step.

    Its monotonic side is the event loop's, moved along: deadlines are met by moving it, while a timeout around a tool
    that hangs still needs the loop's own time to pass.
    """

    def __init__(self, now_us: int = START_US) -> None:
        self._start_us = now_us
        self._moved_us = 0

    def now_us(self) -> int:
        """Microseconds since 1970 UTC."""
        return self._start_us + self._moved_us

    def monotonic_s(self) -> float:
        """The event loop's time, and what the clock was moved."""
        return asyncio.get_running_loop().time() + self._moved_us / 1_000_000

    def advance(self, seconds: float) -> None:
        """Move it."""
        self._moved_us += round(seconds * 1_000_000)

    async def sleep(self, seconds: float) -> None:
        """Move it, and let others run."""
        self.advance(seconds)
        await asyncio.sleep(0)


class SeededEntropy:
    """The same bytes for the same seed, in the same order. Guessable: for tests only."""

    def __init__(self, seed: str = "") -> None:
        self._seed = seed.encode()
        self._drawn = 0

    def bytes(self, count: int) -> bytes:
        """So many bytes, different at each draw."""
        out = bytearray()
        while len(out) < count:
            out += sha256(b"%b %d" % (self._seed, self._drawn)).digest()
            self._drawn += 1
        return bytes(out[:count])


@dataclass(slots=True)
class FakePrincipals:
    """Who principals are today, by id; one who is set to None is no longer known, all others are as they were."""

    today: dict[str, Principal | None] = field(default_factory=dict)

    async def current(self, principal: Principal) -> Principal | None:
        """The principal as of now."""
        return self.today.get(principal.id, principal)


@dataclass(slots=True)
class FakeSecrets:
    """Secrets by name, and for whom they were asked."""

    values: Mapping[str, str]
    asked: list[tuple[str, str]] = field(default_factory=list)

    async def fetch(self, names: tuple[str, ...], principal: Principal) -> Mapping[str, str]:
        """Those of the named that there are."""
        self.asked += [(name, principal.id) for name in names]
        return {name: self.values[name] for name in names if name in self.values}


@dataclass(slots=True)
class FakeFacts:
    """Facts by name, to be changed at will. With `late` set they do not arrive until it is: they are late."""

    values: dict[str, Json] = field(default_factory=dict)
    late: asyncio.Event | None = None

    async def fetch(self, names: frozenset[str], operation: Operation) -> Mapping[str, Json]:
        """Those of the named that there are."""
        if self.late is not None:
            await self.late.wait()
        return {name: value for name, value in self.values.items() if name in names}
