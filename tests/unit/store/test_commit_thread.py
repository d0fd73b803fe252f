"""One piece of work at a time leaves the event loop, and what came of it is said there."""

import asyncio
import gc
import subprocess
import sys
import threading
from threading import Event, Thread, current_thread

import pytest

from interlock.store.commit_thread import CommitThread

OUTLIVED = """
import asyncio, os, sys
from interlock.store.commit_thread import CommitThread

def work():
    print("begun", flush=True)
    sys.stdin.readline()
    print("done", flush=True)

async def main():
    global kept
    kept = CommitThread(asyncio.get_running_loop(), told=lambda *_: None)
    kept.do(work)

asyncio.run(main())
"""


def workers() -> set[Thread]:
    """The threads of this kind that there are; other tests may have left some."""
    return {each for each in threading.enumerate() if each.name == "interlock-commit"}


class Told:
    """What was said on the loop, one after the other, and in which thread."""

    def __init__(self) -> None:
        self.said: asyncio.Queue[tuple[object, BaseException | None, Thread]] = asyncio.Queue()
        self.thread = CommitThread(asyncio.get_running_loop(), told=self.note)

    def note(self, result: object, fault: BaseException | None) -> None:
        self.said.put_nowait((result, fault, current_thread()))


async def test_work_is_done_beside_the_loop_and_told_on_it() -> None:
    told = Told()
    for _ in range(3):
        told.thread.do(current_thread)
        worker, fault, here = await told.said.get()
        assert (isinstance(worker, Thread), worker is here, fault, here) == (True, False, None, current_thread())
    told.thread.close()


@pytest.mark.parametrize("fault", [ValueError("bad"), KeyboardInterrupt()])
async def test_a_fault_is_told_and_the_thread_goes_on(fault: BaseException) -> None:
    def fail() -> None:
        raise fault

    told = Told()
    told.thread.do(fail)
    assert (await told.said.get())[:2] == (None, fault)
    told.thread.do(lambda: "next")
    assert (await told.said.get())[:2] == ("next", None)
    told.thread.close()


async def test_closing_waits_for_the_work_under_way() -> None:
    before, told, done = workers(), Told(), list[str]()
    may_end = Event()
    told.thread.do(lambda: done.append("done") if may_end.wait(5) else None)
    may_end.set()
    told.thread.close()
    assert done == ["done"]
    assert workers() <= before


async def test_one_that_was_never_used_has_no_thread_to_end() -> None:
    before, told = workers(), Told()
    assert workers() <= before
    told.thread.close()


def test_a_loop_that_is_closed_meanwhile_is_not_told_and_the_thread_ends_with_its_owner() -> None:
    before, may_end, ended = workers(), Event(), Event()

    def work() -> None:
        may_end.wait(5)
        ended.set()

    async def hand_over() -> None:
        Told().thread.do(work)

    asyncio.run(hand_over())
    (worker,) = workers() - before
    may_end.set()
    assert ended.wait(5)
    gc.collect()
    worker.join(5)
    assert not worker.is_alive()


def test_the_interpreter_waits_for_the_work_under_way_before_it_exits() -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", OUTLIVED],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    out, err = child.communicate("go\n", timeout=20)
    assert (child.returncode, out, err) == (0, "begun\ndone\n", "")
