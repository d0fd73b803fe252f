"""Drives runs in this process: one task each, and a look around every so often for what is due.

A run that waits costs nothing here: it is let go of, and taken again by whoever looks first once it is due. A run whose
process died is due at once. What cannot be driven (its journal cannot be read, a fault of ours) is let go of with a
growing pause and, after a few times, ended where its journal can be read, so that it neither hangs nor spins.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final

from interlock.core.errors import StoreError
from interlock.loop.drive import Drive
from interlock.loop.entries import KINDS, Ended, Faulted, Step, Wish, Wished, read
from interlock.loop.interrupted import RunLost
from interlock.loop.machine import RESTING, Cause, State
from interlock.loop.reach import Reach
from interlock.loop.view import RunView
from interlock.ports import RunClaim, StoredRun
from interlock.runtime.faults import report
from interlock.settings import Drives

log = logging.getLogger("interlock.runs")

DUE_MAX: Final = 64
AT_ONCE_MAX: Final = 1_000
FAILURES_MAX: Final = 5
PAUSE_S: Final = 2.0
DOUBLINGS_MAX: Final = 8

Place = tuple[str, str]


class EmbeddedEngine:
    """The engine of one process. `every_s`: how often it looks around; 0: only when it is asked to. `drives`: which.

    Where there are no models it takes no run by itself, so that one who only watches keeps it from nobody. One that it
    is asked for by name it takes: to be cancelled or paused takes no model.
    """

    def __init__(self, reach: Reach, *, every_s: float, drives: Drives = Drives.DUE) -> None:
        self._reach = reach
        self._every_s = every_s
        self._which = drives
        self._named: set[Place] = set()
        self._drives: dict[Place, Drive] = {}
        self._tasks: dict[Place, asyncio.Task[None]] = {}
        self._failures: dict[Place, list[str]] = {}
        self._looking: asyncio.Task[None] | None = None
        self._is_closing = False

    @property
    def is_driving(self) -> bool:
        """Whether it drives any runs at all."""
        return self._which is not Drives.NONE

    def begin(self) -> None:
        """Look around from now on."""
        if self.is_driving and self._every_s and self._looking is None:
            self._looking = asyncio.create_task(self._look_around())

    def start(self, view: RunView, claim: RunClaim) -> None:
        """Drive a run that this process holds."""
        place = (claim.tenant, claim.id)
        if self._which is Drives.NAMED:
            self._named.add(place)
        drive = Drive(self._reach, view, claim)
        self._drives[place] = drive
        self._tasks[place] = asyncio.create_task(self._see_through(place, drive))

    def driven(self, tenant: str, run_id: str) -> RunView | None:
        """Where a run stands that is driven here; None for any other."""
        drive = self._drives.get((tenant, run_id))
        return None if drive is None else drive.view

    async def rested(self, tenant: str, run_id: str) -> RunView | None:
        """Where a run stands once it is not driven here any more; None for one that was not."""
        drive = self._drives.get((tenant, run_id))
        if drive is None:
            return None
        await asyncio.wait([self._tasks[tenant, run_id]])
        return drive.view

    async def wake(self, tenant: str, run_id: str) -> None:
        """Look at a run now: take it, or have the one who drives it here hear what was said.

        What was said or decided is durable by then: where the store fails now, the next look around finds the run due.
        """
        drive = self._drives.get((tenant, run_id))
        try:
            if drive is not None:
                await self._heard(drive)
            elif self._which is Drives.DUE or (tenant, run_id) in self._named:
                await self._take(tenant, run_id)
        except StoreError as fault:
            report(log, f"the run {run_id} was not looked at", fault=fault, redactor=self._reach.records.redactor)

    async def go_on(self, tenant: str, run_id: str) -> None:
        """Drive a run here from now on, whenever it is due and nobody else has it; look at it now."""
        if self._which is Drives.NAMED:
            self._named.add((tenant, run_id))
        await self.wake(tenant, run_id)

    async def recover(self) -> int:
        """Take what is due, now; how many runs were taken."""
        room = min(DUE_MAX, AT_ONCE_MAX - len(self._tasks))
        if self._is_closing or room <= 0 or (self._reach.models.is_empty and not self._named):
            return 0
        now_us = self._reach.world.clock.now_us()
        if self._which is Drives.DUE:
            due = await self._reach.world.runs.due_runs(now_us, room)
        else:
            due = tuple([each async for each in self._named_and_due(now_us)])
        taken = 0
        for found in due[:room]:
            taken += await self._look_at(found)
        return taken

    async def close(self) -> None:
        """Let go of every run at its next step; what a gate has claimed for them is seen through."""
        self._is_closing = True
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait([self._looking])
        for drive in tuple(self._drives.values()):
            drive.leave()
        while self._tasks:
            await asyncio.wait(tuple(self._tasks.values()))

    # --- looking around -----------------------------------------------------------------------------------------------

    async def _look_around(self) -> None:
        while True:
            # Not the gate's clock: what is looked for are other processes and people, whose time is real.
            await asyncio.sleep(self._every_s)
            try:
                while await self.recover() == DUE_MAX:
                    pass
            except Exception as fault:  # noqa: BLE001 - the store may be away for a while; the next look finds what this one missed
                report(log, "runs could not be looked for", fault=fault, redactor=self._reach.records.redactor)

    async def _named_and_due(self, now_us: int) -> AsyncIterator[StoredRun]:
        """Those of the runs that it was asked to drive which want to be looked at, or whose process has died."""
        for place in tuple(self._named):
            found = await self._reach.world.run_reads.run(*place)
            if found is None or found.over:
                self._named.discard(place)
            elif place in self._drives:
                if found.wake_us == 0:
                    yield found
            elif not found.held and _is_due(found, now_us):
                yield found

    async def _look_at(self, found: StoredRun) -> int:
        drive = self._drives.get((found.tenant, found.id))
        if drive is not None:
            await self._heard(drive)
            return 0
        return int(await self._take(found.tenant, found.id))

    async def _take(self, tenant: str, run_id: str) -> bool:
        if self._is_closing or (self._reach.models.is_empty and (tenant, run_id) not in self._named):
            return False
        claim = await self._reach.world.runs.take_run(tenant, run_id, self._reach.world.clock.now_us())
        if claim is None:
            return False
        self.start(RunView(tenant, run_id), claim)
        return True

    async def _heard(self, drive: Drive) -> None:
        """Stop what a run is at where somebody wants it cancelled; all else it hears at its next step."""
        view = drive.view
        said = await self._reach.world.run_reads.run_entries(view.tenant, view.id, after=view.version, limit=DUE_MAX)
        wished = [read(each).body for each in said if each.kind == KINDS[Wished]]
        if any(isinstance(body, Wished) and body.what is Wish.CANCEL for body in wished):
            drive.interrupt()

    # --- one run ------------------------------------------------------------------------------------------------------

    async def _see_through(self, place: Place, drive: Drive) -> None:
        try:
            with suppress(RunLost):  # whoever has it now goes on with it
                await drive.catch_up()
                await drive.run()
            self._failures.pop(place, None)
        except Exception as fault:  # noqa: BLE001 - whatever is wrong with one run, the others go on, and it must not stay held
            await self._set_aside(place, drive, fault)
        finally:
            if self._drives.get(place) is drive:  # else it was taken again meanwhile
                del self._drives[place], self._tasks[place]

    async def _set_aside(self, place: Place, drive: Drive, fault: Exception) -> None:
        """Say what is wrong, and let go of the run for a while, or for good. Of each kind the log has one trace."""
        kind, failures = type(fault).__name__, self._failures.setdefault(place, [])
        said, redactor = f"the run {place[1]} could not go on", self._reach.records.redactor
        if kind in failures:
            log.warning("%s: %s, time %d", said, kind, len(failures) + 1)
        else:
            report(log, said, fault=fault, redactor=redactor)
        failures.append(kind)
        pause_s = PAUSE_S * 2 ** min(len(failures), DOUBLINGS_MAX)
        until_us = drive.now_us() + int(pause_s * 1_000_000)
        try:
            if len(failures) >= FAILURES_MAX and await _is_given_up(drive):
                del self._failures[place]
                return
            attempt = f"attempt {len(failures)} of {FAILURES_MAX}" if len(failures) < FAILURES_MAX else "left to others"
            await _note(drive, f"It could not go on ({kind}): {attempt}, again in {pause_s:g} s.", until_us=until_us)
            await drive.set_down(until_us=until_us)
        except RunLost:
            return
        except Exception as other:  # noqa: BLE001 - whatever it is, the engine goes on
            report(log, f"the run {place[1]} stays held", fault=other, redactor=redactor)


async def _note(drive: Drive, why: str, *, until_us: int) -> None:
    """Write down that a run could not go on, where its journal can be read and be written."""
    with suppress(Exception):  # it is set aside all the same
        await drive.move(Step(Faulted(why, 0, until_us), ()))


async def _is_given_up(drive: Drive) -> bool:
    """End a run that could not go on. One whose journal cannot be read is left to who can: a newer version may."""
    try:
        await drive.end(Cause.GAVE_UP, Ended("fault", "It could not go on; the log says why."))
    except StoreError:
        return False
    return True


def _is_due(found: StoredRun, now_us: int) -> bool:
    """Whether a run that nobody holds wants to be looked at. One that rests without a time waits for people alone."""
    return State(found.state) not in RESTING if found.wake_us is None else found.wake_us <= now_us
