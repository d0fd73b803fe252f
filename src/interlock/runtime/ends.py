"""Ends a call at which nothing runs: refuses it, puts it to people, or gives back what was recorded."""

from __future__ import annotations

from interlock.core.decision import Allow, Ask, Deny, Replay
from interlock.core.facts import Facts
from interlock.core.labels import NO_LABELS
from interlock.core.limits import LimitTable, charges
from interlock.core.observation import Observation, released
from interlock.core.observe import given_again, refused, replayed, resource_shown, waiting
from interlock.core.operation import Operation
from interlock.core.redaction import NOTHING as NO_VOCABULARY
from interlock.core.redaction import Redactor
from interlock.ports import Asking, Entry
from interlock.runtime.cache import Kept
from interlock.runtime.intents import approval_of, stored_of
from interlock.runtime.proposal import Note, Proposal
from interlock.runtime.records import NOTHING_NAMED, Records
from interlock.runtime.settling import ended_in_run
from interlock.runtime.views import Views
from interlock.runtime.world import World
from interlock.settings import Settings


class Ends:
    """Each end writes one record, before its observation is released. Owned by the gate."""

    def __init__(self, world: World, settings: Settings, *, views: Views, records: Records, limits: LimitTable) -> None:
        self._world = world
        self._views = views
        self._records = records
        self._limits = limits
        # Who approves sees all but what is known or marked to be secret.
        self._approver = Redactor(settings.secrets, vocabulary=NO_VOCABULARY)

    async def refuse(self, proposal: Proposal, deny: Deny) -> Observation:
        """Nothing ran. The record says why; the caller hears of no tool that it may not see."""
        call, caller = proposal.call, proposal.caller
        told = self._views.current.told(deny, call.name, caller)
        spec = None if deny.operation is None else deny.operation.spec
        digest = deny.operation.digest if deny.operation else ""
        taken = self._limits.reservations(caller, spec, digest=digest, now_us=self._world.clock.now_us())
        counted = proposal.stored is not None  # when it was asked for
        event = self._records.refused(call, caller, told, redact=self.named(deny.operation), grant=proposal.grant)
        seen = refused(call.id, call.name, told, redactor=self._records.redactor)
        return await self._recorded(Entry(event, () if counted else charges(taken)), seen, proposal.note)

    async def ask(self, proposal: Proposal, operation: Operation, facts: Facts, *, ask: Ask) -> Observation:
        """Put the question to people, with the frozen operation that will run; nothing is held meanwhile."""
        ids = (self._world.new_id(), self._world.new_id())
        approval = approval_of(operation, facts, ask, ids=ids, redactor=self._approver)
        approval = approval.in_place_of(proposal.replaces or facts.grant)
        event = self._records.waiting(operation, ask.verdict, approval)
        taken = () if proposal.stored is not None else charges(facts.reservations)
        approval, receipt = await self._world.approvals.ask(
            Asking(approval, stored_of(operation, approval.operation_id, whole=True), event, taken)
        )
        if receipt is None:  # the same is asked already, and the record has to name that question
            event = self._records.waiting(operation, ask.verdict, approval)
            receipt = await self._world.calls.record(Entry(event, taken))
        shown = resource_shown(operation, self._records.redactor, ask.verdict.redact)
        return released(waiting(operation, approval, resource=shown), receipt)

    async def replay(self, operation: Operation, replay: Replay, *, note: Note | None) -> Observation:
        """Give back what was recorded. It costs nothing; its labels join the run."""
        seen = replayed(operation, replay, self._records.redactor)
        event = self._records.replayed(operation, replay, seen)
        labels = replay.prior.labels if replay.visible else NO_LABELS
        return await self._recorded(Entry(event, run=operation.caller.run, labels=labels), seen, note)

    async def give_again(
        self, operation: Operation, facts: Facts, allow: Allow, *, kept: Kept, note: Note | None
    ) -> Observation:
        """Give back what was read before. The proposal counts; its labels join the run."""
        seen = given_again(operation, kept.observation, age_s=kept.age_s)
        event = self._records.cached(operation, allow, seen)
        entry = Entry(event, charges(facts.reservations), operation.caller.run, seen.labels or NO_LABELS)
        return await self._recorded(entry, seen, note)

    async def _recorded(self, entry: Entry, seen: Observation, note: Note | None) -> Observation:
        """Write the record; and what a run makes of it, where that is what came of its call."""
        if note is None or not note.takes(seen):
            return released(seen, await self._world.calls.record(entry))
        receipt = await ended_in_run(self._world, entry, seen, note=note)
        return seen if receipt is None else released(seen, receipt)

    def named(self, operation: Operation | None) -> frozenset[str]:
        """The fields that policy may have redacted of an operation, where it gave no verdict on it."""
        if operation is None:
            return NOTHING_NAMED
        return self._views.current.policies.slice(operation.spec, tenant=operation.caller.principal.tenant).redact
