"""A timer goes on whatever a pass comes to, one pass at a time, and ends when it is told."""

import asyncio
import logging

import pytest
from anyio.lowlevel import checkpoint

from interlock.core.errors import StoreError
from interlock.core.redaction import Redactor
from interlock.runtime.timers import Timers


class Drawn:
    """Randomness of a test's choice."""

    def __init__(self, value: int = 0) -> None:
        self._value = value

    def bytes(self, count: int) -> bytes:
        return self._value.to_bytes(count)


def timers(drawn: int = 0, *secrets: str) -> Timers:
    return Timers(redactor=Redactor(secrets), entropy=Drawn(drawn))


async def test_it_works_again_and_again_also_after_a_fault_which_is_told_without_secrets(
    caplog: pytest.LogCaptureFixture,
) -> None:
    passes, done, under_way = list[int](), asyncio.Event(), 0

    async def recover() -> None:
        nonlocal under_way
        under_way += 1
        assert under_way == 1
        await checkpoint()
        under_way -= 1
        passes.append(len(passes))
        if len(passes) == 3:
            done.set()
        if len(passes) == 1:
            raise StoreError("no way to the host with hunter-2-secret")

    made = timers(0, "hunter-2-secret")
    with caplog.at_level(logging.WARNING, logger="interlock.timers"):
        made.start("open calls could not be recovered", recover, every_s=0.001)
        await asyncio.wait_for(done.wait(), 5)
        await made.stop()
    seen = len(passes)
    await asyncio.wait_for(asyncio.shield(asyncio.create_task(made.stop())), 5)
    assert len(passes) == seen
    assert "open calls could not be recovered" in caplog.text
    assert "no way to the host with [redacted]" in caplog.text
    assert "hunter-2" not in caplog.text.replace("[redacted]", "")


async def test_with_no_pause_there_is_none() -> None:
    async def recover() -> None:
        raise AssertionError("nobody asked for it")

    made = timers()
    made.start("x", recover, every_s=0)
    await checkpoint()
    await made.stop()


@pytest.mark.parametrize(("drawn", "pause_s"), [(0, 30.0), (0xFFFF, 90.0), (0x7FFF, pytest.approx(60.0, rel=1e-4))])
def test_a_pause_is_spread_by_chance_around_what_was_asked_for(drawn: int, pause_s: float) -> None:
    assert timers(drawn).pause_s(60.0, spread=0.5) == pause_s
    assert timers(drawn).pause_s(60.0, spread=0.0) == 60.0
