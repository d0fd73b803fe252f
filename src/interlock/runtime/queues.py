"""Has calls wait for what frees up by itself (rates, calls at once): in order, tenants in turn, and never as a herd.

Every limit that is reached has a room in this process. When something may have been let go of, one of those who wait
looks again, and what it sees tells how many may follow: each with a place of its own. It looks

- when a hold is settled here, or somebody let through did not need the place after all;
- when a window turns, or a `wake` comes from outside;
- and now and then, in case another process has let go of something and cannot say so.

A turn lasts until its call is claimed; one that was called in vain comes first again. A newcomer that needs what others
wait for waits behind them; one that has waited already does not, or two rooms could send it to and fro.

Where nobody waits all of this costs a look whether `walkers` is empty.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

from interlock.core.budget import Exhausted, Limit, Reservation, ScopeKey, ScopeKind, Unit, Usage
from interlock.core.decision import Allow, Decision, Deny, over_limit
from interlock.core.facts import Facts
from interlock.core.line import FairLine
from interlock.core.refusals import Code
from interlock.ports import Clock, Entropy
from interlock.runtime.proposal import Proposal

PAUSE_S = 0.05
"""How long it takes at first until one looks whether another process has let go of something; then ever longer."""

PAUSE_MAX_S = 1.0

LEAST_S = 0.005
"""The shortest time that anything is waited for."""

CLOSING = Deny(Code.CANCELLED, "The gate is closing; nothing was started.")

COUNTED = frozenset({Unit.ROUNDS, Unit.CALLS})
"""What a window gives back only when it turns; of the rest a call that ends may have taken less than it held."""

Place = tuple[str, ScopeKind, str, Unit, int]
"""What is waited for: tenant, kind and id of the scope, unit and length of the window."""

Walker = asyncio.Task[object]
"""Who walks a call through the gate."""


@dataclass(slots=True, eq=False)
class _Waiter:
    """Who waits. `called` is False where the time is up, or the place was another's."""

    walker: Walker
    tenant: str
    deadline_s: float
    called: asyncio.Future[bool]
    retry_after_s: float = 0.0


@dataclass(slots=True, eq=False)
class _Room:
    """Those who wait for one place. `through` are on their way: let through, and not claimed yet.

    `has_news`: meanwhile something may have been let go of. `turns_us` is when the window turns, where that is known;
    other times are on the event loop's clock.
    """

    place: Place
    limit: Limit
    since_s: float
    poll_s: float
    turns_us: int | None = None
    line: FairLine[_Waiter] = field(default_factory=FairLine)
    through: int = 0
    has_news: bool = False
    claimed: int = 0
    is_untold: bool = True
    pause_s: float = PAUSE_S
    wakes_s: float = 0.0
    keeper: asyncio.Task[None] | None = None

    @property
    def frees_early(self) -> bool:
        """Whether something may be let go of before the window turns."""
        return self.turns_us is None or self.limit.unit not in COUNTED


