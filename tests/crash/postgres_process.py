"""A process of its own that makes governed calls on a PostgreSQL store, for tests that stop it or its database."""

import asyncio
import os
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from anyio.lowlevel import checkpoint

from interlock import Context, Gate, Host, Keys, Observation, PolicySource, Principal, Settings, ToolCall, tool
from interlock.assemble import wired
from interlock.core.errors import StoreError
from interlock.declare import Declared
from interlock.store.postgres import PostgresStore
from interlock.store.postgres_writer import CommitObserver
from tests.crash.store_process import say

ALICE = Principal("acme", "alice")
ALL = PolicySource("all", "permit (principal, action, resource);", tenant="acme")
KEYS = Keys(bytes(32), bytes(32))
LEASE_S = 1.0


def saving(effects: Path) -> Declared[..., Any]:
    """A tool whose effects are lines of a file, which it looks up by their keys."""

    def find(context: Context) -> str | None:
        return "saved" if context.key in effects.read_text().split() else None

    @tool(effect="write", name="save", key=["name"], reconcile=find, timeout_ms=500)
    async def save(name: str, context: Context) -> str:
        """Save something under a name."""
        with effects.open("a") as file:
            file.write(f"{context.key}\n")
        return "saved"

    return save


@asynccontextmanager
async def opened(url: str, effects: str, on_commit: CommitObserver | None = None) -> AsyncIterator[Gate]:
    """A gate whose claims are lost soon after it stands still."""
    store = await PostgresStore.open(url, chain="main", lease_s=LEASE_S, on_commit=on_commit)
    try:
        settings = Settings(tenant="acme", deadline_ms=20_000, reap_every_s=0.3)
        gate = wired(Gate, store, settings, host=Host(), keys=KEYS)
        await gate.begin([saving(Path(effects))], (ALL,))
        try:
            yield gate
        finally:
            await gate.close()
    finally:
        await store.close()


def save(gate: Gate, name: str) -> Coroutine[object, object, Observation]:
    """One call for a name."""
    return gate.call(ToolCall("c1", "save", {"name": name}), principal=ALICE, task="task")


async def race(url: str, effects: str, callers: str) -> None:
    """So many callers of one key, once everybody is there."""
    async with opened(url, effects) as gate:
        say("ready")
        await asyncio.to_thread(sys.stdin.readline)
        seen = await asyncio.gather(*[save(gate, "the same") for _ in range(int(callers))])
        told = Counter("replayed" if each.replayed else each.status.value for each in seen)
        say(*(f"{status}={count}" for status, count in sorted(told.items())))


async def pause(url: str, effects: str) -> None:
    """Stand still between the claim and what it was made for, then go on as if nothing had been."""

    def stop(when: str, ops: tuple[str, ...]) -> None:
        if when == "after" and "claim" in ops:
            say("claimed")
            os.kill(os.getpid(), signal.SIGSTOP)

    async with opened(url, effects, stop) as gate:
        seen = await save(gate, "one")
        say(seen.status.value, seen.error.code if seen.error else "")


async def persist(url: str, effects: str, first: str, calls: str) -> None:
    """Make so many calls, 8 at a time, each again and again until it is known to be done."""
    async with opened(url, effects) as gate:
        names, faults = iter(range(int(first), int(first) + int(calls))), 0

        async def worker() -> None:
            nonlocal faults
            for name in names:
                while not await _is_done(gate, str(name)):
                    faults += 1
                    await checkpoint()
                if name == int(first) + int(calls) // 4:
                    say("a quarter")

        say("ready")
        await asyncio.gather(*[worker() for _ in range(8)])
        say("done", faults)


async def _is_done(gate: Gate, name: str) -> bool:
    try:
        return (await save(gate, name)).status.value == "ok"
    except StoreError:
        return False


if __name__ == "__main__":
    PARTS: dict[str, Callable[..., Coroutine[object, object, None]]] = {
        "race": race,
        "pause": pause,
        "persist": persist,
    }
    asyncio.run(PARTS[sys.argv[1]](*sys.argv[2:]))
