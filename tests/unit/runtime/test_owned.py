"""Tasks that nobody awaits are kept until they end, and what broke them is reported."""

import asyncio
import logging

import pytest
from anyio.lowlevel import checkpoint

from interlock.core.redaction import Redactor
from interlock.runtime.owned import Owned

pytestmark = pytest.mark.anyio

log = logging.getLogger("interlock.tested")


@pytest.fixture
def owned() -> Owned:
    return Owned(log, "the work could not be done", redactor=Redactor(["hunter2-hunter2"]))


async def test_all_are_waited_for_those_that_others_begin_among_them(owned: Owned) -> None:
    done = list[str]()

    async def second() -> None:
        await checkpoint()
        done.append("second")

    async def first() -> None:
        await checkpoint()
        owned.begin(second())
        done.append("first")

    owned.begin(first())
    await owned.drain()
    assert (done, owned.tasks) == (["first", "second"], set())


async def test_what_comes_of_one_is_there_for_who_awaits_it_all_the_same(owned: Owned) -> None:
    async def work() -> int:
        return 7

    assert await owned.begin(work()) == 7


async def test_what_breaks_one_is_reported_without_secrets(owned: Owned, caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> None:
        raise ValueError("hunter2-hunter2")

    owned.begin(work())
    await owned.drain()
    await checkpoint()
    assert "the work could not be done" in caplog.text
    assert "ValueError" in caplog.text
    assert "hunter2" not in caplog.text


async def test_those_that_are_told_to_stop_are_no_fault(owned: Owned, caplog: pytest.LogCaptureFixture) -> None:
    owned.begin(asyncio.Event().wait())
    owned.cancel()
    await owned.drain()
    assert (owned.tasks, caplog.text) == (set(), "")