class Queues:
    """The rooms of this process. Owned by the gate.

    `walkers` are the calls that have waited and are neither claimed nor ended, each with the room whose turn it has.
    """

    def __init__(self, clock: Clock, entropy: Entropy, *, waiting_max: int) -> None:
        self.walkers: dict[Walker, _Room | None] = {}
        self._clock = clock
        self._entropy = entropy
        self._waiting_max = waiting_max
        self._rooms: dict[Place, _Room] = {}
        self._is_closed = False
        self._nobody_left = asyncio.Event()

    def in_turn(self, decision: Decision, facts: Facts) -> Decision:
        """The decision; for a newcomer that needs what others wait for, the refusal to be served before them."""
        walker = _walker()
        has_waited = walker in self.walkers
        if not isinstance(decision, Allow):
            if has_waited and not (isinstance(decision, Deny) and decision.over is not None):
                self._give_back(walker)
            return decision
        for reservation, usage in zip(facts.reservations, facts.usage, strict=True):
            for limit in reservation.limits:
                room = self._rooms.get(_place(reservation.scope, limit))
                if room is None or not reservation.amounts[limit.unit.place]:
                    continue
                read = Usage.read(usage)
                left = limit.amount - read.used[limit.unit.place] - read.held[limit.unit.place]
                places = left // reservation.amounts[limit.unit.place]
                self._note_turn(room, _turns_us(reservation.scope, limit))
                self._let(room, places - room.through)
                if not has_waited and (len(room.line) or places <= room.through):
                    over = Exhausted(limit, reservation.scope, left, room.turns_us)
                    deny = over_limit(over, now_us=self._clock.now_us())
                    return replace(deny, retry_after_s=PAUSE_S, verdict=decision.verdict)
        return decision

    async def wait(self, deny: Deny, proposal: Proposal) -> Deny | None:
        """None once the call may look again; else the refusal, with when to come back."""
        over, now_s = deny.over, self._clock.monotonic_s()
        if deny.code is not Code.RATE_LIMITED or over is None:
            return deny
        if self._is_closed:
            return replace(CLOSING, verdict=deny.verdict)
        waiter = _Waiter(_walker(), proposal.caller.principal.tenant, proposal.deadline_s, _future())
        wait_s = 0.0 if over.resets_us is None else deny.retry_after_s or 0.0
        if now_s + wait_s >= proposal.deadline_s:
            room = self._rooms.get(_place(over.scope, over.limit))
            return deny if room is None else replace(deny, retry_after_s=self._retry_after_s(room, len(room.line)))
        room = self._entered(over, waiter)
        if room is None:
            return self._refusal(deny, waiter)
        try:
            is_called = await waiter.called
        finally:
            room.line.leave(waiter, tenant=waiter.tenant)
            self._tend(room)
        return None if is_called else self._refusal(deny, waiter)

    def arrived(self) -> None:
        """This call is claimed: it holds what it waited for."""
        room = self.walkers.pop(_walker(), None)
        if room is not None:
            room.claimed += 1
            room.pause_s = PAUSE_S
            self._out(room)
        self._note_gone()

    def left(self) -> None:
        """This call has ended; a turn that it did not use is handed on."""
        self._give_back(_walker())
        self.walkers.pop(_walker(), None)
        self._note_gone()

    def released(self, holds: tuple[Reservation, ...]) -> None:
        """What a call of this process held is settled."""
        for scope, _, limits in holds:
            for limit in limits:
                room = self._rooms.get(_place(scope, limit))
                if room is not None and limit.unit not in COUNTED:
                    self._tell(room)

    def wake(self, scope: ScopeKey) -> None:
        """Another process has let go of something of this scope, or may have."""
        for room in tuple(self._rooms.values()):
            if room.place[:3] == scope[:3]:
                self._tell(room)

    async def close(self) -> None:
        """Let nobody wait any more, and wait until all of them have heard it."""
        self._is_closed = True
        for room in tuple(self._rooms.values()):
            self._refuse(room, list(room.line))
            self._tend(room)
        while self.walkers:
            self._nobody_left.clear()
            await self._nobody_left.wait()

    # --- who comes and goes -------------------------------------------------------------------------------------------

    def _entered(self, over: Exhausted, waiter: _Waiter) -> _Room | None:
        """The room that the waiter now waits in; None where it is full."""
        mine, place = self.walkers.get(waiter.walker), _place(over.scope, over.limit)
        room = self._rooms.get(place)
        if room is None:
            now_s = self._clock.monotonic_s()
            room = self._rooms[place] = _Room(place, over.limit, now_s, now_s + PAUSE_S)
        self._note_turn(room, over.resets_us)
        if mine is room:
            self.walkers[waiter.walker] = None
            room.line.join_first(waiter, tenant=waiter.tenant)
            self._out(room)
        elif mine is None and not self._has_place(room, waiter):
            return None
        else:
            self._give_back(waiter.walker)
            self.walkers[waiter.walker] = None
            room.line.join(waiter, tenant=waiter.tenant)
            if len(room.line) == 1 and (room.is_untold or (over.left and over.limit.unit in COUNTED)):
                self._tell(room)  # since its look somebody may have let go of something, with nobody here to hear it
        room.is_untold = False
        self._tend(room, by=waiter)
        return room

    def _has_place(self, room: _Room, waiter: _Waiter) -> bool:
        """Whether one more may wait: in a full room, who came last of the tenant that most wait of goes for others."""
        if len(room.line) < self._waiting_max:
            return True
        most = room.line.last_of_most()
        if most is not None and room.line.of(most[0]) > room.line.of(waiter.tenant) + 1:
            self._refuse(room, [most[1]])
            return True
        waiter.retry_after_s = self._retry_after_s(room, len(room.line))
        return False

    def _let(self, room: _Room, count: int) -> None:
        """Let so many through, as far as somebody waits."""
        for _ in range(count):
            if not self._call_next(room):
                break
        self._tend(room)

    def _call_next(self, room: _Room) -> bool:
        while (waiter := room.line.next()) is not None:
            if not waiter.called.done():  # else cancelled, and about to leave
                room.through += 1
                self.walkers[waiter.walker] = room
                waiter.called.set_result(True)
                return True
        return False

    def _tell(self, room: _Room) -> None:
        """There may be a place: one looks, but after those who are on their way, who may be about to take it."""
        if room.through:
            room.has_news = True
        else:
            self._let(room, 1)

    def _out(self, room: _Room) -> None:
        """One who was let through is so no more."""
        room.through -= 1
        if not room.through:
            if room.has_news:
                room.has_news = False
                self._let(room, 1)
            else:
                self._refuse(room, self._too_late(room))
        self._tend(room)

    def _give_back(self, walker: Walker) -> None:
        """Hand on a turn that was not used."""
        room = self.walkers.get(walker)
        if room is not None:
            self.walkers[walker] = None
            room.has_news = True
            self._out(room)

    def _refuse(self, room: _Room, waiters: list[_Waiter]) -> None:
        for waiter in waiters:
            waiter.retry_after_s = self._retry_after_s(room, room.line.ahead_of(waiter, tenant=waiter.tenant))
        for waiter in waiters:
            room.line.leave(waiter, tenant=waiter.tenant)
            if not waiter.called.done():
                waiter.called.set_result(False)

    def _refusal(self, deny: Deny, waiter: _Waiter) -> Deny:
        if self._is_closed:
            return replace(CLOSING, verdict=deny.verdict)
        return replace(deny, retry_after_s=waiter.retry_after_s)

    def _note_gone(self) -> None:
        if not self.walkers:
            self._nobody_left.set()

    # --- time ---------------------------------------------------------------------------------------------------------

    def _tend(self, room: _Room, *, by: _Waiter | None = None) -> None:
        """See that somebody keeps the time while anybody waits, and that nothing is left once nobody is there."""
        keeper = room.keeper
        if keeper is not None and (not len(room.line) or (by is not None and by.deadline_s < room.wakes_s)):
            room.keeper = None
            if keeper is not asyncio.current_task():
                keeper.cancel()
        if len(room.line) and room.keeper is None:
            if keeper is None:
                room.poll_s = self._clock.monotonic_s() + self._jittered(room.pause_s)
            room.wakes_s = 0.0
            room.keeper = asyncio.create_task(self._keep_time(room))
        if not len(room.line) and not room.through and self._rooms.get(room.place) is room:
            del self._rooms[room.place]

    async def _keep_time(self, room: _Room) -> None:
        while room.keeper is asyncio.current_task():
            now_s = self._clock.monotonic_s()
            sleep_s = max(self._next_s(room, now_s) - now_s, LEAST_S)
            room.wakes_s = now_s + sleep_s
            await self._clock.sleep(sleep_s)
            self._tick(room)

    def _tick(self, room: _Room) -> None:
        """Who has no time left goes; where something may have freed up by now, one looks."""
        now_s, now_us = self._clock.monotonic_s(), self._clock.now_us()
        self._refuse(room, [each for each in room.line if each.deadline_s <= now_s])
        if room.turns_us is not None and room.turns_us <= now_us:
            room.turns_us = None
            self._tell(room)
        elif room.frees_early and room.poll_s <= now_s:
            room.pause_s = min(2 * room.pause_s, PAUSE_MAX_S)
            room.poll_s = now_s + self._jittered(room.pause_s)
            if not room.through or room.pause_s == PAUSE_MAX_S:  # for who is on the way may be held up there
                self._let(room, 1)
        self._tend(room)

    def _too_late(self, room: _Room) -> list[_Waiter]:
        """Those who would wait in vain: this window is used up, and they have no time left when it turns."""
        if room.turns_us is None or room.frees_early:
            return []
        turns_s = self._clock.monotonic_s() + (room.turns_us - self._clock.now_us()) / 1e6
        return [each for each in room.line if each.deadline_s <= turns_s]

    def _next_s(self, room: _Room, now_s: float) -> float:
        """When something is to be done next."""
        times = [min(each.deadline_s for each in room.line)]
        if room.turns_us is not None:
            times.append(now_s + (room.turns_us - self._clock.now_us()) / 1e6)
        if room.frees_early:
            times.append(room.poll_s)
        return min(times)

    def _note_turn(self, room: _Room, turns_us: int | None) -> None:
        if turns_us is not None:
            room.turns_us = turns_us

    def _retry_after_s(self, room: _Room, ahead: int) -> float:
        """When it may be one's turn, with so many ahead: by the windows that they take, or at the pace so far."""
        limit = room.limit
        if room.turns_us is None or limit.unit not in COUNTED:
            passed_s = self._clock.monotonic_s() - room.since_s
            return max(PAUSE_S, (ahead + 1) * passed_s / max(1, room.claimed))
        windows = ahead // max(1, limit.amount)
        return max(0.0, (room.turns_us - self._clock.now_us()) / 1e6) + windows * limit.window_s

    def _jittered(self, seconds: float) -> float:
        """Half of it to one and a half: processes that began together do not go on together."""
        return seconds * (0.5 + self._entropy.bytes(1)[0] / 255)


def _place(scope: ScopeKey, limit: Limit) -> Place:
    return (scope.tenant, scope.kind, scope.id, limit.unit, limit.window_s)


def _turns_us(scope: ScopeKey, limit: Limit) -> int | None:
    return scope.window_us + limit.window_s * 1_000_000 if limit.window_s else None


def _walker() -> Walker:
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("a call is walked through the gate by a task")
    return task


def _future() -> asyncio.Future[bool]:
    return asyncio.get_running_loop().create_future()
