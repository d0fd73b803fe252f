"""Runs as people and programs use them: start, watch, say something, pause, hand over, cancel."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Final, Unpack

from interlock.core.call import Principal, PrincipalKind, storable
from interlock.core.choice import ALWAYS, FoundTool
from interlock.core.decision import Deny
from interlock.core.errors import InterlockError, SettingsInvalid
from interlock.core.journal import EventKind
from interlock.core.lineage import Lineage, lineage_of
from interlock.core.observation import Observation
from interlock.core.policy import PolicySource
from interlock.core.refusals import Code
from interlock.loop.begin import Beginning, RunOptions
from interlock.loop.bells import Bells
from interlock.loop.engine import Engine
from interlock.loop.entries import Begun, Body, Entry, Observed, Said, Wish, Wished, entries_after, read, written
from interlock.loop.events import RunEvent, event_of
from interlock.loop.questions import standing
from interlock.loop.reach import Reach, caller_for
from interlock.loop.replay import Against, Redecided, Replay
from interlock.loop.report import RunReport, report_of
from interlock.loop.view import RunView
from interlock.ports import NotMoved, RunQuery, StoredRun
from interlock.runtime.acts import AUDITORS, OPERATORS, signed_by
from interlock.runtime.look import Looker

POLL_S: Final = 0.25
"""How often a watcher looks for what another process has written."""

Watcher = Callable[[RunEvent], Awaitable[None] | None]
"""Hears of one thing that has happened; a coroutine function is waited for."""

MISSING = Deny(Code.PRECONDITION_FAILED, "There is no such run.")
OVER = Deny(Code.RUN_ENDED, "The run is over.")


class RunUnknown(InterlockError):
    """There is no run of that id that this principal may see."""


class RunExists(InterlockError):
    """There is a run of that id already, and it is another one."""


class Run:
    """One run, as somebody who may see it holds it."""

    def __init__(self, desk: RunDesk, tenant: str, run_id: str, *, by: Principal) -> None:
        self.tenant = tenant
        self.id = run_id
        self._desk = desk
        self._by = by

    async def report(self) -> RunReport:
        """How it stands."""
        return await self._desk.report(self.tenant, self.id)

    async def result(self, *, timeout_s: float | None = None) -> RunReport:
        """How it ended, once it has. Raises `TimeoutError`; the run goes on all the same."""
        async with asyncio.timeout(timeout_s):
            return report_of(await self._desk.ended(self.tenant, self.id))

    def events(self, *, after: int = 0) -> AsyncIterator[RunEvent]:
        """Everything that happens, from the beginning or after a cursor, until the run is over; nothing twice."""
        return self._desk.events(self.tenant, self.id, after=after)

    async def watch(self, tell: Watcher, *, after: int = 0) -> int:
        """Tell a function of everything that happens, one thing after the other, until the run is over; the last
        cursor. What the function raises ends the watching and not the run."""
        async for event in self.events(after=after):
            after = event.cursor
            told = tell(event)
            if told is not None:
                await told
        return after

    async def say(self, text: str, *, by: Principal | None = None) -> Deny | None:
        """Give the model a message with its next request."""
        return await self._desk.say(self.id, text, by=by or self._by)

    async def wish(self, what: Wish, *, by: Principal | None = None, text: str = "") -> Deny | None:
        """Ask for it to be cancelled, paused, resumed, handed over to a person or back; `text` says why."""
        return await self._desk.wish(self.id, what, by=by or self._by, text=text)

    async def cancel(self, *, by: Principal | None = None, reason: str = "") -> Deny | None:
        """End it: what waits is given up, what runs is stopped where it can be."""
        return await self.wish(Wish.CANCEL, by=by, text=reason)


class RunDesk:
    """What people do with runs. Every method acts within the tenant of `by`.

    A run is seen and moved by whom it is for; by operators too, and seen by auditors. Who acts for another sees and
    moves those alone that they started themselves.
    """

    def __init__(self, reach: Reach, engine: Engine, *, bells: Bells, looker: Looker) -> None:
        self._looker = looker
        self._reach = reach
        self._engine = engine
        self._bells = bells
        self._beginning = Beginning(reach)

    async def start(self, **options: Unpack[RunOptions]) -> Run:
        """Begin a run: durable once this returns, and driven from then on by whichever process has it.

        Takes `model`, `task`, `principal`, and what else `RunOptions` has. Raises `SettingsInvalid`, `ModelUnknown`, or
        `RunExists` where `run_id` is another run's.
        """
        self._refuse_idle()
        begun = await self._beginning.begun(options)
        run_id = options.get("run_id") or self._reach.world.new_id()
        tenant = begun.principal.tenant
        kept = await self._beginning.keep(begun, run_id)
        if kept is not None:
            self._engine.start(*kept)
        elif not _is_same((await self.view(tenant, run_id)).begun, begun):
            raise RunExists(f"there is a run {run_id!r} already, with another task or for somebody else")
        return Run(self, tenant, run_id, by=begun.principal)

    async def get(self, run_id: str, *, by: Principal) -> Run:
        """A run by its id. Raises `RunUnknown`."""
        await self.head(run_id, by=by)
        return Run(self, by.tenant, run_id, by=by)

    async def head(self, run_id: str, *, by: Principal) -> StoredRun:
        """Where a run stands, and whether a process that is at work has it. Raises `RunUnknown`."""
        found = await self._reach.world.run_reads.run(by.tenant, run_id)
        if found is None or not await self._sees(found, by):
            raise RunUnknown(f"there is no run {run_id!r}; list those that are there")
        return found

    async def go_on(self, run_id: str, *, by: Principal) -> Deny | None:
        """Drive a run in this process from now on, whenever it is due and no other has it. A refusal says why."""
        found = await self._movable(run_id, by)
        if isinstance(found, Deny):
            return found
        if found.over:
            return OVER
        self._refuse_idle()
        await self._engine.go_on(by.tenant, run_id)
        return None

    async def lineage(self, run_id: str, *, by: Principal) -> Lineage:
        """What a run has observed so far, for what is made from it. Raises `RunUnknown`."""
        await self.get(run_id, by=by)
        return lineage_of(run_id, await self._observed(by.tenant, run_id))

    async def observations(self, run_id: str, *, by: Principal) -> tuple[Observation, ...]:
        """What a run was told, whole, for whom it is alone: a tool that makes something of it acts for them.

        Of a call that was observed again, as after an approval, both are there. Raises `RunUnknown`.
        """
        if not await self._is_own(await self.head(run_id, by=by), by):
            raise RunUnknown(f"there is no run {run_id!r} that is for {by.on_behalf_of}")
        return await self._observed(by.tenant, run_id)

    async def recover(self) -> int:
        """Take what is due and nobody has, now; how many runs that were."""
        return await self._engine.recover()

    async def list(self, *, by: Principal, query: RunQuery | None = None) -> tuple[StoredRun, ...]:
        """The runs that `by` may see, newest first."""
        wanted = replace(query or RunQuery(by.tenant), tenant=by.tenant)
        if not by.groups.isdisjoint(AUDITORS):
            return await self._reach.world.run_reads.runs(wanted)
        found = await self._reach.world.run_reads.runs(replace(wanted, principal=by.on_behalf_of))
        return tuple([each for each in found if await self._is_own(each, by)])

    async def replay(
        self,
        run_id: str,
        *,
        by: Principal,
        policies: Iterable[PolicySource] | None = None,
        against: Against = Against.BOUND,
    ) -> tuple[Redecided, ...]:
        """Decide every call of a run anew, under today's policies or with others in their place; nothing is executed.

        `against` says by which versions of tools. That it was done is on record. Raises `RunUnknown` or
        `PolicyInvalid`.
        """
        await self.get(run_id, by=by)
        replay = Replay(self._reach, self._looker, against=against)
        under = await replay.view(policies)
        view = RunView(by.tenant, run_id)
        found = await replay.calls(view, self._entries(by.tenant, run_id, after=0), under=under)
        record = {
            "subject": run_id,
            **signed_by(by),
            "calls": len(found),
            "differ": sum(each.differs for each in found),
        }
        await self._reach.world.audit.append(self._reach.records.act(EventKind.RUN_REPLAYED, by.tenant, record))
        return found

    def hands_to(self, tenant: str, run_id: str) -> tuple[str, ...]:
        """The names of the agents to whom the task of a run that is driven here may be handed now."""
        view = self._engine.driven(tenant, run_id)
        return () if view is None else tuple(view.agent.hand_offs)

    async def find(self, query: str, *, run_id: str, by: Principal, most: int) -> tuple[FoundTool, ...] | None:
        """The tools of a run that fit words best, of those that its agent may use now. None: it is not driven here for
        this principal."""
        view = self._engine.driven(by.tenant, run_id)
        if view is None or view.begun.principal.on_behalf_of != by.on_behalf_of:
            return None
        caller = caller_for(view, by, turn=view.round.number, model=view.round.responded.model)
        reach = self._reach
        now_us = reach.world.clock.now_us()
        tools = reach.offers.usable(reach.views.current, caller, view.begun.bound, agent=view.agent, now_us=now_us)
        most = min(most, view.begun.found_max)
        found = await reach.finding.among(query, tools, most=most + len(ALWAYS))
        return tuple(each for each in found if each.tool not in ALWAYS)[:most]

    async def view(self, tenant: str, run_id: str) -> RunView:
        """Where a run stands, by its whole journal."""
        view = RunView(tenant, run_id)
        async for entry in self._entries(tenant, run_id, after=0):
            view.apply(entry)
        return view

    async def report(self, tenant: str, run_id: str) -> RunReport:
        """How a run stands. What it waits for are the questions of now, also where one was edited just before."""
        view = await self.view(tenant, run_id)
        found, approvals = report_of(view), self._reach.world.approvals
        now = [await standing(approvals, view, asked=each) for each in found.waiting]
        return replace(found, waiting=tuple(each for each in now if each is not None))

    async def ended(self, tenant: str, run_id: str) -> RunView:
        """Where a run stands once it is over, whoever drives it."""
        while True:
            view = await self._engine.rested(tenant, run_id)
            if view is not None and view.state.is_over:
                return view
            with self._bells.hearing(tenant, run_id) as rung:
                found = await self._reach.world.run_reads.run(tenant, run_id)
                if found is None:
                    raise RunUnknown(f"there is no run {run_id!r} any more")
                if found.over:
                    return await self.view(tenant, run_id)
                await rung(POLL_S)

    async def say(self, run_id: str, text: str, *, by: Principal) -> Deny | None:
        """Give the model a message with its next request. A refusal says why."""
        return await self._tell(run_id, Said(storable(text), by.id), by=by)

    async def wish(self, run_id: str, what: Wish, *, by: Principal, text: str = "") -> Deny | None:
        """Ask something of a run. What it is told on being handed back is said to the model too. A refusal says why."""
        if what is Wish.HAND_BACK and text:
            refused = await self.say(run_id, text, by=by)
            if refused is not None:
                return refused
        return await self._tell(run_id, Wished(what, by.id, storable(text)), by=by)

    async def events(self, tenant: str, run_id: str, *, after: int = 0) -> AsyncIterator[RunEvent]:
        """Everything that happens, from the beginning or after a cursor, until the run is over."""
        view = RunView(tenant, run_id)
        while True:
            with self._bells.hearing(tenant, run_id) as rung:
                async for event in self._news(view, after=after):
                    yield event
                if view.state.is_over or view.version == 0:
                    return
                await rung(POLL_S)

    async def _news(self, view: RunView, *, after: int) -> AsyncIterator[RunEvent]:
        """What has happened since the view was last brought up to date, as far as it comes after a cursor."""
        redactor = self._reach.records.redactor
        async for entry in self._entries(view.tenant, view.id, after=view.version):
            view.apply(entry)
            if entry.sequence > after:
                yield event_of(entry, view, redactor=redactor)

    # --- beneath ------------------------------------------------------------------------------------------------------

    async def _tell(self, run_id: str, body: Body, *, by: Principal) -> Deny | None:
        found = await self._movable(run_id, by)
        if isinstance(found, Deny):
            return found
        what = body.what.value if isinstance(body, Wished) else "say"
        record = {"subject": run_id, **signed_by(by), "what": what, "state": found.state}
        event = self._reach.records.act(EventKind.RUN_TOLD, by.tenant, record)
        entry = written(body, at_us=self._reach.world.clock.now_us())
        told = await self._reach.world.runs.tell_run(by.tenant, run_id, entry, event=event)
        if isinstance(told, NotMoved):
            return OVER
        self._bells.ring(by.tenant, run_id)
        await self._engine.wake(by.tenant, run_id)
        return None

    async def _observed(self, tenant: str, run_id: str) -> tuple[Observation, ...]:
        bodies = [entry.body async for entry in self._entries(tenant, run_id, after=0)]
        return tuple(body.seen for body in bodies if isinstance(body, Observed))

    async def _movable(self, run_id: str, by: Principal) -> StoredRun | Deny:
        """The run, where this principal may move it; else why not."""
        found = await self._reach.world.run_reads.run(by.tenant, run_id)
        if found is None or not await self._sees(found, by):
            return MISSING
        if by.groups.isdisjoint(OPERATORS) and not await self._is_own(found, by):
            return Deny(Code.PERMISSION_DENIED, f"It is not for {by.id}; moving it takes the group operator.")
        return found

    async def _sees(self, found: StoredRun, by: Principal) -> bool:
        return not by.groups.isdisjoint(AUDITORS) or await self._is_own(found, by)

    async def _is_own(self, found: StoredRun, by: Principal) -> bool:
        """Whether a run is somebody's: whom it is for; of who acts for them, only what they started themselves."""
        if found.principal != by.on_behalf_of:
            return False
        if by.kind is not PrincipalKind.AGENT and not by.acts_for_another:
            return True
        first = await self._reach.world.run_reads.run_entries(found.tenant, found.id, limit=1)
        begun = [read(each).body for each in first]
        return any(isinstance(each, Begun) and each.principal.id == by.id for each in begun)

    def _refuse_idle(self) -> None:
        if not self._engine.is_driving:
            raise SettingsInvalid("this gate drives no runs: it was opened to read, or with drives=Drives.NONE")

    def _entries(self, tenant: str, run_id: str, *, after: int) -> AsyncIterator[Entry]:
        return entries_after(self._reach.world.run_reads, tenant, run_id, after=after)


def _is_same(there: Begun, wanted: Begun) -> bool:
    """Whether a run that was started under an id before is the one that is started under it now."""
    return _marks(there) == _marks(wanted)


def _marks(begun: Begun) -> tuple[str, ...]:
    return (begun.task, begun.principal.id, begun.principal.on_behalf_of, begun.agent)
