"""What a PostgreSQL store reads without writing: looks in groups, the rest each for itself, on a few connections.

Looks that wait at the same moment are answered by one trip, as one consistent read.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final, TypeVar

import orjson
import psycopg

from interlock.core.budget import Amounts, Counted, ScopeKey, Usage
from interlock.core.effect import CallState
from interlock.core.errors import StoreClosed, StoreError
from interlock.core.facts import Prior
from interlock.core.run import RunFacts
from interlock.ports import Look, Seen
from interlock.store.books import UNUSED
from interlock.store.postgres_arrays import blobs
from interlock.store.postgres_glimpses import Glimpses
from interlock.store.postgres_line import Line, Row, Step, shown
from interlock.store.postgres_rows import NOBODY, open_sealed, place_of, place_of_scope
from interlock.store.rows import read_labels, read_run
from interlock.store.rules import is_key_over
from interlock.store.seal import Seal

T = TypeVar("T")


LINES_MAX: Final = 4
FREE_WITHIN_S: Final = 5.0
PATIENCE_S: Final = 15.0

_PAUSE_S: Final = 0.05


class Reader:
    """Owns the connections that read."""

    def __init__(self, url: str, *, seal: Seal, glimpses: Glimpses | None = None) -> None:
        self._url = url
        self._seal = seal
        self._glimpses = glimpses or Glimpses()
        self._is_closed = False
        self._free: list[Line] = []
        self._places = asyncio.Semaphore(LINES_MAX)
        self._looks: list[tuple[Look, asyncio.Future[Seen]]] = []
        self._asked: list[tuple[Look, asyncio.Future[Seen]]] = []
        self._task: asyncio.Task[None] | None = None

    async def close(self) -> None:
        """Answer what waits, and let go of all connections."""
        if self._task is not None:
            await asyncio.wait([self._task])
        self._is_closed = True
        for line in self._free:
            await line.close()

    async def trip(self, *steps: Step) -> list[list[Row]]:
        """The rows of each step, whatever it takes within the time. Raises `StoreError`."""
        return await self.on_line(lambda line: line.trip(*steps))

    async def on_line(self, read: Callable[[Line], Awaitable[T]]) -> T:
        """Read, and again where the connection was lost: reading twice changes nothing."""
        until_s = time.monotonic() + PATIENCE_S
        while True:
            try:
                async with self._line() as line:
                    return await read(line)
            except psycopg.Error as fault:
                if not isinstance(fault, psycopg.OperationalError) or time.monotonic() > until_s:
                    raise StoreError(f"the database at {shown(self._url)} does not answer: {_reason(fault)}") from fault
                await asyncio.sleep(_PAUSE_S)

    @asynccontextmanager
    async def _line(self) -> AsyncIterator[Line]:
        """A connection that nobody else uses meanwhile. Raises `StoreError` where none becomes free."""
        try:
            async with asyncio.timeout(FREE_WITHIN_S):
                await self._places.acquire()
        except TimeoutError as busy:
            raise StoreError(f"all {LINES_MAX} connections that read are busy for {FREE_WITHIN_S:g} s") from busy
        try:
            line = self._free.pop() if self._free else await Line.open(self._url)
            try:
                yield line
            finally:
                await self._give_back(line)
        finally:
            self._places.release()

    async def _give_back(self, line: Line) -> None:
        """Keep it where it is of use again."""
        if not line.is_broken:
            with suppress(psycopg.Error):  # what cannot be rolled back is broken
                await line.roll_back()
        if line.is_broken or self._is_closed:
            await line.close()
        else:
            self._free.append(line)

    # --- looks --------------------------------------------------------------------------------------------------------

    async def look(self, look: Look) -> Seen:
        """One look, in a trip with all others that wait."""
        answer: asyncio.Future[Seen] = asyncio.get_running_loop().create_future()
        self._looks.append((look, answer))
        if self._task is None:
            self._task = asyncio.create_task(self._answer())
            self._task.add_done_callback(self._ended)
        return await answer

    async def _answer(self) -> None:
        # What else became ready in the round of the loop that began this waits by now, for the same trip.
        while self._looks:
            self._asked, self._looks = self._looks, []
            try:
                found: list[Seen | StoreError] = [*await self._seen([look for look, _ in self._asked])]
            except StoreError as fault:
                found = [fault] * len(self._asked)
            for (_, answer), seen in zip(self._asked, found, strict=True):
                _resolve(answer, result=seen)
        self._task = None

    def _ended(self, task: asyncio.Task[None]) -> None:
        """If a fault has stopped it, nobody may wait for ever."""
        fault = None if task.cancelled() else task.exception()
        if fault is None and not task.cancelled():
            return
        self._task = None
        for _, answer in (*self._asked, *self._looks):
            _resolve(answer, result=StoreClosed(f"the store stopped reading: {fault or 'its event loop ended'}"))
        self._looks = []

    async def _seen(self, looks: list[Look]) -> list[Seen]:
        keys = {place_of(look.tenant, look.key) for look in looks if look.key is not None}
        runs = {place_of(look.tenant, look.run) for look in looks if look.run is not None}
        scopes = {place_of_scope(scope) for look in looks for scope in look.scopes}
        steps: list[Step] = []
        for name, places in (("select_prior", keys), ("select_usage", scopes), ("select_runs", runs)):
            if places:
                steps.append((name, (blobs(sorted(places)),)))
        if len(steps) > 1:
            steps = [("one_moment", ()), *steps, ("commit", ())]
        rows = dict(zip((name for name, _ in steps), await self.trip(*steps) if steps else [], strict=True))
        priors = {row[0]: row[1:] for row in rows.get("select_prior", ())}
        usage = {row[0]: Usage(Amounts(*row[1:7]), Amounts(*row[7:])) for row in rows.get("select_usage", ())}
        by_run = {row[0]: row[1:] for row in rows.get("select_runs", ())}
        self._glimpses.keys(keys, taken=priors)
        return [Seen(self._prior(look, priors), self._run(look, by_run), self._usage(look, usage)) for look in looks]

    def _usage(self, look: Look, rows: dict[bytes, Usage]) -> tuple[Counted, ...]:
        found: dict[ScopeKey, Counted] = {scope: rows.get(place_of_scope(scope), UNUSED) for scope in look.scopes}
        self._glimpses.used(found)
        return tuple([found[scope] for scope in look.scopes])

    def _prior(self, look: Look, rows: dict[bytes, Row]) -> Prior | None:
        row = None if look.key is None else rows.get(place_of(look.tenant, look.key))
        if row is None:
            return None
        tenant, operation_id, name, owner, sealed, at_us, settled_us, until_us, labels, head, lives = row
        state = CallState(name)
        if is_key_over(state, until_us=until_us, at_us=look.at_us):
            return None
        known = orjson.loads(head)
        return Prior(
            operation_id,
            known["tool"],
            known["model_digest"],
            state,
            open_sealed(self._seal, place=(tenant, operation_id), sealed=sealed),
            at_us if settled_us is None else settled_us,
            read_labels(labels),
            goes_on=state is CallState.UNKNOWN and owner != NOBODY and lives,
        )

    def _run(self, look: Look, rows: dict[bytes, Row]) -> RunFacts | None:
        if look.run is None:
            return None
        row = rows.get(place_of(look.tenant, look.run))
        if row is None:
            self._glimpses.run((look.tenant, look.run), None)
            return RunFacts(look.run)
        version, facts, ended = row
        found = read_run(look.run, version=version, facts=facts, ended=ended)
        self._glimpses.run((look.tenant, look.run), found)
        return found


def _resolve(answer: asyncio.Future[Seen], *, result: Seen | StoreError) -> None:
    if answer.done():
        return
    if isinstance(result, StoreError):
        answer.set_exception(result)
    else:
        answer.set_result(result)


def _reason(fault: Exception) -> str:
    return str(fault).strip().partition("\n")[0] or type(fault).__name__
