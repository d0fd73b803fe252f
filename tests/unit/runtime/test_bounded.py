"""Work is bounded in time without a task, a timer or a wait of its own where it needs none."""

import asyncio
from contextvars import ContextVar

import pytest
from anyio.lowlevel import checkpoint

from interlock.runtime.bounded import GRACE_S, Overdue, bounded
from tests.execution import VirtualLoop, passing

pytestmark = pytest.mark.anyio

SEEN: ContextVar[str] = ContextVar("SEEN", default="")


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, object]]:
    return "asyncio", {"loop_factory": VirtualLoop}


def now_s() -> float:
    return asyncio.get_running_loop().time()


async def test_work_that_never_waits_is_done_at_once_in_the_callers_task() -> None:
    async def work() -> asyncio.Task[None] | None:
        SEEN.set("by the work")
        return asyncio.current_task()

    assert await bounded(work(), until_s=now_s()) is asyncio.current_task()
    assert SEEN.get() == "by the work"


async def test_work_that_waits_gives_its_value_or_its_exception() -> None:
    async def work(wait_s: float) -> asyncio.Task[None] | None:
        await checkpoint()
        await passing(wait_s)
        if wait_s:
            raise TimeoutError("its own")
        return asyncio.current_task()

    assert await bounded(work(0), until_s=now_s() + 5) is asyncio.current_task()
    with pytest.raises(TimeoutError, match="its own"):
        await bounded(work(1), until_s=now_s() + 1_000_000)


async def test_an_exception_that_it_waits_for_reaches_the_work() -> None:
    async def work() -> str:
        failing = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(failing.set_exception, KeyError("x"))
        try:
            await failing
        except KeyError:
            return "caught"
        return "missed"

    assert await bounded(work(), until_s=now_s() + 5) == "caught"


@pytest.mark.requirement("EXEC-1")
async def test_work_is_stopped_at_its_time_and_tidies_up() -> None:
    tidied = []

    async def work() -> None:
        try:
            await passing(60)
        finally:
            tidied.append(now_s())

    start_s = now_s()
    assert await bounded(work(), until_s=start_s + 5) == Overdue()
    assert tidied == [start_s + 5]
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_a_value_given_while_tidying_up_counts() -> None:
    async def work() -> str:
        try:
            await passing(60)
        except asyncio.CancelledError:
            return "done after all"
        return "late"

    assert await bounded(work(), until_s=now_s() + 5) == "done after all"


@pytest.mark.requirement("EXEC-1", "EXEC-5")
async def test_work_that_will_not_stop_is_left_alone_and_its_late_value_can_be_awaited() -> None:
    told: list[float] = []

    async def work() -> str:
        while len(told) < 2:
            try:
                await passing(60)
            except asyncio.CancelledError:
                told.append(now_s())
        return "late"

    start_s = now_s()
    overdue = await bounded(work(), until_s=start_s + 5)
    assert now_s() == start_s + 5 + GRACE_S
    assert isinstance(overdue, Overdue)
    assert overdue.late is not None
    assert await overdue.late == "late"
    assert told == [start_s + 5, start_s + 5 + GRACE_S]


async def test_a_cancellation_by_the_caller_passes_through() -> None:
    stopped = asyncio.Event()

    async def work() -> None:
        try:
            await passing(60)
        finally:
            stopped.set()

    async def call() -> object:
        return await bounded(work(), until_s=now_s() + 5)

    task = asyncio.create_task(call())
    await checkpoint()  # let it start
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert stopped.is_set()


async def test_a_cancellation_by_the_caller_is_not_taken_for_the_end_of_its_time() -> None:
    """Nor is it lost where both come at once: whoever cancelled waits for the task to end."""

    async def work() -> None:
        await passing(60)

    async def call() -> object:
        return await bounded(work(), until_s=now_s() + 5)

    task = asyncio.create_task(call())
    asyncio.get_running_loop().call_at(now_s() + 5, task.cancel)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert task.cancelling() == 1


async def test_its_time_inside_another_that_ends_with_it_is_over_for_both() -> None:
    async def work() -> None:
        await passing(60)

    with pytest.raises(TimeoutError):
        async with asyncio.timeout_at(now_s() + 5):
            await bounded(work(), until_s=now_s() + 5)
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_a_timer_that_is_not_needed_does_not_ring() -> None:
    async def work() -> str:
        await passing(1)
        return "in time"

    assert await bounded(work(), until_s=now_s() + 5) == "in time"
    await passing(10)
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_work_is_closed_with_who_waits_for_it() -> None:
    closed = []

    async def work() -> None:
        try:
            await passing(60)
        finally:
            closed.append("work")

    async def call() -> object:
        return await bounded(work(), until_s=now_s() + 5)

    calling = call()
    calling.send(None)
    calling.close()
    assert closed == ["work"]
