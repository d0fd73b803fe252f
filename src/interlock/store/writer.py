"""Writes in groups: everything that waits goes into one transaction, which one thread makes durable.

    write(op) -> queue -> BEGIN, every op, END -> COMMIT -> answers
                          on the event    in the thread
                          loop while this process is sole,
                          else all of it in the thread

A statement takes microseconds and a commit milliseconds, so only the commit leaves the event loop: a thread that ran
the statements too would have to win the interpreter's lock back from the loop after each of them, up to 5 ms apiece.
Where other processes write as well, the wait for the turn may be long, so that the thread does all of it.

One op that fails is rolled back alone and gets its own exception. A savepoint costs a copy of every page that changes,
and hardly any op fails: where all may be carried out once more they have none, and only once one of them has failed is
the transaction begun anew, with a savepoint for each.
A commit that fails stops the writer for good: what is on the disk is not known any more. Answers cannot be lost on the
way, since all of it is one process.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Final, Protocol, TypeAlias, TypeVar

import apsw

from interlock.core.errors import InterlockError, StoreClosed, StoreError
from interlock.store.commit_thread import CommitThread
from interlock.store.full_disk import full_disk
from interlock.store.locks import Presence

T = TypeVar("T")

BATCH_MAX: Final = 256
BUSY_MS: Final = 5_000

_SHARE: Final = "share"

_Op: TypeAlias = tuple[str, Callable[[], object], asyncio.Future[Any]]
"""One write that waits: its name, what it does, and its answer to who waits. A tuple, as every call makes two."""

CommitObserver = Callable[[str, tuple[str, ...]], None]
"""Told "before" and "after" each commit, with the names of its ops, in the thread that commits."""

# What one op may fail of without casting doubt on the others. An I/O error, or a defect, stops the writer.
_OP_FAULTS: Final = (
    InterlockError,
    apsw.ConstraintError,
    apsw.MismatchError,
    apsw.TooBigError,
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)


class Batch(Protocol):
    """What has to be done around the ops of a transaction. Owned by `Writer`.

    `repeatable` names the ops that may be carried out once more after `take_back`: all that they have changed is in the
    transaction, or in what `take_back` restores.
    """

    repeatable: frozenset[str]

    def begin(self) -> None:
        """The transaction has begun: reread what another process may have changed."""

    def take_back(self) -> None:
        """What ops have written since `begin` is rolled back: be as then."""

    def end(self) -> None:
        """All ops are done: write what they share."""

    def share(self) -> None:
        """Make durable, as an op of its own, what was held in memory alone: others are about to come in."""


class Writer:
    """Owns the connection that writes. Belongs to the event loop that it was made on.

    While it is `alone` no other process writes, and what the ops keep in memory may be used on the event loop.
    """

    def __init__(
        self, connection: apsw.Connection, *, batch: Batch, presence: Presence, on_commit: CommitObserver | None = None
    ) -> None:
        self.alone = presence.sole
        self._connection = connection
        self._execute = connection.cursor().execute  # a new cursor for each statement costs as much as a small write
        self._wait_ms: int | None = None
        self._batch = batch
        self._presence = presence
        self._on_commit = on_commit
        self._loop = asyncio.get_running_loop()
        self._thread = CommitThread(self._loop, told=self._told)
        self._queue: deque[_Op] = deque()
        self._current: list[_Op] = []
        self._then: Callable[[Any], None] = self._answer
        self._is_busy = False
        self._done: asyncio.Future[None] | None = None
        self._stopped: StoreClosed | None = None
        self._bell: int | None = None
        self._listen()

    @property
    def is_open(self) -> bool:
        """Whether it takes writes."""
        return self._stopped is None

    def check(self) -> None:
        """Raises `StoreClosed` once it was closed or has stopped itself."""
        if self._stopped is not None:
            raise self._stopped

    def write(self, name: str, *, run: Callable[[], T]) -> asyncio.Future[T]:
        """Carry `run` out in the next transaction; its result once that is durable, even if nobody waits any more."""
        if self._stopped is not None:
            raise self._stopped
        return self._enqueue(name, run=run)

    async def close(self) -> None:
        """Refuse everything that comes from now on, and carry out what waits."""
        self._stop(StoreClosed("the store is closed"))
        if self._is_busy:
            self._done = self._done or self._loop.create_future()
            await asyncio.wait([self._done])
        self._listen_no_more()
        self._thread.close()

    # --- on the event loop --------------------------------------------------------------------------------------------

    def _enqueue(self, name: str, *, run: Callable[[], T]) -> asyncio.Future[T]:
        answer: asyncio.Future[T] = self._loop.create_future()
        self._queue.append((name, run, answer))
        if not self._is_busy:
            # What else becomes ready in this round of the loop shall go into the same transaction.
            self._is_busy = True
            self._loop.call_soon(self._turn)
        return answer

    def _turn(self) -> None:
        """Whatever waits by now goes into the next transaction."""
        queue = self._queue
        if not queue:
            self._rest()
            return
        if len(queue) <= BATCH_MAX:
            ops = self._current = list(queue)
            queue.clear()
        else:
            ops = self._current = [queue.popleft() for _ in range(BATCH_MAX)]
        self._guarded(self._transaction, ops)

    def _transaction(self, ops: list[_Op]) -> None:
        if not self.alone:
            self._hand_over(partial(self._among_others, ops), self._had_a_turn)
        elif self._begin(wait_ms=0):
            self._write(ops)
        else:
            # Another program (a shell, a backup) holds the file just now.
            self._hand_over(partial(self._begin_or_give_up, BUSY_MS), lambda _: self._write(ops))

    def _write(self, ops: list[_Op]) -> None:
        self._hand_over(partial(self._commit, ops, results=self._carry_out(ops)), self._answer)

    def _hand_over(self, work: Callable[[], T], then: Callable[[T], None]) -> None:
        """Have the thread do this, and go on here with what it gives."""
        self._then = then
        self._thread.do(work)

    def _told(self, result: object, fault: BaseException | None) -> None:
        self._guarded(self._then if fault is None else _raise, result if fault is None else fault)

    def _guarded(self, step: Callable[[Any], None], given: object) -> None:
        """Take a step, and if a fault has stopped the work leave nobody waiting for ever."""
        try:
            step(given)
        except StoreError as refused:
            self._answer([refused] * len(self._current))
        except BaseException as fault:
            self._give_up(fault)
            if not isinstance(fault, Exception):
                raise

    def _had_a_turn(self, results: list[object]) -> None:
        self._listen()
        self._answer(results)

    def _answer(self, results: list[object]) -> None:
        ops, self._current = self._current, []
        for (_, _, answer), result in zip(ops, results, strict=True):
            if not answer.done():
                if isinstance(result, Exception):
                    answer.set_exception(result)
                else:
                    answer.set_result(result)
        # Behind those that were answered now, so that what they write next is in the next transaction.
        self._loop.call_soon(self._turn)

    def _rest(self) -> None:
        self._is_busy = False
        if self._done is not None and not self._done.done():
            self._done.set_result(None)

    def _listen(self) -> None:
        """While this process is sole: hear who wants to come in."""
        if not self._presence.sole:
            self._listen_no_more()
        elif self._bell is None:
            self.alone = True
            self._bell = self._presence.bell.open()
            self._loop.add_reader(self._bell, self._rung)

    def _rung(self) -> None:
        """The bell stays open, and nobody listens, until the others are let in: so this happens once."""
        self.alone = False
        self._loop.remove_reader(self._bell or 0)
        self._enqueue(_SHARE, run=self._batch.share)

    def _listen_no_more(self) -> None:
        if self._bell is not None:
            self._loop.remove_reader(self._bell)
            os.close(self._bell)
            self._bell = None

    def _give_up(self, fault: BaseException) -> None:
        full = full_disk(fault, self._connection.filename)
        stopped = self._stop(full or StoreClosed(f"the store stopped: {fault}"))
        for _, _, answer in (*self._current, *self._queue):
            if not answer.done():
                answer.set_exception(stopped)
        self._current = []
        self._queue.clear()
        self._rest()

    def _stop(self, why: StoreClosed) -> StoreClosed:
        if self._stopped is None:
            self._stopped = why
        return self._stopped

    # --- in the thread, or on the loop while alone --------------------------------------------------------------------

    def _among_others(self, ops: list[_Op]) -> list[object]:
        """All of a transaction, in turn with other processes."""
        self._presence.refresh()
        with self._presence.turnstile.passed():
            self._begin_or_give_up(BUSY_MS)
            results = self._commit(ops, results=self._carry_out(ops))
        if any(name == _SHARE for name, _, _ in ops):
            self._presence.share()
        return results

    def _begin_or_give_up(self, wait_ms: int) -> None:
        if not self._begin(wait_ms=wait_ms):
            raise StoreError(f"another program has held the database for {wait_ms} ms")

    def _begin(self, *, wait_ms: int) -> bool:
        if wait_ms != self._wait_ms:
            self._connection.set_busy_timeout(wait_ms)
            self._wait_ms = wait_ms
        try:
            self._execute("BEGIN IMMEDIATE")
        except apsw.BusyError:
            return False
        return True

    def _carry_out(self, ops: list[_Op]) -> list[object]:
        """Results, or exceptions in their place, in order."""
        self._batch.begin()
        results = self._carry_out_all(ops)
        if results is None:
            results = [self._carry_out_one(op) for op in ops]
        self._batch.end()
        return results

    def _carry_out_all(self, ops: list[_Op]) -> list[object] | None:
        """Results in order; None where one failed, or could not be repeated if one did: then nothing is done yet."""
        if not self._batch.repeatable.issuperset([name for name, _, _ in ops]):
            return None
        try:
            return [run() for _, run, _ in ops]
        except _OP_FAULTS:
            self._start_again()
            return None

    def _start_again(self) -> None:
        """The transaction anew, as if no op had been carried out."""
        self._execute("ROLLBACK")
        self._batch.take_back()
        self._begin_or_give_up(BUSY_MS)
        self._batch.begin()

    def _carry_out_one(self, op: _Op) -> object:
        self._execute("SAVEPOINT op")
        try:
            result = op[1]()
        except _OP_FAULTS as fault:
            self._execute("ROLLBACK TO op")
            result = fault
        self._execute("RELEASE op")
        return result

    def _commit(self, ops: list[_Op], *, results: list[object]) -> list[object]:
        observer = self._on_commit
        names = () if observer is None else tuple(name for name, _, _ in ops)
        if observer is not None:
            observer("before", names)
        self._execute("COMMIT")
        if observer is not None:
            observer("after", names)
        return results


def _raise(fault: BaseException) -> None:
    raise fault
