"""Runs as people and programs use them: start, watch, say something, pause, hand over, cancel."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable
from dataclasses import replace
from typing import Final

from interlock.core.budget import Limits
from interlock.core.call import Caller, Origin, Principal, storable
from interlock.core.decision import Deny
from interlock.core.errors import InterlockError, SettingsInvalid
from interlock.core.journal import EventKind
from interlock.core.lineage import Lineage, lineage_of
from interlock.core.observation import Observation
from interlock.core.policy import PolicySource
from interlock.core.refusals import Code
from interlock.loop.agent import Agent, by_name
from interlock.loop.bells import Bells
from interlock.loop.engine import Engine
from interlock.loop.entries import Begun, Body, Bound, Check, Entry, Observed, Said, Wish, Wished, read, written
from interlock.loop.events import RunEvent, event_of
from interlock.loop.limits import RunLimits
from interlock.loop.machine import Cause, State
from interlock.loop.model import Model
from interlock.loop.reach import DOOR, Reach
from interlock.loop.replay import Against, Redecided, Replay
from interlock.loop.report import RunReport, report_of
from interlock.loop.view import RunView
from interlock.ports import NewRun, NotMoved, RunQuery, StoredRun
from interlock.runtime.acts import AUDITORS, OPERATORS, signed_by
from interlock.runtime.look import Looker

PAGE: Final = 256
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
        return report_of(await self._desk.view(self.tenant, self.id))

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

    A run is seen and moved by whom it is for; by operators too, and seen by auditors.
    """

    def __init__(self, reach: Reach, engine: Engine, *, bells: Bells, looker: Looker) -> None:
        self._looker = looker
        self._reach = reach
        self._engine = engine
        self._bells = bells

    async def start(
        self,
        *,
        model: Model | str,
        task: str,
        principal: Principal,
        agent: Agent | str = "agent",
        agents: Iterable[Agent] = (),
        limits: RunLimits | Limits | None = None,
        tools: Collection[str] | None = None,
        task_id: str | None = None,
        run_id: str | None = None,
        check: Check | None = None,
        trace_id: str = "",
    ) -> Run:
        """Begin a run: durable once this returns, and driven from then on by whichever process has it.

        `task` is what the model is asked to do. `model` is a model, or the name of one that the gate was opened with; a
        process that takes the run over has to have it under the same name. `tools` are names of those to be offered
        (default: all that policy lets `principal` see). `agents` are whom `agent` may hand the task to. `task_id` is
        the business task that keys of effects are made of: the same effect is not made twice under it, by any run. A
        second start under one `run_id` gives back the run that there is.

        Raises `SettingsInvalid`, `ModelUnknown`, or `RunExists` where `run_id` is another run's.
        """
        self._refuse_idle()
        begun = self._begun(model, task, agent, agents, RunLimits.of(limits))
        callers = [
            Caller(principal, origin=Origin(DOOR, each.name, each.model or begun.model, trace_id, principal.actor))
            for each in begun.agents
        ]
        view = await self._reach.views.latest()
        bound = self._reach.offers.bound(view, callers, tools)
        _refuse_unknown(tools, bound)
        now_us = self._reach.world.clock.now_us()
        expires_s = begun.limits.expires_s
        begun = replace(
            begun,
            principal=principal,
            bound=bound,
            task_id=task_id,
            check=check,
            trace_id=trace_id,
            expires_us=None if expires_s is None else now_us + int(expires_s * 1_000_000),
        )
        return await self._keep(begun, run_id or self._reach.world.new_id(), now_us)

    async def get(self, run_id: str, *, by: Principal) -> Run:
        """A run by its id. Raises `RunUnknown`."""
        await self.head(run_id, by=by)
        return Run(self, by.tenant, run_id, by=by)

    async def head(self, run_id: str, *, by: Principal) -> StoredRun:
        """Where a run stands, and whether a process that is at work has it. Raises `RunUnknown`."""
        found = await self._reach.world.run_reads.run(by.tenant, run_id)
        if found is None or not _sees(found, by):
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
        if (await self.head(run_id, by=by)).principal != by.on_behalf_of:
            raise RunUnknown(f"there is no run {run_id!r} that is for {by.on_behalf_of}")
        return await self._observed(by.tenant, run_id)

    async def recover(self) -> int:
        """Take what is due and nobody has, now; how many runs that were."""
        return await self._engine.recover()

    async def list(self, *, by: Principal, query: RunQuery | None = None) -> tuple[StoredRun, ...]:
        """The runs that `by` may see, newest first."""
        wanted = replace(query or RunQuery(by.tenant), tenant=by.tenant)
        if by.groups.isdisjoint(AUDITORS):
            wanted = replace(wanted, principal=by.on_behalf_of)
        return await self._reach.world.run_reads.runs(wanted)

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
        return () if view is None else view.agent.hand_offs

    async def view(self, tenant: str, run_id: str) -> RunView:
        """Where a run stands, by its whole journal."""
        view = RunView(tenant, run_id)
        async for entry in self._entries(tenant, run_id, after=0):
            view.apply(entry)
        return view

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

    def _begun(
        self, model: Model | str, task: str, agent: Agent | str, agents: Iterable[Agent], limits: RunLimits
    ) -> Begun:
        models = self._reach.models
        name = model if isinstance(model, str) else models.add(model)
        first = Agent(agent) if isinstance(agent, str) else agent
        everybody = tuple({each.name: each for each in (first, *agents)}.values())
        by_name(everybody)
        if not task.strip():
            raise SettingsInvalid("a run has a task, in words")
        for each in (name, *(other.model for other in everybody if other.model)):
            if models.named(each).price is None and limits.cost_micros is not None:
                raise SettingsInvalid(f"a limit on cost needs the price of the model {each}: give it price=Price(...)")
        nobody = Principal("", "")
        return Begun(storable(task), nobody, first.name, everybody, name, limits, ())

    async def _keep(self, begun: Begun, run_id: str, now_us: int) -> Run:
        principal = begun.principal
        entry = written(begun, Cause.BEGUN, at_us=now_us)
        record = {"subject": run_id, **signed_by(principal), "agent": begun.agent, "model": begun.model}
        event = self._reach.records.act(EventKind.RUN_STARTED, principal.tenant, record)
        new = NewRun(
            principal.tenant,
            run_id,
            State.MODEL_REQUEST.value,
            begun.agent,
            principal.on_behalf_of,
            (entry,),
            now_us,
            event,
        )
        claim = await self._reach.world.runs.begin_run(new)
        if claim is None:
            return await self._same(begun, run_id)
        view = RunView(principal.tenant, run_id)
        view.apply(Entry(begun, (Cause.BEGUN,), now_us, 1))
        self._engine.start(view, claim)
        return Run(self, principal.tenant, run_id, by=principal)

    async def _same(self, begun: Begun, run_id: str) -> Run:
        """The run that was started under this id before, where it is the same."""
        principal = begun.principal
        there = (await self.view(principal.tenant, run_id)).begun
        if (there.task, there.principal.id, there.agent) != (begun.task, principal.id, begun.agent):
            raise RunExists(f"there is a run {run_id!r} already, with another task or for somebody else")
        return Run(self, principal.tenant, run_id, by=principal)

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
        if found is None or not _sees(found, by):
            return MISSING
        if found.principal != by.on_behalf_of and by.groups.isdisjoint(OPERATORS):
            return Deny(Code.PERMISSION_DENIED, f"It is not for {by.id}; moving it takes the group operator.")
        return found

    def _refuse_idle(self) -> None:
        if not self._engine.is_driving:
            raise SettingsInvalid("this gate drives no runs: it was opened to read, or with drives=Drives.NONE")

    async def _entries(self, tenant: str, run_id: str, *, after: int) -> AsyncIterator[Entry]:
        while True:
            page = await self._reach.world.run_reads.run_entries(tenant, run_id, after=after, limit=PAGE)
            for each in page:
                yield read(each)
            if len(page) < PAGE:
                return
            after = page[-1].sequence


def _sees(found: StoredRun, by: Principal) -> bool:
    return found.principal == by.on_behalf_of or not by.groups.isdisjoint(AUDITORS)


def _refuse_unknown(tools: Collection[str] | None, bound: tuple[Bound, ...]) -> None:
    missing = sorted(set(tools or ()) - {each.name for each in bound})
    if missing:
        raise SettingsInvalid(f"there is no tool {missing[0]!r} that this principal may see")
