"""A bell wakes all who hear it, none that hears another, and is forgotten with the last who heard."""

import asyncio

import pytest

from interlock.loop.bells import Bells

pytestmark = pytest.mark.requirement("LOOP-9")


async def test_all_who_hear_a_run_are_woken_and_nobody_else() -> None:
    bells = Bells()
    with bells.hearing("t", "r") as one, bells.hearing("t", "r") as two, bells.hearing("t", "other") as other:
        waiting = [asyncio.create_task(_rung(each)) for each in (one, two)]
        apart = asyncio.create_task(_rung(other))
        bells.ring("t", "r")
        bells.ring("u", "other")
        await asyncio.gather(*waiting)
        assert not apart.done()
        apart.cancel()
        await asyncio.wait([apart])


async def test_what_rang_before_one_waits_is_not_lost() -> None:
    bells = Bells()
    with bells.hearing("t", "r") as rung:
        bells.ring("t", "r")
        async with asyncio.timeout(10):
            await rung(60)


async def test_it_waits_so_long_and_no_longer() -> None:
    with Bells().hearing("t", "r") as rung:
        async with asyncio.timeout(10):
            await rung(0.001)


async def test_nothing_is_kept_of_what_nobody_hears() -> None:
    bells = Bells()
    with bells.hearing("t", "r"):
        assert bells._heard
    bells.ring("t", "r")
    assert not bells._heard


async def _rung(wait: object) -> None:
    await wait(60)  # type: ignore[operator]
