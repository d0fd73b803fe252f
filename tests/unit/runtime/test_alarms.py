"""Alarms ring at their time, or were taken back, with one timer of the event loop for all of them."""

import asyncio
import gc
import weakref
from asyncio import TimerHandle
from collections.abc import Callable
from typing import Any

import pytest

from interlock.runtime.alarms import DEAD_MAX, Alarms, set_alarm
from tests.execution import VirtualLoop, passing

pytestmark = pytest.mark.anyio


class CountingLoop(VirtualLoop):
    """Counts the timers that alarms have it make."""

    timers = 0

    def call_at(self, when: float, callback: Callable[..., object], *args: object, **context: Any) -> TimerHandle:
        self.timers += isinstance(getattr(callback, "__self__", None), Alarms)
        return super().call_at(when, callback, *args, **context)


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, object]]:
    return "asyncio", {"loop_factory": CountingLoop}


def now_s() -> float:
    return asyncio.get_running_loop().time()


async def test_each_rings_at_its_time_in_whatever_order_they_were_set() -> None:
    start_s, rung = now_s(), list[tuple[str, float]]()
    for name, after_s in (("third", 30), ("first", 1), ("second", 5), ("beside it", 5)):
        set_alarm(start_s + after_s, lambda name=name: rung.append((name, now_s() - start_s)))
    await passing(60)
    assert rung == [("first", 1), ("second", 5), ("beside it", 5), ("third", 30)]


async def test_one_that_was_taken_back_does_not_ring() -> None:
    rung = list[str]()
    early = set_alarm(now_s() + 1, lambda: rung.append("early"))
    set_alarm(now_s() + 2, lambda: rung.append("late"))
    early.take_back()
    await passing(10)
    early.take_back()
    assert rung == ["late"]


async def test_one_that_rings_may_set_another() -> None:
    rung = list[float]()
    start_s = now_s()

    def again() -> None:
        rung.append(now_s() - start_s)
        if len(rung) < 3:
            set_alarm(now_s() + 1, again)

    set_alarm(start_s + 1, again)
    await passing(10)
    assert rung == [1, 2, 3]


async def test_those_that_were_taken_back_are_swept_out() -> None:
    alarms, loop = Alarms(), asyncio.get_running_loop()
    rung = list[str]()
    for number in range(1_000):
        alarms.set(now_s() + 30 + number, lambda: rung.append("taken back"), loop).take_back()
        assert len(alarms) <= DEAD_MAX + 1
    alarms.set(now_s() + 5, lambda: rung.append("kept"), loop)
    await passing(2_000)
    assert (rung, len(alarms)) == (["kept"], 0)


async def test_short_ones_beside_a_long_one_leave_no_timers_of_the_loop_behind() -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, CountingLoop)
    set_alarm(now_s() + 1_000, lambda: None)
    for _ in range(20):
        set_alarm(now_s() + 1, lambda: None)
        await passing(2)
    assert loop.timers == 21
    await passing(2_000)
    assert loop.timers == 21


def test_a_loop_that_is_gone_takes_its_alarms_with_it() -> None:
    async def wait() -> None:
        set_alarm(now_s() + 60, lambda: None)

    loop = VirtualLoop()
    loop.run_until_complete(wait())
    loop.close()
    gone = weakref.ref(loop)
    del loop
    gc.collect()
    assert gone() is None
