"""Threads are bounded, keep their place until their work ends, and do not hold up anyone's exit."""

import asyncio
import subprocess
import sys
import threading
from contextvars import ContextVar

import pytest

from interlock.runners.threads import PoolFull, Threads

pytestmark = pytest.mark.anyio

WHO: ContextVar[str] = ContextVar("WHO", default="nobody")


async def test_work_runs_in_a_thread_within_the_callers_context() -> None:
    threads = Threads()
    WHO.set("alice")
    assert await threads.start(lambda: (WHO.get(), threading.current_thread().daemon)).outcome == ("alice", True)
    threads.close()


@pytest.mark.requirement("EXEC-1")
async def test_threads_are_bounded_and_reused_and_what_waits_is_too() -> None:
    threads, go, names = Threads(threads_max=2, waiting_max=3), threading.Event(), set()

    def work() -> None:
        names.add(threading.current_thread().name)
        go.wait(10)

    busy = [threads.start(work) for _ in range(2)]
    while len(names) < 2:
        await asyncio.to_thread(lambda: None)
    waiting = [threads.start(work) for _ in range(3)]
    with pytest.raises(PoolFull):
        threads.start(work)
    go.set()
    await asyncio.gather(*[each.outcome for each in busy + waiting])
    assert len(names) == 2
    await threads.start(work).outcome
    assert len(names) == 2
    threads.close()


async def test_work_that_has_not_begun_can_be_withdrawn_for_certain() -> None:
    threads, go, ran = Threads(threads_max=1), threading.Event(), []
    begun = threading.Event()

    def block() -> None:
        begun.set()
        go.wait(10)

    blocking = threads.start(block)
    await asyncio.to_thread(begun.wait, 10)
    waiting = threads.start(lambda: ran.append(1))
    assert waiting.withdraw()
    assert not blocking.withdraw()
    go.set()
    await blocking.outcome
    await threads.start(lambda: None).outcome
    assert ran == []
    threads.close()


async def test_after_close_busy_threads_finish_and_idle_ones_end() -> None:
    threads, running = Threads(), []
    await threads.start(lambda: running.append(threading.current_thread())).outcome
    threads.close()
    await asyncio.to_thread(running[0].join, 10)
    assert not running[0].is_alive()


LEAVING = """
import asyncio, threading
from interlock.runners.threads import Threads
async def main():
    begun = threading.Event()
    Threads().start(lambda: (begun.set(), threading.Event().wait()))
    begun.wait(10)
asyncio.run(main())
print("left")
"""


@pytest.mark.requirement("EXEC-1")
def test_a_thread_that_never_ends_does_not_hold_up_the_exit_of_the_interpreter() -> None:
    left = subprocess.run([sys.executable, "-c", LEAVING], capture_output=True, text=True, timeout=20, check=True)
    assert left.stdout == "left\n"


async def test_a_loop_that_was_closed_meanwhile_is_not_told() -> None:
    threads, go = Threads(), threading.Event()
    thread: list[threading.Thread] = []

    async def leave() -> None:
        begun = threading.Event()

        def work() -> None:
            thread.append(threading.current_thread())
            begun.set()
            go.wait(10)

        threads.start(work)
        begun.wait(10)

    await asyncio.to_thread(asyncio.run, leave())
    go.set()
    threads.close()
    await asyncio.to_thread(thread[0].join, 10)
    assert not thread[0].is_alive()
