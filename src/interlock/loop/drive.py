"""Drives one run: looks where it stands, does the next thing, writes down what came of it, until it rests or is over.

    step -> ask the model | put its calls to the gate | wait -> move (one transaction) -> apply -> step

Nothing that a model or a tool has answered is used before it is in the journal, so a run that is killed goes on from
there: an answer that is recorded is not asked for again, a call that has ended is not made again, and one that was on
its way is proposed again under the same key, which the gate knows. Whoever lost the run writes nothing more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from enum import Enum, auto
from typing import TypeVar

from interlock.core.approval import ApprovalState
from interlock.core.budget import Reservation
from interlock.core.errors import StoreError
from interlock.core.journal import Event, EventKind
from interlock.loop.asking import Asking
from interlock.loop.calling import Calling
from interlock.loop.entries import (
    Ended,
    Entry,
    Moved,
    Step,
    Wish,
    causes_of,
    entries_after,
    entries_of,
)
from interlock.loop.interrupted import CutOff, Interrupted, RunLost
from interlock.loop.machine import OVER, RESTING, Cause, State, after
from interlock.loop.noting import Noting
from interlock.loop.reach import Reach
from interlock.loop.report import end_record
from interlock.loop.verdict import ASKS, over
from interlock.loop.view import RunView
from interlock.models.turn import Turn
from interlock.ports import NotMoved, RunClaim, RunMove

T = TypeVar("T")


SURE_S = 1.0
"""For how long a run is surely held that was just moved, or taken: shorter than any lease."""
EXPIRY_LATE_S = 0.01
WOUND_US = 5_000
"""For how long a timer is taken for right that was just looked at: shorter than it may be late."""

TURN_S = 0.005
"""For how long a run goes on without letting others in this process have a turn."""

TRIES = 256
"""How often a step is written anew because something was said meanwhile: what was paid for is not given up for talk."""

_RESTED = {Wish.PAUSE: Cause.PAUSED, Wish.HAND_OVER: Cause.HANDED_OVER}
_BACK = {State.PAUSED: Wish.RESUME, State.WAITING_HUMAN: Wish.HAND_BACK}


class _At(Enum):
    """What a run waits for at the moment."""

    STEP = auto()
    MODEL = auto()
    CALLS = auto()


# What every step is compared with: looking a member up in its class costs as much as a call.
_STEP, _MODEL, _CALLS = _At.STEP, _At.MODEL, _At.CALLS
_RESPONSE, _TOOLS, _CANCEL = State.MODEL_RESPONSE, State.TOOLS, Wish.CANCEL


class Drive:
    """One run in this process, while it is held. Implements what `Asking` and `Calling` need of a run."""

    def __init__(self, reach: Reach, view: RunView, claim: RunClaim) -> None:
        self.reach = reach
        self.view = view
        self.claim = claim
        self.clock = reach.world.clock
        self.now_us = self.clock.now_us
        self.asking = Asking(self)
        self._calling = Calling(self)
        self._task: asyncio.Task[object] | None = None
        self._at = _STEP
        self._stop_asked = False
        self._leaving = False
        self._is_expired = False
        self._timer: asyncio.TimerHandle | None = None
        self._looked_us = self._wound_us = 0
        self._held_s = self.clock.monotonic_s()

    async def run(self) -> None:
        """Go on until the run rests, is over, or is lost."""
        self._task = asyncio.current_task()
        loop = asyncio.get_running_loop()
        turn_s = loop.time()
        try:
            while await self._step():
                if loop.time() - turn_s > TURN_S:  # a model and tools that never wait must not keep others waiting
                    await asyncio.sleep(0)
                    turn_s = loop.time()
                if self._leaving:
                    await self._leave_off()
                    return
        except RunLost:
            return
        finally:
            if self._timer is not None:
                self._timer.cancel()

    async def _leave_off(self) -> None:
        """Let go of the run as it stands, for whoever looks first."""
        while not await self.rest(until_us=self.now_us()):
            pass

    def interrupt(self) -> None:
        """Stop what it is at, if that can be stopped, and look what was said to it."""
        self._stop_asked = True
        if self._at is not _STEP and self._task is not None:
            self._task.cancel()

    def leave(self) -> None:
        """Let go of the run at its next step: calls that were claimed are waited for, an answer of a model is not."""
        self._leaving = True
        if self._at is _MODEL and self._task is not None:
            self._task.cancel()

    async def ask(self, work: Coroutine[object, object, T]) -> T:
        """Wait for a model, or a moment, for as long as nobody wants the run to stop and its time is not over.

        Raises `Interrupted`.
        """
        expires_us = self.view.begun.expires_us
        if expires_us is not None and (self._timer is None or not 0 <= self._looked_us - self._wound_us < WOUND_US):
            self._wind(expires_us)
        return await self._see(work, _MODEL)

    def _wind(self, expires_us: int) -> None:
        """Interrupt the run when its time is over: one timer for all its requests, wound anew where clocks part."""
        loop, self._wound_us = asyncio.get_running_loop(), self.now_us()
        at_s = loop.time() + max(0.0, (expires_us - self._wound_us) / 1_000_000) + EXPIRY_LATE_S
        timer = self._timer
        if timer is not None and abs(timer.when() - at_s) < EXPIRY_LATE_S:
            return
        if timer is not None:
            timer.cancel()
        self._timer = loop.call_at(at_s, self._expire)

    def _expire(self) -> None:
        self._timer = None
        if self._at is _MODEL and self._task is not None:
            self._is_expired = True
            self._task.cancel()

    async def see(self, work: Coroutine[object, object, T]) -> T:
        """Wait for calls, for as long as nobody wants the run to stop. Raises `Interrupted`."""
        return await self._see(work, _CALLS)

    async def _see(self, work: Coroutine[object, object, T], at: _At) -> T:
        if self._is_to_stop(at):
            work.close()
            raise Interrupted
        self._at = at
        try:
            return await work
        except asyncio.CancelledError as cut:
            if self._task is None or not self._is_to_stop(at):
                if self._task is not None and not self._task.cancelling():
                    raise CutOff(self.view.id) from cut
                raise
            self._task.uncancel()
            raise Interrupted from None
        finally:
            self._at = _STEP

    def _is_to_stop(self, at: _At) -> bool:
        return self._stop_asked or (at is _MODEL and (self._leaving or self._is_expired))

    async def sure(self) -> None:
        """Look whether the run is held still, where some time has passed: a process may have stood still for long, and
        who comes back too late asks no model and proposes no call. Raises `RunLost`."""
        if self.clock.monotonic_s() - self._held_s <= SURE_S:
            return
        found = await self.reach.world.run_reads.run(self.view.tenant, self.view.id)
        if found is None or found.over or found.fence != self.claim.fence:
            raise RunLost(self.view.id)
        self._held_s = self.clock.monotonic_s()

    # --- one step -----------------------------------------------------------------------------------------------------

    async def _step(self) -> bool:
        """Do the next thing. False: there is nothing to do now."""
        view = self.view
        if view.state in OVER:
            return False
        wish = view.wishes.get(_CANCEL) if view.wishes else None
        if wish is not None:
            await self.end(Cause.CANCELLED, Ended("cancelled", f"Cancelled by {wish.by}. {wish.text}".strip()))
            return False
        self._looked_us = self.now_us()
        broken = over(view, now_us=self._looked_us)
        if broken is not None:
            await self.end(*broken)
            return False
        try:
            if view.wishes:
                return await self._at_its_state()
            is_asking = view.state in ASKS
            goes_on = await self._next()
            if is_asking and goes_on and self._may_call():
                goes_on = await self._calling.step()
            return goes_on
        except Interrupted:
            self._stop_asked = self._is_expired = False
            await self.catch_up()
            return True

    def _may_call(self) -> bool:
        """Whether the calls of an answer that was just taken in may be made with no step between: there is time, nobody
        wants anything, and an answer that calls something is no trouble."""
        view = self.view
        if view.state is not _TOOLS or view.wishes or self._leaving or self._stop_asked:
            return False
        expires_us = view.begun.expires_us
        return expires_us is None or self.now_us() < expires_us

    async def _at_its_state(self) -> bool:
        """What somebody wants, or else what comes next."""
        view = self.view
        rested = next((wish for wish in _RESTED if wish in view.wishes), None)
        if rested is not None and view.state not in _BACK and view.state is not _RESPONSE:
            asked = view.wishes[rested]
            await self._come_to_rest(Moved(": ".join(filter(None, (asked.by, asked.text)))), _RESTED[rested])
            return True
        return await self._next()

    def _next(self) -> Coroutine[object, object, bool]:
        """What comes next where nobody wants anything else."""
        state = self.view.state
        if state in ASKS:
            return self.asking.step()
        if state in _BACK:
            return self._back(_BACK[state])
        return self.asking.finish() if state is _RESPONSE else self._calling.step()

    async def _come_to_rest(self, moved: Moved, cause: Cause) -> None:
        """Rest as was wished. Where something was said meanwhile, look first: the wish may be taken back."""
        version = self.view.version
        await self.catch_up()
        if self.view.version == version:
            await self.move(Step(moved, (cause,)), tries=1)

    async def _back(self, wanted: Wish) -> bool:
        """A run that rests goes on once somebody says so."""
        view = self.view
        if wanted not in view.wishes:
            return not await self.rest()
        has_calls = view.spent.rounds > 0 and bool(view.round.open or view.round.waiting)
        cause = Cause.BACK_TO_TOOLS if has_calls else Cause.BACK_TO_MODEL
        await self.move(Step(Moved(view.wishes[wanted].by), (cause,)))
        return True

    # --- the journal --------------------------------------------------------------------------------------------------

    async def move(
        self, *steps: Step, turn: Turn | None = None, charges: tuple[Reservation, ...] = (), tries: int = TRIES
    ) -> None:
        """Write what happened, and then take it in. What others said meanwhile stands before it.

        Raises `RunLost`, and `Interrupted` where so many tries came too late for what was said.
        """
        view, now_us, causes = self.view, self.now_us(), causes_of(steps)
        entries = entries_of(steps, at_us=now_us)
        ended = last if isinstance(last := steps[-1].body, Ended) else None
        for _ in range(tries):
            version, began_s = view.version, self.clock.monotonic_s()
            state = after(view.state, causes)
            move = RunMove(  # by position, as every step comes by
                self.claim,
                version,
                entries,
                str(state),
                now_us,
                None,
                state in OVER,
                None if ended is None else ended.reason,
                charges,
                None if ended is None else self._ending(state, steps, ended.reason),
            )
            moved = await self.reach.world.runs.move_run(move)
            if type(moved) is int or await self._has_moved(moved):
                self._held_s = began_s
                self._take(steps, now_us, version, turn=turn)
                return
        raise Interrupted

    async def took(self, noting: Noting) -> bool:
        """Take in what was written where a call was settled. False: it is still to be written. Raises `RunLost`."""
        moved = noting.result
        if moved is None or (type(moved) is not int and not await self._has_moved(moved)):
            return False
        self._held_s = noting.began_s
        self._take(noting.steps, noting.at_us, noting.version, turn=None)
        return True

    async def _has_moved(self, moved: int | NotMoved) -> bool:
        """False: something was said meanwhile, and is taken in by now. Raises `RunLost`."""
        if moved is NotMoved.BEHIND:
            await self._fall_in()
            return False
        if isinstance(moved, NotMoved):
            raise RunLost(self.view.id)
        return True

    def _take(self, steps: Sequence[Step], at_us: int, version: int, *, turn: Turn | None) -> None:
        view = self.view
        for each in steps:
            version += 1
            view.apply(Entry(each.body, each.causes, at_us, version), turn=turn)
        self.reach.moved(view.tenant, view.id)

    async def rest(self, *, until_us: int | None = None) -> bool:
        """Let go of the run as it stands. False: something was said or decided meanwhile, so look again."""
        wakes = [each for each in (until_us, self._wake_us()) if each is not None]
        move = RunMove(
            self.claim,
            self.view.version,
            (),
            self.view.state.value,
            self.now_us(),
            wake_us=min(wakes, default=None),
            release=True,
        )
        return await self._has_moved(await self.reach.world.runs.move_run(move))

    async def set_down(self, *, until_us: int) -> None:
        """Let go of the run where its journal cannot be read on, or not be written: nothing of it is looked at."""
        moved: int | NotMoved = NotMoved.BEHIND
        while moved is NotMoved.BEHIND:
            head = await self.reach.world.run_reads.run(self.view.tenant, self.view.id)
            if head is None:
                raise RunLost(self.view.id)
            step = RunMove(self.claim, head.version, (), head.state, self.now_us(), wake_us=until_us, release=True)
            moved = await self.reach.world.runs.move_run(step)

    async def end(self, cause: Cause, ended: Ended) -> None:
        """The run is over. Questions that it put to people are taken back: nothing would come of an answer."""
        latest = self.view.round if self.view.spent.rounds else None
        for each in () if latest is None else latest.waiting:
            await self._take_back(each.seen.approval_id or "")
        await self.move(Step(ended, (cause,)))
        if latest is None or not latest.open:
            return
        tenant = self.view.tenant
        for asked in await self.reach.world.approvals.approvals(tenant, ApprovalState.PENDING):
            if asked.run == self.view.id:  # it was on its way to people when its call was stopped
                await self._take_back(asked.id)

    async def _take_back(self, approval_id: str) -> None:
        await self.reach.approvals.withdraw(approval_id, by=self.view.begun.principal, note="the run has ended")

    async def _fall_in(self) -> None:
        """Take in what stood before a step that came too late. Raises `StoreError` where the journal lacks it."""
        version = self.view.version
        await self.catch_up()
        if self.view.version == version:
            raise StoreError(f"the last entries of the run {self.view.id} are not in its journal")

    async def catch_up(self) -> None:
        """Take in what others have written meanwhile."""
        view = self.view
        async for each in entries_after(self.reach.world.run_reads, view.tenant, view.id, after=view.version):
            view.apply(each)

    def _wake_us(self) -> int | None:
        """When a resting run has to be looked at, whatever else happens."""
        view, limits = self.view, self.view.begun.limits
        may_wait = limits.waits_s is not None and view.state in RESTING
        waits = view.since_us + int((limits.waits_s or 0.0) * 1_000_000) + 1 if may_wait else None
        is_to_ask = view.state is State.MODEL_RETRY and (view.until_us or 0) > self.now_us()
        again = view.until_us if is_to_ask else None
        times = [each for each in (view.begun.expires_us, waits, again) if each is not None]
        return min(times, default=None)

    def _ending(self, state: State, steps: Sequence[Step], reason: str) -> Event:
        """The record of the end, with what was used by then: by what is written now, too."""
        record = end_record(self.view, [each.body for each in steps], state=state, reason=reason)
        return self.reach.records.act(EventKind.RUN_ENDED, self.view.tenant, record)
