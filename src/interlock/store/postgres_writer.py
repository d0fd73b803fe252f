"""Writes in groups: everything that waits goes into one transaction on one connection.

    write(op) -> queue -> which rows do the ops need? -> begin and read -> carry out -> write and commit -> answers
                                                         one trip                       one trip

Ops that need no row are begun, written and committed in a single trip. An op that fails its guard, or raises, writes
nothing, and the others do. A batch has a number, which only this owner's next can have and which is committed with it:
after a lost connection the number on the server says whether the batch was written. So a batch is never sent again that
may have been, and one that was not cannot be any more.
"""

from __future__ import annotations

import asyncio
import struct
import time
from collections import deque
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

import psycopg
from psycopg import errors

from interlock.core.errors import StoreClosed, StoreError
from interlock.ports import Look, Seen
from interlock.store.postgres_assumed import assumed
from interlock.store.postgres_bell import Bell
from interlock.store.postgres_lease import PostgresLease
from interlock.store.postgres_line import Line, Step, shown
from interlock.store.postgres_open import move_in
from interlock.store.postgres_ops import OP_FAULTS, Alone, Nothing, Op, carried_out
from interlock.store.postgres_sheet import Desk, Needs, Sheet
from interlock.store.seal import Seal

T = TypeVar("T")

BATCH_MAX: Final = 256
PATIENCE_S: Final = 15.0
TRIES_MAX: Final = 50

DOUBTS: Final = 8
"""How many batches read first once something was not as it was assumed: where processes contend, it seldom is."""

_PAUSE_S: Final = 0.02
_PAUSE_MAX_S: Final = 0.5
_READS_MAX: Final = 4
_LEASE_LOST, _BATCH_PASSED = "IL001", "IL002"

CommitObserver = Callable[[str, tuple[str, ...]], None]
"""Told "before" and "after" each commit, with the names of its ops."""

_RACES = (errors.UniqueViolation, errors.DeadlockDetected, errors.SerializationFailure)


class _Gone(Exception):
    """The rows are not those that they were taken for: read again."""


@dataclass(slots=True, eq=False)
class _Waiting:
    """One write that waits, and who waits for it. It has an `op`, or is one that is `alone`."""

    name: str
    op: Op[object] | None
    alone: Alone[object] | None
    answer: asyncio.Future[Any]


@dataclass(slots=True)
class _Sent:
    """A batch of which a commit was sent and not answered. `is_written`: the server has said since that it is."""

    sheet: Sheet
    results: list[object]
    is_written: bool = False


