"""Tries versions in the shadow of those in use: judges each call anew, runs reads in both, and adds up what it shows.

A shadow is begun once its call has been answered, and nobody waits for it. It judges with what is known by then, for
both versions alike. An effect is judged and never run. A read is run through the gate, as a call of its own: with its
own record, counted in a scope of its own, with a breaker of its own, and only where it holds up nobody.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from interlock.core.agents import ShadowRule
from interlock.core.call import SHADOW_DOOR, Caller, Origin, Principal, ToolCall
from interlock.core.catalogue import Tool
from interlock.core.decision import request_of, required
from interlock.core.documents import Document, DocumentKind
from interlock.core.errors import DocumentChanged, InterlockError
from interlock.core.facts import Facts
from interlock.core.freeze import Unfrozen, freeze
from interlock.core.journal import EventKind
from interlock.core.lifecycle import OPEN
from interlock.core.observation import Observation, Status
from interlock.core.operation import Operation
from interlock.core.policy import Answer, PolicySlice
from interlock.core.refusals import Code
from interlock.core.run import NO_RUN, RunFacts
from interlock.core.shadow import (
    NOTHING,
    Output,
    Proposal,
    Sample,
    Tally,
    added,
    missed_one,
    proposed,
    tally_from_bytes,
    tally_of,
    tally_to_bytes,
)
from interlock.core.tool import ChosenBy, ToolSpec
from interlock.core.view import View
from interlock.ports import Look
from interlock.runtime.acts import only_auditors
from interlock.runtime.documents import held_in, standing
from interlock.runtime.faults import report
from interlock.runtime.gate import Gate
from interlock.runtime.look import NOTHING_OUTSIDE
from interlock.runtime.owned import Owned
from interlock.runtime.parts import Parts
from interlock.runtime.proposal import Proposal as Proposed

log = logging.getLogger("interlock.shadow")

AT_ONCE: Final = 16
"""How many shadows may be on their way: of more calls than that only the number is kept."""

KEPT_EVERY: Final = 200
"""After how many calls of one shadow what it has shown is written down."""

TRIES: Final = 5

_DIVIDER: Final = "\x1f"

Place = tuple[str, str, str, str]
"""Tenant, agent, tool and version: what is tried where."""


@dataclass(frozen=True, slots=True)
class ShadowReport:
    """What a shadow has shown so far, in all processes that have written it down, and what that speaks for."""

    agent: str
    tool: str
    version: str
    tally: Tally
    proposal: Proposal


class Shadows:
    """The shadows of one gate. What it has shown is written down now and then, and when the gate is closed."""

    def __init__(self, gate: Gate, parts: Parts) -> None:
        self._gate = gate
        self._world = parts.world
        self._views = parts.views
        self._looker = parts.looker
        self._records = parts.records
        self._health = parts.health
        self._pending: dict[Place, Tally] = {}
        self._owned = Owned(log, "what a shadow has shown could not be written", redactor=parts.records.redactor)
        self._is_closing = False

    def note(self, proposed_: Proposed, seen: Observation) -> None:
        """A call has been answered. Cheap, and it never raises: nobody's answer depends on it."""
        caller, call = proposed_.caller, proposed_.call
        rule = self._rule(call, caller)
        if rule is None or seen.version == rule.version or self._is_closing:
            return
        if seen.replayed or proposed_.grant is not None:
            return
        place = (caller.principal.tenant, caller.origin.agent, call.name, rule.version)
        if len(self._owned.tasks) >= AT_ONCE:
            self._add(place, missed_one())
            return
        self._owned.begin(self._try(place, rule, proposed_, seen=seen))

    async def report(self, agent: str, tool: str, *, version: str, by: Principal) -> ShadowReport:
        """What trying that version has shown in the agent. Raises `ActRefused` unless `by` may read the log."""
        only_auditors(by, "Reading what a shadow has shown", tenants={by.tenant})
        place = (by.tenant, agent, tool, version)
        await self._keep(place)
        _, tally = await self._kept(place)
        compares = self._is_compared(by.tenant, agent, tool)
        return ShadowReport(agent, tool, version, tally, proposed(tally, compares=compares))

    async def flush(self) -> None:
        """Wait for what is on its way, and write down what was shown."""
        await self._owned.drain()
        for place in tuple(self._pending):
            await self._keep(place)

    async def close(self) -> None:
        """Give up what is on its way, and write down what was shown."""
        self._is_closing = True
        self._owned.cancel()
        await self.flush()

    # --- one shadow ---------------------------------------------------------------------------------------------------

    async def _try(self, place: Place, rule: ShadowRule, proposed_: Proposed, *, seen: Observation) -> None:
        try:
            sample = await self._sample(rule, proposed_, seen)
        except InterlockError as fault:
            report(log, "a shadow could not be tried", fault=fault, redactor=self._records.redactor)
            sample = Sample(proposed_.call.id, self._world.clock.now_us(), why=f"fault: {type(fault).__name__}")
        self._add(place, tally_of(sample))
        if self._pending[place].calls % KEPT_EVERY == 0:
            await self._keep(place)

    async def _sample(self, rule: ShadowRule, proposed_: Proposed, seen: Observation) -> Sample:
        call, caller = proposed_.call, proposed_.caller
        view, tenant = self._views.current, caller.principal.tenant
        tool = view.catalogue.numbered(tenant, call.name, rule.version)
        sample = Sample(self._records.redactor.text(call.id), self._world.clock.now_us(), old=_refused(seen))
        if tool is None:
            return replace(sample, new=Code.TOOL_UNAVAILABLE.value)
        operation = _frozen(call, caller.pinned(tool.digest), tool)
        if isinstance(operation, Code):
            return replace(sample, new=operation.value)
        policy, rule_ = view.policies.slice(tool.spec, tenant=tenant), tool.spec.resource
        if policy.reads_resource and rule_ is not None and rule_.resolved:
            return replace(sample, new=sample.old, why="policy reads what the tool's own code says of its resource")
        verdict = policy.decide(request_of(operation, await self._facts(operation, view, policy)))
        if verdict.answer is Answer.DENY:
            return replace(sample, new=Code.PERMISSION_DENIED.value)
        if required(operation, verdict) is not None:
            return replace(sample, new="ask" if seen.status is not Status.WAITING else sample.old)
        kept = next(self._why_not_run(rule, tool, policy, seen=seen), "")
        return replace(sample, why=kept) if kept else await self._compared(sample, operation, seen)

    async def _facts(self, operation: Operation, view: View, policy: PolicySlice) -> Facts:
        """What its verdict is based on. No code of the tool's is asked, not even about its resource."""
        caller, now_us = operation.caller, self._world.clock.now_us()
        run = NO_RUN
        if caller.run is not None:
            looked = await self._world.calls.look(Look(caller.principal.tenant, None, caller.run, (), now_us))
            run = looked.run or RunFacts(caller.run)
        outside = await self._looker.outside(operation, policy) if policy.facts else NOTHING_OUTSIDE
        return Facts(now_us, policy, view.environment, run, outside=outside)

    def _why_not_run(self, rule: ShadowRule, tool: Tool, policy: PolicySlice, *, seen: Observation) -> Iterator[str]:
        """What stands against running a read in both versions, the first reason first."""
        spec, old = tool.spec, self._views.current.catalogue.numbered(tool.spec.tenant, tool.spec.name, seen.version)
        if spec.effect.is_effect or old is None or old.spec.effect.is_effect:
            yield "it is an effect: judged, never run"
        if not rule.compare:
            yield "the agent says not to compare"
        if spec.external:
            yield "it reaches outside"
        if seen.status is not Status.OK or seen.cached_s is not None:
            yield "the version in use did not read"
        if tool.state not in OPEN:
            yield f"the version is {tool.state.value}"
        if _takes_from_others(spec):
            yield "it takes what calls that count need: a lock, a place, money or a vendor's quota"
        if policy.reads_run:
            yield "policy reads the run, which a shadow has none of"
        if self._health.withheld(spec):
            yield "the tool does not work at present"

    async def _compared(self, sample: Sample, operation: Operation, seen: Observation) -> Sample:
        """Run it too, through the gate, and compare."""
        caller, call = operation.caller, operation.call
        origin = replace(caller.origin, door=SHADOW_DOOR)
        shadow = Caller(
            caller.principal,
            origin=origin,
            user_requested=caller.user_requested,
            deadline_ms=operation.spec.timeout_ms,
            pin=operation.tool.digest,
        )
        tried = await self._gate.propose(ToolCall(f"shadow.{call.id}"[:256], call.name, call.arguments), shadow)
        took_ms = seen.usage.get("working_ms", 0), tried.usage.get("working_ms", 0)
        sample = replace(sample, old_ms=took_ms[0], new_ms=took_ms[1])
        if tried.status is not Status.OK:
            return replace(sample, output=Output.FAILED, why=_refused(tried) or tried.status.value)
        if seen.truncated is not None or tried.truncated is not None:
            return replace(sample, output=Output.NOT_RUN, why="its results are too long to be compared")
        is_equal = seen.data_json == tried.data_json
        return replace(sample, output=Output.EQUAL if is_equal else Output.DIFFERENT)

    # --- what is shown ------------------------------------------------------------------------------------------------

    def _rule(self, call: ToolCall, caller: Caller) -> ShadowRule | None:
        origin: Origin = caller.origin
        if call.name not in self._views.current.catalogue.shadowed or origin.door == SHADOW_DOOR:
            return None
        routes = self._views.current.catalogue.routes(caller.principal.tenant, origin.agent)
        use = None if routes is None else routes.uses.get(call.name)
        return None if use is None else use.shadow

    def _is_compared(self, tenant: str, agent: str, tool: str) -> bool:
        routes = self._views.current.catalogue.routes(tenant, agent)
        use = None if routes is None else routes.uses.get(tool)
        return use is not None and use.shadow is not None and use.shadow.compare

    def _add(self, place: Place, tally: Tally) -> None:
        self._pending[place] = added(self._pending.get(place, NOTHING), tally)

    async def _keep(self, place: Place) -> None:
        """Write down what was shown since the last time. Where others do so at the same time, theirs is added to."""
        for _ in range(TRIES):
            new = self._pending.pop(place, None)
            if new is None:
                return
            is_written = False
            try:
                with suppress(DocumentChanged):
                    await self._write(place, new)
                    is_written = True
            finally:
                if not is_written:
                    self._pending[place] = added(new, self._pending.get(place, NOTHING))

    async def _write(self, place: Place, new: Tally) -> None:
        document, tally = await self._kept(place)
        changed = document.changed(tally_to_bytes(added(tally, new)))
        tenant, agent, tool, version = place
        record = {"subject": tool, "agent": agent, "version": version, "calls": new.calls}
        event = self._records.act(EventKind.SHADOW_KEPT, tenant, record)
        await self._world.documents.save_documents((changed,), event)

    async def _kept(self, place: Place) -> tuple[Document, Tally]:
        tenant, name = place[0], _DIVIDER.join(place[1:])
        found = await standing(self._world.documents, DocumentKind.SHADOW, tenant=tenant, name=name)
        tally = held_in(found, tally_from_bytes, what=f"what the shadow of {place[2]} has shown")
        return found, NOTHING if tally is None else tally


def _frozen(call: ToolCall, caller: Caller, tool: Tool) -> Operation | Code:
    """The operation that the version would make of the call, or why it makes none."""
    if tool.spec.chosen_by is ChosenBy.USER and not caller.user_requested:
        return Code.TOOL_NOT_ALLOWED
    found = freeze(call, caller, tool)
    return found.code if isinstance(found, Unfrozen) else found


def _refused(seen: Observation) -> str:
    """The code that a call was refused or failed with, `ask` where it waits for a person, empty where it went well."""
    if seen.status is Status.WAITING:
        return "ask"
    return "" if seen.error is None else seen.error.code.value


def _takes_from_others(spec: ToolSpec) -> bool:
    """Whether running it could hold up or use up what calls that count need."""
    return bool(spec.locks or spec.concurrency or spec.cost.max_micros or spec.vendor.name)
