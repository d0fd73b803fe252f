"""A process of its own that works on a store and tells how far it is, for tests that kill it."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from dataclasses import replace
from itertools import count

from interlock.core.effect import CallEvent
from interlock.ports import Claim, Intent
from interlock.store.postgres import PostgresStore
from interlock.store.sqlite import SqliteStore
from interlock.store.writer import CommitObserver
from interlock.testing.store_values import Values


def say(*words: object) -> None:
    """One line to whoever started this process."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


async def opened(path: str, name: str, on_commit: CommitObserver | None = None) -> SqliteStore | PostgresStore:
    """The store of that path or address, with a lease that ends soon where it has one."""
    if path.startswith("postgresql:"):
        return await PostgresStore.open(path, chain=name, lease_s=1.0, on_commit=on_commit)
    return await SqliteStore.open(path, chain=name, on_commit=on_commit)


class Steps:
    """Values whose ids are this process's own."""

    def __init__(self, name: str) -> None:
        self.values = Values()
        self._name = name
        self._numbers = count(1)

    def intent(self, key: str | None = None, *, limit: int | None = None, fused: bool = False) -> Intent:
        intent = self.values.read(limit=limit) if fused else self.values.intent(key, limit=limit)
        operation = replace(intent.operation, id=f"{self._name}-{next(self._numbers)}")
        return replace(intent, operation=operation)


async def hold(path: str, name: str) -> None:
    """Claim three calls and a read, then wait to be killed."""
    store = await opened(path, name)
    steps = Steps(name)
    for key in ("a", "b", "c"):
        assert isinstance(await store.claim(steps.intent(key)), Claim)
    await store.claim(steps.intent(fused=True))
    say("held")
    await asyncio.Event().wait()


async def go_on(path: str, name: str) -> None:
    """Give a call up as unknown while work on it goes on, close the store, then wait to be killed."""
    store = await opened(path, name)
    steps = Steps(name)
    claim = await store.claim(steps.intent("a"))
    assert isinstance(claim, Claim)
    await store.settle(replace(steps.values.settlement(claim, CallEvent.LOSE_OUTCOME), goes_on=True))
    await store.close()
    say("closed")
    await asyncio.Event().wait()


async def die(path: str, name: str, moment: str, op: str) -> None:
    """Claim and settle, and be killed before or after the commit of one of these."""

    def kill(when: str, ops: tuple[str, ...]) -> None:
        if (when, op) == (moment, op) and op in ops:
            os.kill(os.getpid(), signal.SIGKILL)

    store = await opened(path, name, kill)
    steps = Steps(name)
    claim = await store.claim(steps.intent("k", limit=5))
    assert isinstance(claim, Claim)
    say("claimed")
    await store.settle(steps.values.settlement(claim, CallEvent.SUCCEED))
    say("settled")
    await store.close()


async def work(path: str, name: str, calls: str, limit: str) -> None:
    """Make so many calls, 8 at a time, effects and reads, under one limit that all processes share."""
    store = await opened(path, name)
    steps = Steps(name)
    won = 0

    async def worker() -> None:
        nonlocal won
        for number in range(int(calls) // 8):
            claim = await store.claim(steps.intent(limit=int(limit), fused=number % 2 == 0))
            if isinstance(claim, Claim):
                won += 1
                await store.settle(steps.values.settlement(claim))

    say("ready")
    await asyncio.gather(*[worker() for _ in range(8)])
    await store.close()
    say("won", won)


if __name__ == "__main__":
    PARTS: dict[str, Callable[..., Coroutine[object, object, None]]] = {
        "hold": hold,
        "go_on": go_on,
        "die": die,
        "work": work,
    }
    asyncio.run(PARTS[sys.argv[1]](*sys.argv[2:]))
