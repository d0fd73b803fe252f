"""The gate: the only way to a tool.

    look -> decide -> claim -> execute -> settle -> observe

`decide` gives the good message, the claim gives the guarantee. A refused or waiting call never binds its key; a
claimed one is settled whatever happens, and its record is durable before its observation is released.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import TypeVar, assert_never

from interlock.core.admission import admit
from interlock.core.approval import Approval
from interlock.core.budget import Amounts
from interlock.core.call import Caller, Principal, ToolCall
from interlock.core.catalogue import Catalogue
from interlock.core.decision import KEPT_CHANGING, Allow, Ask, Deny, Replay, decide, propose, refusal_of
from interlock.core.effect import CallState
from interlock.core.facts import Facts
from interlock.core.observation import Observation, to_bytes
from interlock.core.observe import Frame, observe
from interlock.core.operation import Operation
from interlock.core.outcome import Outcome, Unknown
from interlock.core.redaction import Redactor
from interlock.core.refusals import Code
from interlock.core.settle import broken, cut_off, spent_on
from interlock.core.stored import thaw_to_ask
from interlock.ports import Claim, NotClaimed, OpenCall, StoredOperation
from interlock.runtime.artifacts import may_be_kept
from interlock.runtime.cache import Kept, ReadCache
from interlock.runtime.ends import Ends
from interlock.runtime.execute import Executor, Flight
from interlock.runtime.faults import report
from interlock.runtime.intents import intent_of
from interlock.runtime.look import Looker, asked
from interlock.runtime.ongoing import Ongoing
from interlock.runtime.owned import Owned
from interlock.runtime.proposal import Again, Claimed, Found, LookAgain, Note, Proposal
from interlock.runtime.queues import CLOSING, Queues
from interlock.runtime.records import Records
from interlock.runtime.settling import SETTLED_WITHIN_S, Settler
from interlock.runtime.unreported import unreported
from interlock.runtime.views import Views
from interlock.runtime.world import World, new_id
from interlock.settings import Settings

log = logging.getLogger("interlock.gate")


T = TypeVar("T")

_CANCELLED = Deny(Code.CANCELLED, "It was cancelled before anything ran.")

LOOKS_MAX = 5
"""How often what a decision was made on may change before the call is refused as contended."""


class Gate:
    """Governs calls. All that reaches a tool goes through `call`, `propose` or `resume`, which share one walk."""

    def __init__(self, world: World, settings: Settings, *, views: Views, records: Records) -> None:
        self._world = world
        self._settings = settings
        self._views = views
        self._records = records
        self._looker = Looker(world, settings, redactor=records.redactor)
        self._executor = Executor(world, records.redactor, views=views, late=self._note_late)
        self._ends = Ends(world, settings, views=views, records=records, limits=self._looker.limits)
        self._queues = Queues(world.clock, world.entropy, waiting_max=settings.waiting_max)
        self._cache = ReadCache(world, settings, fetch=self._executor.credentials, views=views)
        self._ongoing = Ongoing()
        self._settler = Settler(world, records, queues=self._queues, ongoing=self._ongoing)
        self._look_again: LookAgain | None = None
        self._shadow: Callable[[Proposal, Observation], None] = lambda proposal, seen: None
        self._is_closing = False
        self._owned = Owned(log, "a cut-off call could not be settled", redactor=records.redactor)

    def call(
        self,
        call: ToolCall,
        *,
        principal: Principal,
        run: str | None = None,
        task: str | None = None,
        key: str | None = None,
    ) -> Coroutine[object, object, Observation]:
        """Propose one call for `principal`; a refusal is an observation too. Raises only for faults of the store."""
        return self._walk(self._proposal(call, Caller(principal, run, task, key)))

    def propose(
        self, call: ToolCall, caller: Caller, *, replaces: Approval | None = None, note: Note | None = None
    ) -> Coroutine[object, object, Observation]:
        """The same, for a caller of whom more is known: its place in a run, its door, its deadline.

        `replaces` is an approval whose arguments an approver, now one of its requesters, edited into this call's.
        `note` is what its run writes in the transaction that ends it.
        """
        return self._walk(self._proposal(call, caller, replaces=replaces, note=note))

    async def resume(
        self, call: ToolCall, caller: Caller, operation: Callable[[Catalogue], Operation | Deny], *, approval: Approval
    ) -> Observation:
        """Decide a stored operation anew with the approval it was given, and run it once."""
        call, caller, deny = admit(call, caller)
        operation, deadline_s = operation if deny is None else partial(_denied, deny), self._deadline_s(caller)
        return await self._walk(Proposal(call, caller, operation, deadline_s, approval, approval.operation_id))

    def is_operation(self, call: ToolCall, caller: Caller) -> bool:
        """Whether the arguments make an operation at all; nothing is recorded."""
        call, caller, deny = admit(call, caller)
        return deny is None and isinstance(propose(call, caller, self._views.current.catalogue), Operation)

    async def refuse(self, call: ToolCall, caller: Caller, deny: Deny, *, note: Note | None = None) -> Observation:
        """Refuse a call for a reason that lies outside it, such as its place in a batch; its own reasons go first."""
        call, caller, inadmissible = admit(call, caller)
        deny = inadmissible or refusal_of(propose(call, caller, self._views.current.catalogue), deny)
        operation, deadline_s = partial(_denied, deny), self._deadline_s(caller)
        return await self._ends.refuse(Proposal(call, caller, operation, deadline_s, note=note), deny)

    def forsake(self, call: ToolCall, caller: Caller) -> None:
        """Record a proposal that was given up before it came to the gate, such as one of a cancelled batch."""
        call, caller, inadmissible = admit(call, caller)
        operation = partial(propose, call, caller) if inadmissible is None else partial(_denied, _CANCELLED)
        self._owned.begin(self._note_cancelled(Proposal(call, caller, operation, self._deadline_s(caller))))

    async def look_up(self, call: OpenCall) -> Found | None:
        """Ask a tool whether a call whose outcome was lost has happened; None: it cannot tell. Nothing is settled."""
        try:
            return await self._look_up(call)
        except Exception as fault:  # noqa: BLE001 - whatever a look-up hands back, one call must not keep others open
            report(log, "what became of a call could not be looked up", fault=fault, redactor=self._records.redactor)
            return None

    def look_again_with(self, look_again: LookAgain) -> None:
        """Have an unknown call looked up once the work that went on has ended."""
        self._look_again = look_again

    def unreported(self, call: StoredOperation) -> Amounts:
        """What a call is charged of whose cost nobody tells: the most that was declared for it, never zero."""
        return unreported(call, self._views.current.catalogue)

    async def see_through(self, work: Coroutine[object, object, T]) -> T:
        """Carry out whole what must not end half done, even where who waits for it is cancelled."""
        return await asyncio.shield(self._owned.begin(work))

    async def close(self) -> None:
        """Start no call any more, and wait until every claimed one is settled."""
        self._is_closing = True
        await self._queues.close()
        await self._ongoing.drain()
        await self._executor.close()
        await self._owned.drain()

    def _proposal(
        self, call: ToolCall, caller: Caller, *, replaces: Approval | None = None, note: Note | None = None
    ) -> Proposal:
        call, caller, deny = admit(call, caller)
        operation = partial(propose, call, caller) if deny is None else partial(_denied, deny)
        return Proposal(call, caller, operation, self._deadline_s(caller), None, None, replaces, note)

    # --- the walk -----------------------------------------------------------------------------------------------------

    async def _walk(self, proposal: Proposal) -> Observation:
        """Look, decide, act; again while what was decided on keeps changing."""
        changes = 0
        try:
            while changes < LOOKS_MAX:
                step = await self._look_decide_act(proposal)
                if isinstance(step, Observation):
                    break
                changes = changes + 1 if step is Again.CHANGED else 0
                proposal = await self._of_now(replace(proposal, surely=True))
            else:
                return await self._ends.refuse(proposal, KEPT_CHANGING)
            if self._views.current.catalogue.shadowed:
                self._shadow(proposal, step)
            return step
        finally:
            if self._queues.walkers:
                self._queues.left()

    async def _of_now(self, proposal: Proposal) -> Proposal:
        """The proposal with its grant as it stands by now: it may have been used or taken back meanwhile."""
        if (grant := proposal.grant) is None:
            return proposal
        found = await self._before(proposal, self._world.approvals.approval(grant.tenant, grant.id))
        return proposal if found is None else replace(proposal, grant=found[0])

    async def _look_decide_act(self, proposal: Proposal) -> Observation | Again:
        view = self._views.current
        operation = proposal.operation(view.catalogue)
        if isinstance(operation, Deny):
            is_stale = await self._before(proposal, self._is_stale(view.epoch))
            return Again.CHANGED if is_stale else await self._ends.refuse(proposal, operation)
        try:  # `_before` spelled out: every call comes by
            facts = await self._looker.facts(operation, view, asked(proposal, now_s=self._world.clock.monotonic_s()))
            decision = decide(operation, facts)
            if facts.guessed and (not isinstance(decision, Allow) or self._queues.walkers or self._is_closing):
                facts = await self._looker.surely(operation, facts)
                decision = decide(operation, facts)
        except asyncio.CancelledError:
            self._owned.begin(self._note_cancelled(proposal))
            raise
        if self._queues.walkers:
            decision = self._queues.in_turn(decision, facts)
        if not isinstance(decision, Allow) and await self._before(proposal, self._is_stale(view.epoch)):
            return Again.CHANGED
        match decision:
            case Allow():
                if facts.resource is not operation.resource:
                    operation = replace(operation, resource=facts.resource)
                if operation.tool.spec.cache is not None:
                    return await self._read(proposal, operation, facts, allow=decision)
                return await self._claim_and_run(proposal, operation, facts, allow=decision)
            case Deny():
                deny = await self._before(proposal, self._waited(decision, proposal))
                if deny is None:
                    return Again.WAITED
                return await self._ends.refuse(proposal, replace(deny, operation=operation, tool=operation.tool))
            case Ask():
                return await self.see_through(self._ends.ask(proposal, operation, facts, ask=decision))
            case Replay():
                return await self._ends.replay(operation, decision, note=proposal.note)
            case _:
                assert_never(decision)

    async def _read(
        self, proposal: Proposal, operation: Operation, facts: Facts, *, allow: Allow
    ) -> Observation | Again:
        """A read that may be given again: once for all who ask for it at the same time."""
        found = await self._before(proposal, self._cache.find(operation, facts, allow, until_s=proposal.deadline_s))
        if isinstance(found, Kept):
            if await self._before(proposal, self._is_stale(facts.epoch)):
                return Again.CHANGED
            return await self._ends.give_again(operation, facts, allow, kept=found, note=proposal.note)
        with self._cache.leading(found, operation):
            step = await self._claim_and_run(proposal, operation, facts, allow=allow)
            found.seen = step if isinstance(step, Observation) else None
        return step

    async def _claim_and_run(
        self, proposal: Proposal, operation: Operation, facts: Facts, *, allow: Allow
    ) -> Observation | Again:
        """Take key, budget, grant and lease, all or nothing, durably before the effect; then run."""
        if self._is_closing:
            await self._before(proposal, asyncio.sleep(0))  # whoever proposes on and on must let the others end
            return await self._ends.refuse(proposal, replace(CLOSING, operation=operation, tool=operation.tool))
        operation_id = allow.continues or proposal.stored or new_id(facts.as_of_us, self._world.entropy)
        spec, started_s = operation.tool.spec, self._world.clock.monotonic_s()
        fused = not spec.effect.is_effect and not spec.external and allow.grant is None
        told = None if fused else self._records.proposed(operation, allow.verdict)
        claimed = Claimed(operation_id, operation, allow, told, started_s, proposal.deadline_s, facts.reservations)
        event = None if told is None else self._records.claimed(told, allow, operation_id)
        claiming = self._world.calls.claim(intent_of(operation, facts, allow, operation_id=operation_id, event=event))
        self._ongoing.begin(operation_id)
        is_new = operation_id not in (allow.continues, proposal.stored)
        try:
            taken = await (claiming if is_new else self._despite_cancellation(claiming, claimed, proposal))
        except asyncio.CancelledError:
            if is_new:
                self._owned.begin(self._let_go(claimed, proposal, self._written(operation, operation_id)))
            raise
        except BaseException:  # KeyboardInterrupt too: the gate must not wait for it when it closes
            self._ongoing.end(operation_id)
            raise
        if isinstance(taken, Claim):
            claimed.claim, claimed.note = taken, proposal.note
            if self._queues.walkers:
                self._queues.arrived()
            return await self._run(claimed)
        self._ongoing.end(operation_id)
        if taken is NotClaimed.EPOCH:
            await self._before(proposal, self._views.refresh())
        return Again.GUESSED if facts.guessed else Again.CHANGED

    async def _run(self, claimed: Claimed) -> Observation:
        """Execute and settle. A cancelled call is settled all the same, by a task that the gate owns."""
        flight = Flight(claimed.deadline_s, claimed.allow.rest)
        try:
            outcome = await self._executor.execute(claimed.operation, claimed.claim, flight)
        except asyncio.CancelledError:
            cut, claimed.note = cut_off(claimed.operation, dispatched=flight.dispatched), None  # its run asks again
            self._owned.begin(self._settler.settle(claimed, cut, flight))
            raise
        except Exception as fault:  # noqa: BLE001 - a runner is total; if one is not, its call must not stay claimed
            report(log, "a runner failed", fault=fault, redactor=self._records.redactor)
            outcome = broken(claimed.operation, dispatched=flight.dispatched)
        except BaseException:  # the program is to end: what became of the call is found out as after any death of it
            self._ongoing.end(claimed.operation_id)
            raise
        settling = self._settler.settle(claimed, outcome, flight)
        return await (self.see_through(settling) if may_be_kept(claimed.operation, outcome) else settling)

    async def _is_stale(self, epoch: int) -> bool:
        """Whether another process has changed tools or policies; a claim guards that itself, other ends do not."""
        if await self._world.catalogue.epoch() == epoch:
            return False
        await self._views.refresh()
        return True

    async def _waited(self, deny: Deny, proposal: Proposal) -> Deny | None:
        """None once another try before the deadline may go better; else the refusal."""
        if deny.code is not Code.IDEMPOTENCY_IN_PROGRESS:
            return await self._queues.wait(deny, proposal)
        left_s = proposal.deadline_s - self._world.clock.monotonic_s()
        has_ended = await self._ongoing.wait_for(str(deny.details.get("operation_id")), within_s=left_s)
        return None if has_ended else deny

    async def _despite_cancellation(
        self, claiming: Coroutine[object, object, Claim | NotClaimed], claimed: Claimed, proposal: Proposal
    ) -> Claim | NotClaimed:
        """Await a durable claim in a task: others may claim the same operation, so only its answer says whose it is."""
        task = asyncio.create_task(claiming)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            self._owned.begin(self._let_go(claimed, proposal, task))
            raise

    async def _let_go(self, claimed: Claimed, proposal: Proposal, claiming: Awaitable[Claim | NotClaimed]) -> None:
        """The waiter was cancelled while its claim was being written: settle, or at least record, that nothing ran."""
        try:
            taken = await claiming
        except Exception:
            self._ongoing.end(claimed.operation_id)
            raise
        if isinstance(taken, Claim):
            claimed.claim = taken
            cut, flight = cut_off(claimed.operation, dispatched=False), Flight(claimed.deadline_s)
            await self._settler.settle(claimed, cut, flight)
        else:
            self._ongoing.end(claimed.operation_id)
            await self._note_cancelled(proposal)

    async def _look_up(self, call: OpenCall) -> Found | None:
        operation = thaw_to_ask(call.operation.sealed, self._views.current.catalogue)
        if isinstance(operation, Deny):
            return None
        claim = Claim(call.operation.id, call.operation.tenant, call.fence)
        flight = Flight(self._deadline_s(operation.caller))
        outcome = await self._executor.look_up(operation, claim, flight)
        if outcome is None or isinstance(outcome, Unknown):
            return None
        redactor = flight.redactor or self._records.redactor
        spent = spent_on(operation, outcome, elapsed_ms=0)
        seen = observe(operation, outcome, Frame(claim.operation_id, self._world.clock.now_us(), redactor, spent=spent))
        return Found(outcome, seen, to_bytes(seen), spent)

    async def _written(self, operation: Operation, operation_id: str) -> Claim | NotClaimed:
        """Whether the claim of a new operation was written and is still ours; nobody else claims the same one."""
        found = await self._world.recovery.find(operation.caller.principal.tenant, operation_id)
        if found is None or found.taken_over or found.state is not CallState.CLAIMED:
            return NotClaimed.KEY
        return Claim(operation_id, operation.caller.principal.tenant, found.fence)

    async def _before(self, proposal: Proposal, wait: Awaitable[T]) -> T:
        """Wait for what comes before anything is written; a call that is cancelled meanwhile leaves its record too."""
        try:
            return await wait
        except asyncio.CancelledError:
            self._owned.begin(self._note_cancelled(proposal))
            raise

    async def _note_cancelled(self, proposal: Proposal) -> None:
        made = proposal.operation(self._views.current.catalogue)
        deny = replace(_CANCELLED, operation=made, tool=made.tool) if isinstance(made, Operation) else _CANCELLED
        await self._ends.refuse(replace(proposal, note=None), deny)  # its run asks again

    async def _note_late(self, operation: Operation, claim: Claim, outcome: Outcome, *, redactor: Redactor) -> None:
        """Record what came too late of work that could not be stopped, once its call is settled; then look it up."""
        await self._ongoing.wait_for(claim.operation_id, within_s=SETTLED_WITHIN_S)
        redact = self._ends.named(operation)
        await self._settler.late(operation, claim, outcome, redactor=redactor, redact=redact)
        if self._look_again is not None:
            await self._look_again(claim, outcome)

    def _deadline_s(self, caller: Caller) -> float:
        allowed_ms = self._settings.deadline_ms if caller.deadline_ms is None else caller.deadline_ms
        return self._world.clock.monotonic_s() + allowed_ms / 1000


def _denied(deny: Deny, _: Catalogue) -> Deny:
    return deny
