"""Who waits for an operation hears of its end, however many claim it."""

import asyncio

from interlock.runtime.ongoing import Ongoing


async def test_what_is_not_under_way_is_not_waited_for() -> None:
    assert await Ongoing().wait_for("a", within_s=60) is False


async def test_an_operation_ends_when_the_last_who_claims_it_has_left() -> None:
    ongoing = Ongoing()
    ongoing.begin("a")
    ongoing.begin("a")
    waiting = [asyncio.create_task(ongoing.wait_for("a", within_s=60)) for _ in range(2)]
    ongoing.end("a")
    done, _ = await asyncio.wait(waiting, timeout=0)
    assert not done
    ongoing.end("a")
    assert await asyncio.gather(*waiting) == [True, True]


async def test_waiting_ends_in_time() -> None:
    ongoing = Ongoing()
    ongoing.begin("a")
    assert await ongoing.wait_for("a", within_s=0) is False
    ongoing.end("a")
    await ongoing.drain()


async def test_draining_waits_for_all() -> None:
    ongoing = Ongoing()
    ongoing.begin("a")
    ongoing.begin("b")
    draining = asyncio.create_task(ongoing.drain())
    await asyncio.wait([draining], timeout=0)
    ongoing.end("b")
    await asyncio.wait([draining], timeout=0.01)
    assert not draining.done()
    ongoing.end("a")
    await draining
