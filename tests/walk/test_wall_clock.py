"""Somebody sets the machine's clock back or forward by an hour while a gate is open: nothing closed opens again."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from anyio.lowlevel import checkpoint

from interlock import Gate, Host, Limit
from interlock.core.audit_log import Verified
from interlock.core.budget import ScopeKind, Unit
from interlock.core.journal import AuditQuery
from interlock.system import SystemClock
from tests.gates import ALICE, ALL, ASKS, AUDITOR, Shelf, code, gate_path, granted, opened, save, search

__all__ = ["gate_path"]

HOUR = 3_600


class Wall:
    """The clock on the wall, which anybody may set; an hour begins when it is made."""

    def __init__(self) -> None:
        self.moved_ns = (HOUR - time.time_ns() // 10**9 % HOUR) * 10**9

    def set(self, seconds: int) -> None:
        self.moved_ns += seconds * 10**9

    def now_ns(self) -> int:
        return time.time_ns() + self.moved_ns


@pytest.fixture
def wall() -> Wall:
    return Wall()


@pytest.fixture
def host(wall: Wall, tmp_path: Path) -> Host:
    return Host(clock=SystemClock(wall.now_ns), key_folder=tmp_path)


@pytest.fixture
async def waiting(gate_path: str, host: Host) -> AsyncIterator[tuple[Gate, Shelf, str]]:
    """A gate with a save that was approved, for an hour, and not made."""
    shelf = Shelf()
    async with opened(gate_path, shelf.tools, ASKS, host=host) as gate:
        yield gate, shelf, await granted(gate)


async def test_an_approval_that_has_expired_stays_so_when_the_clock_is_set_back(
    waiting: tuple[Gate, Shelf, str], wall: Wall, caplog: pytest.LogCaptureFixture
) -> None:
    gate, shelf, approval = waiting
    wall.set(HOUR + 60)
    await gate.call(search(), principal=ALICE)
    wall.set(-HOUR)
    with caplog.at_level(logging.WARNING, "interlock.clock"):
        assert code(await gate.approvals.resume(approval, by=ALICE)) == "APPROVAL_EXPIRED"
    assert "was set back" in caplog.text
    assert shelf.saved == []


async def test_an_approval_is_used_once_whichever_way_the_clock_is_set(
    waiting: tuple[Gate, Shelf, str], wall: Wall
) -> None:
    gate, shelf, approval = waiting
    wall.set(-HOUR)
    assert code(await gate.approvals.resume(approval, by=ALICE)) == "ok"
    for way in (HOUR // 2, -HOUR, HOUR // 2):
        wall.set(way)
        assert code(await gate.call(save(), principal=ALICE, task="t")) == "ok"
    assert len(shelf.saved) == 1


async def test_a_window_of_a_budget_that_is_over_does_not_begin_again(gate_path: str, host: Host, wall: Wall) -> None:
    shelf = Shelf()
    limit = Limit(ScopeKind.PRINCIPAL, Unit.CALLS, 2, HOUR)
    async with opened(gate_path, shelf.tools, ALL, limits=[limit], host=host, deadline_ms=200) as gate:
        for _ in range(3):
            last = code(await gate.call(search(), principal=ALICE))
        assert last == "RATE_LIMITED"
        wall.set(-HOUR)  # the hour before, in which nothing was called yet
        assert code(await gate.call(search(), principal=ALICE)) == "RATE_LIMITED"
        wall.set(2 * HOUR)
        assert code(await gate.call(search(), principal=ALICE)) == "ok"
    assert len(shelf.searched) == 3


@pytest.mark.parametrize("way", [-HOUR, HOUR])
async def test_a_call_on_its_way_is_neither_cut_off_nor_taken_over_nor_made_twice(
    gate_path: str, host: Host, wall: Wall, way: int
) -> None:
    shelf = Shelf()
    shelf.open.clear()
    async with opened(gate_path, shelf.tools, ALL, host=host) as gate:
        calling = asyncio.ensure_future(gate.call(save(), principal=ALICE, task="t"))
        await shelf.started.wait()
        wall.set(way)
        await gate.recovery.recover()
        second = asyncio.ensure_future(gate.call(save(), principal=ALICE, task="t"))
        await checkpoint()
        shelf.open.set()
        assert [code(await each) for each in (calling, second)] == ["ok", "ok"]
        wall.set(-2 * way)
        again = await gate.call(save(), principal=ALICE, task="t")
        assert (code(again), again.replayed) == ("ok", True)
    assert len(shelf.saved) == 1


@pytest.mark.requirement("AUD-2")
async def test_records_keep_their_order_in_time_and_the_log_holds_in_the_next_gate_too(
    gate_path: str, host: Host, wall: Wall
) -> None:
    shelf = Shelf()
    async with opened(gate_path, shelf.tools, ALL, host=host) as gate:
        for way in (-HOUR, 2 * HOUR, -HOUR, 0):
            await gate.call(search(), principal=ALICE)
            await gate.audit.checkpoint()
            wall.set(way)
        found = await gate.audit.query(AuditQuery(), by=AUDITOR)
        assert isinstance(found, tuple)
        times = [each.at_us for each in found]
        assert times == sorted(times)
        assert isinstance(await gate.audit.verify(), Verified)
    if gate_path == ":memory:":
        return
    wall.set(-HOUR)  # a new gate follows the machine's clock, whatever an earlier one has written
    anew = Host(clock=SystemClock(wall.now_ns), key_folder=host.key_folder)
    async with opened(gate_path, shelf.tools, ALL, host=anew) as gate:
        assert code(await gate.call(search(), principal=ALICE)) == "ok"
        assert isinstance(await gate.audit.verify(), Verified)


async def test_who_waits_for_a_window_waits_no_longer_than_their_deadline_when_the_clock_is_set_back(
    host: Host, wall: Wall
) -> None:
    shelf = Shelf()
    limit = Limit(ScopeKind.PRINCIPAL, Unit.CALLS, 1, 1)
    async with opened(":memory:", shelf.tools, ALL, limits=[limit], host=host, deadline_ms=4_000) as gate:
        assert code(await gate.call(search(), principal=ALICE)) == "ok"
        waits = asyncio.ensure_future(gate.call(search(), principal=ALICE))
        for _ in range(50):  # it stands in line by then
            await checkpoint()
        wall.set(-HOUR)
        assert code(await asyncio.wait_for(waits, 10)) == "ok"
    assert len(shelf.searched) == 2