class Writer:
    """Owns the connection that writes. Belongs to the event loop that it was made on."""

    def __init__(self, url: str, *, desk: Desk, line: Line, chain: str, span_s: float) -> None:
        self.desk = desk
        self.lease = PostgresLease(url, span_s=span_s, lost=self._lost)
        self.on_commit: CommitObserver | None = None
        self.bell: Bell | None = None
        self._url = url
        self._chain = chain
        self._span_s = span_s
        self._line: Line | None = line
        self._sent: _Sent | None = None
        self._unsure = False
        self._doubts = 0
        self._queue: deque[_Waiting] = deque()
        self._current: list[_Waiting] = []
        self._answered: list[_Waiting] = []
        self._task: asyncio.Task[None] | None = None
        self._stopped: StoreClosed | None = None

    @staticmethod
    async def open(url: str, *, chain: str, seal: Seal, span_s: float) -> Writer:
        """Move in, and be at work from now on."""
        async with AsyncExitStack() as undo:
            line = await Line.open(url)
            undo.push_async_callback(line.close)
            asked_s = time.monotonic()
            desk = await move_in(line, chain=chain, seal=seal, lease_s=span_s)
            undo.pop_all()
        writer = Writer(url, desk=desk, line=line, chain=chain, span_s=span_s)
        writer.lease.begin(desk.owner, ends_s=asked_s + span_s)
        return writer

    def check(self) -> None:
        """Raises `StoreClosed` once it was closed."""
        if self._stopped is not None:
            raise self._stopped

    def guess(self, look: Look) -> Seen | None:
        """What a look would see, as was seen in passing; None where that is not enough, or has failed of late."""
        return None if self._doubts else self.desk.glimpses.guess(look)

    async def write(self, name: str, op: Op[T]) -> T:
        """Carry it out in one of the next transactions; its result once that is durable, whoever waits for it."""
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._enqueue(_Waiting(name, op, None, answer))
        return await answer

    async def write_alone(self, name: str, op: Alone[T]) -> T:
        """The same in a transaction of its own."""
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._enqueue(_Waiting(name, None, op, answer))
        return await answer

    async def close(self) -> None:
        """Refuse everything that comes from now on, and carry out what waits."""
        self._stopped = self._stopped or StoreClosed("the store is closed")
        while self._task is not None:
            await asyncio.wait([self._task])
        if self.bell is not None:
            await self.bell.close()
        await self.lease.close()
        if self._line is not None:
            await self._line.close()

    # --- the queue ----------------------------------------------------------------------------------------------------

    def _enqueue(self, waiting: _Waiting) -> None:
        self.check()
        self._queue.append(waiting)
        if self._task is None:
            self._task = asyncio.create_task(self._work())
            self._task.add_done_callback(self._ended)

    async def _work(self) -> None:
        # What else became ready in the round of the loop that began this is in the queue, for the same transaction.
        while self._queue:
            self._current = self._next()
            results = await self._answers(self._current)
            if self._answered is not self._current:
                self._tell(self._current, results)
                await asyncio.sleep(0)  # those who were answered may have more to write
        self._task = None

    def _tell(self, batch: list[_Waiting], results: list[object]) -> None:
        for waiting, result in zip(batch, results, strict=True):
            _resolve(waiting.answer, result=result)
        self._answered = batch

    def _next(self) -> list[_Waiting]:
        """As many as may share a transaction."""
        batch = [self._queue.popleft()]
        while self._queue and len(batch) < BATCH_MAX and batch[0].op and self._queue[0].op:
            batch.append(self._queue.popleft())
        return batch

    async def _answers(self, batch: list[_Waiting]) -> list[object]:
        """Results, or exceptions in their place, in order."""
        try:
            return await self._patiently(batch)
        except StoreError as fault:
            return [fault] * len(batch)
        except (psycopg.Error, UnicodeEncodeError, ArithmeticError, struct.error) as fault:
            await self._roll_back()
            if len(batch) > 1:
                # One of them cannot be written, whatever it is; the others can.
                return [(await self._answers([each]))[0] for each in batch]
            return [StoreError(f"the database refused a write: {_reason(fault)}")]

    def _ended(self, task: asyncio.Task[None]) -> None:
        """If a fault has stopped the work, nobody may wait for ever."""
        fault = None if task.cancelled() else task.exception()
        if fault is None and not task.cancelled():
            return
        self._task = None
        self._stopped = self._stopped or StoreClosed(f"the store stopped: {fault or 'its event loop ended'}")
        for waiting in (*self._current, *self._queue):
            _resolve(waiting.answer, result=self._stopped)
        self._queue.clear()

    # --- one batch, whatever comes ------------------------------------------------------------------------------------

    async def _patiently(self, batch: list[_Waiting]) -> list[object]:
        """Try until it is written, or it is known that it is not and will not be."""
        until_s, pause_s, races = time.monotonic() + PATIENCE_S, _PAUSE_S, 0
        while True:
            try:
                return await self._tried(batch)
            except (*_RACES, _Gone) as race:
                races, self._doubts = races + 1, DOUBTS
                if races == TRIES_MAX:
                    raise StoreError("other processes kept changing the same rows; try again") from race
                await self._refused()
            except psycopg.Error as fault:
                await self._understand(fault)
                if time.monotonic() + pause_s > until_s:
                    raise self._given_up(fault) from fault
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, _PAUSE_MAX_S)

    async def _tried(self, batch: list[_Waiting]) -> list[object]:
        line = self._line
        if line is None or line.is_broken or self._unsure:
            line = await self._connected()
        sent, self._sent = self._sent, None
        if sent is not None:
            return sent.results
        alone = batch[0].alone
        if alone is not None:
            return [await self._alone(line, alone, batch)]
        return await self._together(line, batch, [each.op for each in batch if each.op is not None])

    async def _understand(self, fault: psycopg.Error) -> None:
        """Raises what trying again cannot mend."""
        if self._line is None or self._line.is_broken:
            return
        is_known = not self._unsure
        await self._refused()
        if fault.sqlstate in (_LEASE_LOST, _BATCH_PASSED):
            self._unsure = True
        elif is_known and not isinstance(fault, psycopg.OperationalError | psycopg.InternalError):
            raise fault

    async def _refused(self) -> None:
        """The server has answered: what was sent is not written, unless it was asked what had become of that."""
        if not self._unsure:
            self._sent = None
        await self._roll_back()

    def _given_up(self, fault: psycopg.Error) -> StoreError:
        sent, self._sent = self._sent, None
        what = "it is not known whether this was written" if sent is not None else "nothing was written"
        return StoreError(f"the database at {shown(self._url)} does not answer ({_reason(fault)}); {what}")

    async def _roll_back(self) -> None:
        if self._line is not None and not self._line.is_broken:
            try:
                await self._line.roll_back()
            except psycopg.Error:
                await self._line.close()

    # --- the connection -----------------------------------------------------------------------------------------------

    async def _connected(self) -> Line:
        """A connection on which it is known what was committed."""
        if self._line is None or self._line.is_broken:
            self._line = await Line.open(self._url)
            self._unsure = True
        if self._unsure:
            await self._find_out(self._line)
            self._unsure = False
        return self._line

    async def _find_out(self, line: Line) -> None:
        """Whether the batch that was sent last is written; and be another owner where the lease was lost."""
        desk, sent = self.desk, self._sent
        (rows,) = await line.trip(("pass_batch", (desk.owner,)))
        passed = rows[0][0] - desk.number if rows else 1
        if sent is not None and not sent.is_written:
            if not rows:
                raise self._given_up(psycopg.OperationalError("this process was gone for too long"))
            # The connection may be lost again before all is found out: what is known by then stays known.
            sent.is_written = bool(passed % 2)
            if sent.is_written:
                sent.sheet.committed()
                passed -= 1
            else:
                self._sent = None
        # Else something was written that nobody here knows of, and where the chain stands is not known either.
        is_known = not passed % 2
        if is_known:
            desk.number += passed
        (renewed,) = await line.trip(("renew_lease", (self._span_s, desk.owner)))
        if not renewed or not is_known:
            await self._become_another(line)

    async def _become_another(self, line: Line) -> None:
        asked_s = time.monotonic()
        glimpses = self.desk.glimpses
        self.desk = await move_in(line, chain=self._chain, seal=self.desk.seal, lease_s=self._span_s)
        self.desk.glimpses = glimpses
        self.lease.begin(self.desk.owner, ends_s=asked_s + self._span_s)

    async def _lost(self) -> None:
        """The lease has run out: be another owner, also where nothing is written just now."""
        self._unsure = True
        await self.write("move_in", Nothing())

    # --- the transaction ----------------------------------------------------------------------------------------------

    async def _together(self, line: Line, batch: list[_Waiting], ops: list[Op[object]]) -> list[object]:
        ready = None if self._doubts else assumed(self.desk, ops)
        if ready is not None:
            try:
                await self._finish(line, ready[0], ready[0].steps(), waiting=(batch, ready[1]))
            except errors.NumericValueOutOfRange as fault:
                raise _Gone from fault  # who reads a scope first counts up to the most that there is
            return ready[1]
        self._doubts = max(0, self._doubts - 1)
        sheet, begun = Sheet(self.desk), False
        known = Needs()
        for _ in range(_READS_MAX):
            needs = Needs()
            for op in ops:
                op.needs(needs, sheet)
            new = needs.beyond(known)
            if not new.anything:
                break
            steps = sheet.reads(new)
            found = await line.trip(*([] if begun else self._begin()), *steps)
            if not sheet.take_in(new, steps, found if begun else found[2:]):
                raise _Gone
            known, begun = needs, True
        results = [carried_out(op, sheet) for op in ops]
        steps = [*([] if begun else self._begin()), *sheet.writes(), ("commit", ())]
        await self._finish(line, sheet, steps, waiting=(batch, results))
        return results

    async def _alone(self, line: Line, alone: Alone[object], batch: list[_Waiting]) -> object:
        sheet = Sheet(self.desk)
        await line.trip(*self._begin())
        try:
            result = await alone.carry_out(line, sheet)
        except OP_FAULTS as fault:
            await line.roll_back()
            return fault
        await self._finish(line, sheet, [*sheet.writes(), ("commit", ())], waiting=(batch, [result]))
        return result

    def _begin(self) -> list[Step]:
        return [("begin", ()), ("begin_batch", (self.desk.owner, self.desk.number + 1))]

    async def _finish(
        self, line: Line, sheet: Sheet, steps: list[Step], *, waiting: tuple[list[_Waiting], list[object]]
    ) -> None:
        batch, results = waiting
        if self.on_commit is not None:
            self.on_commit("before", _names(batch))
        self._sent = _Sent(sheet, results)
        line.answered = partial(self._written, sheet, batch, results)
        try:
            await line.trip(*steps)
        finally:
            line.answered = None
        if self._answered is not batch:
            self._written(sheet, batch, results)

    def _written(self, sheet: Sheet, batch: list[_Waiting], results: list[object]) -> None:
        """It is on the disk. Who waits goes on in the next round of the loop, before this writer looks at its queue."""
        sent, self._sent = self._sent, None
        if sent is not None:
            sheet.committed()
        if self.bell is not None and self.lease.has_neighbours:
            self.bell.ring(sheet.let_go)
        if self.on_commit is not None:
            self.on_commit("after", _names(batch))
        self._tell(batch, results)


def _names(batch: list[_Waiting]) -> tuple[str, ...]:
    return tuple([each.name for each in batch])


def _resolve(answer: asyncio.Future[Any], *, result: object) -> None:
    if answer.done():
        return
    if isinstance(result, Exception):
        answer.set_exception(result)
    else:
        answer.set_result(result)


def _reason(fault: Exception) -> str:
    """The first line, which names neither user nor password."""
    return str(fault).strip().partition("\n")[0] or type(fault).__name__
