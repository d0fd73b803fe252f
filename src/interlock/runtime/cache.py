"""Gives a result of a read again, where its tool allows that, and has those who ask for the same at once wait for one.

Entries are the bytes of observations, kept in this process alone; whether one still holds is told by the store's counts
of effects (`core.cache`), which every decision reads. Errors are never kept.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from interlock.core.cache import CacheKey, cache_key, generation, touches, types_read_by
from interlock.core.decision import Allow
from interlock.core.facts import Facts
from interlock.core.frozen import frozen
from interlock.core.observation import Observation, Status, to_bytes
from interlock.core.operation import Operation
from interlock.core.outcome import Failed
from interlock.ports import StoredOperation
from interlock.runtime.execute import Flight
from interlock.runtime.views import Views
from interlock.runtime.world import World
from interlock.settings import Settings

Generation = tuple[int, ...]
Fetch = Callable[[Operation, Flight], Awaitable[Mapping[str, str] | Failed]]
"""Fetches the credentials that a tool is given."""

BESIDE_BYTES = 1_024
"""What an entry takes beside its result, its arguments and who it is for."""


COUNTED_MAX = 4_096
"""How many tenants, with what they read, are remembered as having no uncounted effect."""


@frozen
class Kept:
    """A result that is given again, and its age in seconds."""

    observation: bytes
    age_s: float


@dataclass(frozen=True, slots=True)
class _Entry:
    """One result. Times are on the event loop's clock, `size_bytes` counts what it is found by too."""

    observation: bytes
    generation: Generation
    at_s: float
    until_s: float
    size_bytes: int


@dataclass(slots=True)
class Lead:
    """Who reads for all that ask for the same. `seen` is what it came to; without a key nobody else waits for it."""

    key: CacheKey | None = None
    generation: Generation = ()
    at_s: float = 0.0
    seen: Observation | None = None


class ReadCache:
    """What this process has read and may give again, the least used thrown out first. Owned by the gate."""

    def __init__(self, world: World, settings: Settings, *, fetch: Fetch, views: Views) -> None:
        self._clock = world.clock
        self._recovery = world.recovery
        self._views = views
        self._counted: set[tuple[str, tuple[str, ...]]] = set()
        self._fetch = fetch
        self._bytes_max = settings.cache_bytes_max
        self._salt = world.entropy.bytes(16)
        self._entries: OrderedDict[CacheKey, _Entry] = OrderedDict()
        self._bytes = 0
        self._leads: dict[CacheKey, asyncio.Event] = {}

    async def find(self, operation: Operation, facts: Facts, allow: Allow, *, until_s: float) -> Kept | Lead:
        """What is given again, or the lead of who has to read it; who asks for the same meanwhile waits for it."""
        now = generation(facts.effects)
        if now is None or allow.grant is not None or not await self._is_counted(operation):
            return Lead()
        credentials = await self._credentials(operation, until_s=until_s)
        if credentials is None:
            return Lead()
        key = cache_key(operation, facts, allow.verdict, credentials=credentials)
        while True:
            kept = self._kept(key, now)
            if kept is not None:
                return kept
            lead = self._leads.get(key)
            if lead is None:
                self._leads[key] = asyncio.Event()
                return Lead(key, now, self._clock.monotonic_s())
            try:
                await asyncio.wait_for(lead.wait(), max(0.0, until_s - self._clock.monotonic_s()))
            except TimeoutError:
                return Lead()

    @contextmanager
    def leading(self, lead: Lead, operation: Operation) -> Iterator[None]:
        """Read; what came of it, in `lead.seen`, is kept if it may be, and who waited looks."""
        try:
            yield
        finally:
            if lead.key is not None:
                self._keep(lead.key, lead, operation)
                self._leads.pop(lead.key).set()

    async def _is_counted(self, operation: Operation) -> bool:
        """Whether no effect is on its way that began before anything cached what it touches: no count tells of that.

        Once there is none there never will be, since every claim is made under the epoch of today.
        """
        tenant, types = operation.caller.principal.tenant, types_read_by(operation.spec)
        if (tenant, types) in self._counted:
            return True
        for call in await self._recovery.open_calls(tenant):
            if call.operation.key is not None and self._touches(call.operation, types):
                return False
        if len(self._counted) >= COUNTED_MAX:
            self._counted.clear()
        self._counted.add((tenant, types))
        return True

    def _touches(self, stored: StoredOperation, types: tuple[str, ...]) -> bool:
        catalogue = self._views.current.catalogue
        tool = catalogue.versions.get(stored.spec_digest) or catalogue.find(stored.tenant, stored.tool)
        return tool is None or touches(tool.spec, types)

    def _kept(self, key: CacheKey, now: Generation) -> Kept | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        time_s = self._clock.monotonic_s()
        if entry.generation != now or time_s >= entry.until_s:
            self._drop(key)
            return None
        self._entries.move_to_end(key)
        return Kept(entry.observation, time_s - entry.at_s)

    def _keep(self, key: CacheKey, lead: Lead, operation: Operation) -> None:
        rule, seen = operation.spec.cache, lead.seen
        if rule is None or seen is None or seen.status is not Status.OK:
            return
        data = to_bytes(seen)
        size = len(data) + len(key.arguments) + len(key.principal) + BESIDE_BYTES
        if size > self._bytes_max:
            return
        self._drop(key)
        self._entries[key] = _Entry(data, lead.generation, lead.at_s, lead.at_s + rule.lifetime_s, size)
        self._bytes += size
        while self._bytes > self._bytes_max:
            self._drop(next(iter(self._entries)))

    def _drop(self, key: CacheKey) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._bytes -= entry.size_bytes

    async def _credentials(self, operation: Operation, *, until_s: float) -> bytes | None:
        """A fingerprint of the credentials that the tool would be given; None: they cannot be told."""
        if not operation.spec.secrets:
            return b""
        found = await self._fetch(operation, Flight(until_s))
        if isinstance(found, Failed):
            return None
        text = "\x1f".join(f"{name}\x1e{found[name]}" for name in sorted(found))
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=self._salt).digest()
