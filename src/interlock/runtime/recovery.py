"""Finds out what became of calls whose worker died or whose outcome was lost, or says that it cannot.

Nothing here runs an effect again: an orphaned read is let go, an effect is looked up by its tool's `reconcile`, and
what cannot be told is listed unknown until a repeat, a later look-up or a person closes it. A look-up that finds
nothing proves nothing while somebody may still be at work, so a call is looked up only once nobody is.

Any number of processes may recover at once, as often as they like: each look-up is counted durably before it is made,
by one of them, and is due again only after a pause that grows. A call that no look-up could tell is escalated.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from interlock.core.budget import NOTHING
from interlock.core.call import Principal, PrincipalKind
from interlock.core.decision import Deny
from interlock.core.effect import CallEvent, CallState
from interlock.core.errors import SpecInvalid, StoreError
from interlock.core.journal import EventKind
from interlock.core.observation import Observation, Status, from_bytes, to_bytes
from interlock.core.observe_lost import closed_by
from interlock.core.outcome import Outcome
from interlock.core.recovery import NO_LOOKS, Closing, Word, weighed
from interlock.core.refusals import Code
from interlock.core.settle import settled_as
from interlock.core.stored import arguments_of, thaw_to_ask
from interlock.core.tool_parts import parts_of
from interlock.ports import Claim, OpenCall, StoredOperation
from interlock.runtime.acts import OPERATORS, signed_by
from interlock.runtime.faults import report
from interlock.runtime.gate import Gate
from interlock.runtime.parts import Parts
from interlock.runtime.proposal import Found
from interlock.runtime.sight import Sight, asked_for, may_see_call
from interlock.runtime.taking_over import End, TakingOver, event_of, lost_call
from interlock.runtime.versions import Versions, spec_of
from interlock.settings import Settings

log = logging.getLogger("interlock.recovery")

DUE_MAX = 64
"""How many calls one pass looks at, beside those that the pass before it came to nothing with."""

PASSED_OVER_MAX = 4_096

PASS_S = 15.0
"""How long one pass goes on beginning look-ups."""

NOT_UNKNOWN = Deny(Code.PRECONDITION_FAILED, "No call of this id is unknown: it has come to its end, or there is none.")


@dataclass(frozen=True, slots=True)
class Recovered:
    """What a pass over open calls came to, as counts."""

    released: int = 0
    found_out: int = 0
    unknown: int = 0


class RecoveryDesk:
    """What is done about calls that did not end.

    They are seen by those who asked for them, and by operators and auditors. To all others there are none.
    """

    def __init__(self, gate: Gate, parts: Parts, *, sight: Sight, settings: Settings) -> None:
        self._gate = gate
        self._world = parts.world
        self._records = parts.records
        self._taking_over = TakingOver(gate, parts.world, records=parts.records)
        self._views = parts.views
        self._sight = sight
        self._rule = settings.look_ups
        self._closing_people = settings.closing_people
        self._then: Callable[[], Awaitable[None]] | None = None
        self._passed_over = 0
        gate.look_again_with(self.look_again)

    def and_then(self, go_on: Callable[[], Awaitable[None]]) -> None:
        """Have something go on that waited for calls, each time when what became of them has been looked at."""
        self._then = go_on

    async def recover(self) -> Recovered:
        """Find out about calls (see `find_out`), then have go on what waited for them, such as plans that undo."""
        found = await self.find_out()
        if self._then is not None:
            try:
                await self._then()
            except StoreError as fault:  # what waits and cannot be read must keep no gate from opening
                report(log, "what waited for calls could not go on", fault=fault, redactor=self._records.redactor)
        return found

    async def find_out(self) -> Recovered:
        """Settle every call that a dead worker left claimed, and look up those unknown ones whose time has come.

        As much of it as there is time for; the rest is due at the next pass. A slow tool holds up its own calls alone,
        and what no look-up is made of, such as calls of tools whose code is elsewhere, holds up none.
        """
        due = await self._world.look_ups.due(self._world.clock.now_us(), DUE_MAX + self._passed_over)
        self._passed_over = 0
        by_tool = defaultdict[tuple[str, str], list[OpenCall]](list)
        # Before the first look-up, whatever that then says: it may take long, and this process may die in it.
        let_go = [self._let_go(call, by_tool) for call in due.calls if call.state is CallState.CLAIMED]
        for call in due.calls:
            if call.state is CallState.UNKNOWN:
                by_tool[call.operation.tenant, call.operation.tool].append(call)
        changes = [Recovered(unknown=due.unknown), *await _side_by_side(let_go)]
        until_s = self._world.clock.monotonic_s() + PASS_S
        queue = deque(by_tool.values())
        workers = [self._worker(queue, until_s) for _ in range(min(len(queue), self._rule.at_once))]
        changes += await _side_by_side(workers)
        return Recovered(
            sum(each.released for each in changes),
            sum(each.found_out for each in changes),
            sum(each.unknown for each in changes),
        )

    async def look_up(self, operation_id: str, *, by: Principal) -> Observation | Deny:
        """Have an unknown call looked up at once, whatever was tried before: what its tool says, if it can tell.

        It takes an operator. What came of somebody else's call is shown as policy would let `by` make the same call.
        """
        if not by.groups & OPERATORS:
            return Deny(
                Code.PERMISSION_DENIED, f"Looking up a call takes the group operator; {by.id} does not have it."
            )
        found = await self._world.recovery.find(by.tenant, operation_id)
        if found is None or found.state is not CallState.UNKNOWN:
            return NOT_UNKNOWN
        if not found.orphaned:
            return Deny(Code.CONTENDED, "Work on it goes on; it is looked up once that has ended.")
        looks = await self._world.look_ups.looks(by.tenant)
        call = replace(found, looks=looks.get((by.tenant, operation_id), NO_LOOKS))
        if not self._can_tell(call):
            return Deny(Code.PRECONDITION_FAILED, "Its tool cannot be asked: it has no look-up, or not as it is here.")
        counted = await self._count(call, by=by)
        if counted is None:
            return Deny(Code.CONTENDED, "It is being looked up just now; look again.")
        seen = await self._ask(counted, by=by)
        if seen is None:
            return Deny(Code.OUTCOME_UNKNOWN, "Its tool cannot tell.")
        return await self._sight.of_call(seen, call.operation, by=by)

    async def look_again(self, claim: Claim, late: Outcome) -> None:
        """Look an unknown call up once the work that went on has ended; what came late of it is evidence, no more.

        A look-up that denies what the work itself reports is not believed: the call stays unknown, for a later one.
        """
        call = await self._world.recovery.find(claim.tenant, claim.operation_id)
        if call is None or call.state is not CallState.UNKNOWN or call.fence != claim.fence or not call.orphaned:
            return
        found = await self._gate.look_up(call)
        if found is not None and not _denies_part(found, call) and (_happened(found.outcome) or not _happened(late)):
            await self._taking_over.settle(call, _found_out(found, "looked up by its tool once its work had ended"))

    async def unknown(self, *, by: Principal) -> tuple[OpenCall, ...]:
        """The calls that `by` may see of which it is not known whether they happened, oldest first.

        Those whose `looks` are escalated are looked up no more: they wait for a repeat or a person. Nothing is shown
        of what is sealed but the `arguments`, with every secret masked as for who approves.
        """
        seen = await self._seen_by(by)
        looks = await self._world.look_ups.looks(by.tenant)
        _, versions = await self._views.versions()
        return tuple(
            replace(self._shown(each, versions, by=by), looks=looks.get((by.tenant, each.operation.id), NO_LOOKS))
            for each in seen
        )

    async def close(self, operation_id: str, *, by: Principal, happened: bool, evidence: str) -> Observation | Deny:
        """Close an unknown call by hand: a person says whether it happened, and what shows it.

        Where it takes two people, the first is refused with `APPROVAL_REQUIRED`, and what they said is on record as a
        proposal (see `proposed`); the call is closed once another one says the same.
        """
        is_person = by.kind is PrincipalKind.HUMAN and not by.acts_for_another
        if not is_person or not by.groups & OPERATORS or not evidence.strip():
            says = "Closing an unknown call takes a person who is an operator, and evidence in words."
            return Deny(Code.PERMISSION_DENIED, says)
        call = await self._world.recovery.find(by.tenant, operation_id)
        if call is None or call.state is not CallState.UNKNOWN:
            return NOT_UNKNOWN
        if not happened and not call.orphaned:
            return Deny(Code.CONTENDED, "Work on it goes on, and may still do it; close it once that has ended.")
        closing = Closing(by.id, happened, evidence, self._world.clock.now_us())
        proposed = (await self.proposed(by=by)).get(operation_id)
        match weighed(closing, proposed=proposed, people=await self._people(call.operation)):
            case Word.SAME_PERSON:
                return Deny(Code.PERMISSION_DENIED, f"It takes another person than {by.id}, who proposed it.")
            case Word.PROPOSES:
                return await self._propose(call, closing, by=by)
            case Word.CLOSES:
                return await self._close(call, closing, by=by, first=proposed)
            case other:
                assert_never(other)

    async def proposed(self, *, by: Principal) -> Mapping[str, Closing]:
        """What one person says of unknown calls that `by` may see, for another to confirm, by operation id."""
        seen = {each.operation.id for each in await self._seen_by(by)}
        found = await self._world.closings.closings(by.tenant)
        return {operation_id: said for operation_id, said in found.items() if operation_id in seen}

    async def _seen_by(self, by: Principal) -> tuple[OpenCall, ...]:
        """The unknown calls that somebody may see, as they are kept."""
        calls = await self._world.recovery.open_calls(by.tenant)
        unknown = (each for each in calls if each.state is CallState.UNKNOWN)
        return tuple(each for each in unknown if may_see_call(each.operation, by))

    def _shown(self, call: OpenCall, versions: Versions, *, by: Principal) -> OpenCall:
        """A call for people: its arguments with every secret masked, and what others hear of its end."""
        observation = call.observation
        if observation is not None and not asked_for(call.operation, by):
            observation = to_bytes(self._sight.shown(from_bytes(observation), None))
        arguments = self._arguments(call.operation, versions)
        unsealed = replace(call.operation, sealed=b"")
        return replace(call, operation=unsealed, observation=observation, arguments=arguments)

    def _arguments(self, operation: StoredOperation, versions: Versions) -> bytes | None:
        """The arguments with every secret masked; None where it cannot be told which places are marked as secret."""
        called = versions.digested(operation.spec_digest)
        try:
            sensitive = None if called is None else parts_of(spec_of(called)).sensitive
            arguments = arguments_of(operation.sealed)
        except (SpecInvalid, StoreError):
            return None
        return None if sensitive is None else self._records.redactor.json_bytes(arguments, marked=sensitive)

    async def _people(self, operation: StoredOperation) -> int:
        """How many people it takes to close a call, by the version that was called, whether its code is here or not."""
        _, versions = await self._views.versions()
        called = versions.digested(operation.spec_digest)
        floor = None if called is None else spec_of(called).approval_floor
        return max(self._closing_people, 1 if floor is None else floor.quorum)

    async def _propose(self, call: OpenCall, closing: Closing, *, by: Principal) -> Deny:
        step = "happened" if closing.happened else "did not happen"
        record = {**signed_by(by), "why": closing.evidence, "step": step}
        event = event_of(call, EventKind.CLOSING_PROPOSED, record, records=self._records)
        if await self._world.closings.propose_closing(call, closing, event) is None:
            return Deny(Code.CONTENDED, "It was closed at the same time; look again.")
        says = f"It is on record that {by.id} says it {step}; another person has to say the same."
        return Deny(Code.APPROVAL_REQUIRED, says)

    async def _close(
        self, call: OpenCall, closing: Closing, *, by: Principal, first: Closing | None
    ) -> Observation | Deny:
        earlier = lost_call(call) if call.observation is None else from_bytes(call.observation)
        seen = closed_by(by.id, earlier, happened=closing.happened)
        spent = self._gate.unreported(call.operation) if closing.happened else NOTHING
        end = End(_CLOSED_AS[seen.status], seen, closing.evidence, spent, first=first, closer="person")
        if await self._taking_over.settle(call, end, by=by):
            return await self._sight.of_call(seen, call.operation, by=by)
        return Deny(Code.CONTENDED, "It was closed at the same time; look again.")

    # --- look-ups -----------------------------------------------------------------------------------------------------

    async def _worker(self, queue: deque[list[OpenCall]], until_s: float) -> Recovered:
        """One tool after another, the calls of each in order: so a tool is asked about one call at a time."""
        found_out = 0
        while queue:
            calls = queue.popleft()
            for index, call in enumerate(calls):
                if self._world.clock.monotonic_s() >= until_s:
                    self._pass_over(len(calls) - index)
                    break
                found_out += await self._look_or_escalate(call)
        return Recovered(found_out=found_out, unknown=-found_out)

    async def _let_go(self, call: OpenCall, by_tool: dict[tuple[str, str], list[OpenCall]]) -> Recovered:
        """What became of a call that was claimed: let go where it is a read, else unknown, and to be looked up."""
        spent = self._gate.unreported(call.operation)
        if call.operation.key is None:
            end = End(CallEvent.PROVE_NOTHING_HAPPENED, None, "its reader died", spent, closer="nobody")
            return Recovered(released=await self._taking_over.settle(call, end))
        end = End(CallEvent.LOSE_OUTCOME, lost_call(call), "its worker died", spent, closer="nobody")
        if not await self._taking_over.settle(call, end):
            return Recovered()
        lost = await self._world.recovery.find(call.operation.tenant, call.operation.id)
        if lost is not None and lost.orphaned:
            by_tool[lost.operation.tenant, lost.operation.tool].append(lost)
        return Recovered(unknown=1)

    def _pass_over(self, count: int) -> None:
        """Calls that are as due as before: the next pass looks at as many more, or they would keep it from others."""
        self._passed_over = min(self._passed_over + count, PASSED_OVER_MAX)

    async def _look_or_escalate(self, call: OpenCall) -> int:
        """1 where a look-up closed it. A tool whose code is elsewhere is left to the process that has it."""
        can_tell = self._can_tell(call)
        if can_tell is None:
            self._pass_over(1)
            return 0
        if can_tell and call.looks.count < self._rule.attempts:
            counted = await self._count(call)
            if counted is None or await self._ask(counted) is not None:
                return int(counted is not None)
            if counted.looks.count < self._rule.attempts:
                return 0
            call = counted
        why = "no look-up could tell" if can_tell else "its tool has no look-up"
        event = event_of(call, EventKind.ESCALATED, {"why": why, "looks": call.looks.count}, records=self._records)
        if not call.looks.escalated:
            await self._world.look_ups.note_looks(call, call.looks.given_up(), event)
        return 0

    async def _count(self, call: OpenCall, *, by: Principal | None = None) -> OpenCall | None:
        """Count one look-up before it is made: of several processes one does, and looks. None: another one has."""
        looks = call.looks.and_another(self._rule, now_us=self._world.clock.now_us())
        told = {"looks": looks.count, **({} if by is None else signed_by(by))}
        event = event_of(call, EventKind.LOOKED_UP, told, records=self._records)
        receipt = await self._world.look_ups.note_looks(call, looks, event)
        return None if receipt is None else replace(call, looks=looks)

    async def _ask(self, call: OpenCall, *, by: Principal | None = None) -> Observation | None:
        """Ask the tool, and close the call where it tells. None: it is as unknown as before."""
        try:
            found = await asyncio.wait_for(self._gate.look_up(call), self._rule.timeout_s)
        except TimeoutError:
            return None
        if found is None or _denies_part(found, call):
            return None
        if not await self._taking_over.settle(call, _found_out(found, "looked up by its tool"), by=by):
            return None
        return found.observation

    def _can_tell(self, call: OpenCall) -> bool | None:
        """Whether the tool can be asked about the call; None where it can, but not by this process."""
        try:
            operation = thaw_to_ask(call.operation.sealed, self._views.current.catalogue)
        except StoreError:
            return False
        return None if isinstance(operation, Deny) else operation.spec.reconcile


_CLOSED_AS: Mapping[Status, CallEvent] = {
    Status.OK: CallEvent.SUCCEED,
    Status.PARTIAL: CallEvent.SUCCEED_PARTLY,
    Status.FAILED: CallEvent.PROVE_NOTHING_HAPPENED,
}


def _denies_part(found: Found, call: OpenCall) -> bool:
    """Whether a look-up says that nothing happened of a call of which part was done before: it cannot mean all."""
    nothing = settled_as(found.outcome) is CallEvent.PROVE_NOTHING_HAPPENED
    return nothing and call.observation is not None and bool(from_bytes(call.observation).items)


def _found_out(found: Found, why: str) -> End:
    return End(settled_as(found.outcome), found.observation, why, found.spent, found.kept)


def _happened(outcome: Outcome) -> bool:
    return settled_as(outcome) in (CallEvent.SUCCEED, CallEvent.SUCCEED_PARTLY)


async def _side_by_side(works: Iterable[Coroutine[object, object, Recovered]]) -> list[Recovered]:
    """All of them at once. Where one meets a fault the others are stopped, and the fault is raised as it is."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work) for work in works]
    except ExceptionGroup as faults:
        raise faults.exceptions[0] from None
    return [task.result() for task in tasks]
