"""The reaper goes on whatever a pass comes to, and ends when it is told."""

import asyncio
import logging

import pytest
from anyio.lowlevel import checkpoint

from interlock.core.errors import StoreError
from interlock.core.redaction import Redactor
from interlock.runtime.reaper import Reaper


async def test_it_recovers_again_and_again_also_after_a_fault(caplog: pytest.LogCaptureFixture) -> None:
    passes, done = list[int](), asyncio.Event()

    async def recover() -> None:
        passes.append(len(passes))
        if len(passes) == 3:
            done.set()
        if len(passes) == 1:
            raise StoreError("away")

    reaper = Reaper(recover, every_s=0.001, redactor=Redactor(()))
    with caplog.at_level(logging.CRITICAL, logger="interlock.reaper"):
        reaper.start()
        reaper.start()
        await asyncio.wait_for(done.wait(), 5)
        await reaper.stop()
    seen = len(passes)
    await asyncio.wait_for(asyncio.shield(asyncio.create_task(reaper.stop())), 5)
    assert len(passes) == seen


async def test_with_no_pause_there_is_none() -> None:
    async def recover() -> None:
        raise AssertionError("nobody asked for it")

    reaper = Reaper(recover, every_s=0, redactor=Redactor(()))
    reaper.start()
    await checkpoint()
    await reaper.stop()
