"""Executes a claimed call: secrets, locks, then the runner's attempts. Nothing else has a runner run anything."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Coroutine, Mapping
from dataclasses import replace
from typing import Protocol

from interlock.core.batch import lock_names
from interlock.core.call import SHADOW_DOOR
from interlock.core.errors import RedactionInvalid
from interlock.core.frozen import slotted
from interlock.core.lifecycle import CLOSED
from interlock.core.observation import from_bytes
from interlock.core.operation import Operation
from interlock.core.outcome import Failed, Outcome, Succeeded
from interlock.core.policy import Visibility
from interlock.core.redaction import Redactor
from interlock.core.refusals import Code
from interlock.core.routing import Missing, located
from interlock.core.stand_in import may_stand_in
from interlock.ports import Attempt, Claim, Invocation
from interlock.runtime.attempts import attempt_all, tail_of
from interlock.runtime.bounded import Overdue, bounded
from interlock.runtime.faults import report
from interlock.runtime.health import Health
from interlock.runtime.leased import Leased, not_held, outlasts_s
from interlock.runtime.locks import Held, Locks
from interlock.runtime.views import Views
from interlock.runtime.world import World

log = logging.getLogger("interlock.execute")

NO_SECRETS: Mapping[str, str] = {}


class Late(Protocol):
    """Told what came, too late to be used, of work that could not be stopped."""

    async def __call__(self, operation: Operation, claim: Claim, outcome: Outcome, *, redactor: Redactor) -> None: ...


@slotted
class Flight:
    """One execution on its way. `dispatched` turns true just before the tool's code may run, and stays so.

    `goes_on`: it was given up, and work that could not be stopped may still do it. `rest` is what is known of a call
    that was done in part (JSON bytes), whose open items alone are to be done now.
    """

    deadline_s: float
    rest: bytes | None = None
    dispatched: bool = False
    redactor: Redactor | None = None
    goes_on: bool = False


class Executor:
    """Runs claimed calls. Owns the locks and the health of tools in this process, and what runs on past its time."""

    def __init__(self, world: World, redactor: Redactor, *, views: Views, late: Late) -> None:
        self._world = world
        self._redactor = redactor
        self._late = late
        self._views = views
        self._locks = Locks()
        self._tails: set[asyncio.Task[None]] = set()
        self.health = Health(clock=world.clock)
        self._apart = Health(clock=world.clock)

    def execute(self, operation: Operation, claim: Claim, flight: Flight) -> Coroutine[object, object, Outcome]:
        """What came of it. Total but for cancellation."""
        spec = operation.tool.spec
        if spec.effect.is_effect or spec.secrets or spec.locks or spec.concurrency or flight.rest is not None:
            return self._prepared(operation, claim, flight)
        invocation = Invocation(
            operation, claim.operation_id, operation.key or "", claim.fence, flight.deadline_s, NO_SECRETS
        )
        return self._attempt(invocation, claim, flight, held=None)

    async def _prepared(self, operation: Operation, claim: Claim, flight: Flight) -> Outcome:
        """The same for what needs more than its arguments: credentials, locks, a place, what is known of a part."""
        spec = operation.tool.spec
        secrets = NO_SECRETS
        if spec.secrets:
            found = await self.credentials(operation, flight)
            if isinstance(found, Failed):
                return found
            secrets = found
        invocation = Invocation(
            operation, claim.operation_id, operation.key or "", claim.fence, flight.deadline_s, secrets
        )
        if flight.rest is not None:
            invocation = replace(invocation, open_items=from_bytes(flight.rest).open_items)
        names = lock_names(operation) if spec.effect.is_effect or spec.locks else ()
        slot = (f"{spec.tenant}\x1f{spec.name}", spec.concurrency) if spec.concurrency else None
        if not names and slot is None:
            return await self._attempt(invocation, claim, flight, held=None)
        held = await self._locks.acquire(names, until_s=flight.deadline_s, slot=slot)
        if held is None:
            return Failed(Code.DEADLINE_EXCEEDED, "What it must not run beside was busy.", nothing_happened=True)
        return await self._attempt(invocation, claim, flight, held=held)

    async def look_up(self, operation: Operation, claim: Claim, flight: Flight) -> Outcome | None:
        """What the tool's `reconcile` says of an operation whose outcome was lost; None: it cannot tell."""
        if not operation.spec.reconcile:
            return None
        secrets = await self.credentials(operation, flight) if operation.spec.secrets else NO_SECRETS
        if isinstance(secrets, Failed):
            return None
        until_s = self._world.clock.monotonic_s() + operation.spec.timeout_ms / 1000
        invocation = Invocation(operation, claim.operation_id, operation.key or "", claim.fence, until_s, secrets)
        looking = self._world.runners[operation.spec.handler.kind].reconcile(invocation)
        found = await bounded(looking, until_s=until_s)
        return None if isinstance(found, Overdue) else found

    async def close(self) -> None:
        """Forget what still runs on: its claim is settled, and its threads do not hold up the exit."""
        tails = tuple(self._tails)
        for tail in tails:
            tail.cancel()
        if tails:
            await asyncio.wait(tails)

    async def _attempt(self, invocation: Invocation, claim: Claim, flight: Flight, *, held: Held | None) -> Outcome:
        """All attempts; locks go back when the work has really ended."""
        tail: Awaitable[Outcome] | None = None
        try:
            runner, lease = self._world.runners[invocation.operation.tool.spec.handler.kind], self._world.lease
            if lease is not None:
                seconds = outlasts_s(invocation, self._longest_s(invocation))
                refused = await not_held(lease, claim, seconds=seconds)
                if refused is not None:
                    return refused
                runner = Leased(runner, lease=lease, claim=claim, clock=self._world.clock)
            flight.dispatched = True
            attempt: Attempt = await attempt_all(
                invocation,
                runner=runner,
                clock=self._world.clock,
                entropy=self._world.entropy,
                health=self._apart if invocation.operation.caller.origin.door == SHADOW_DOOR else self.health,
            )
            tail = attempt.tail
            outcome = attempt.outcome
            return outcome if isinstance(outcome, Succeeded) else self._with_stand_in(invocation.operation, outcome)
        except asyncio.CancelledError as cancelled:
            tail = tail_of(cancelled)
            raise
        finally:
            if tail is not None:
                flight.goes_on = True
                self._keep(self._outlast(tail, invocation.operation, claim, flight=flight, held=held))
            elif held is not None:
                held.release()

    def _with_stand_in(self, operation: Operation, outcome: Outcome) -> Outcome:
        """Where the tool does not work, names what may do instead: if the caller may see that, and it works."""
        spec, view = operation.spec, self._views.current
        if not isinstance(outcome, Failed) or outcome.code is not Code.TOOL_UNAVAILABLE or not spec.fallback:
            return outcome
        other = located(spec.fallback, operation.caller.pinned(None), view.catalogue)
        if isinstance(other, Missing) or not may_stand_in(other.spec, spec) or self.health.withheld(other.spec):
            return outcome
        if other.state in CLOSED or view.visibility(other, operation.caller) is Visibility.NEVER:
            return outcome
        return replace(outcome, message=f"{outcome.message.rstrip('. ')}. {spec.fallback} may do instead.")

    def _longest_s(self, invocation: Invocation) -> float:
        """How long its first attempt may take."""
        left_s = invocation.deadline_s - self._world.clock.monotonic_s()
        return min(left_s, invocation.operation.tool.spec.timeout_ms / 1_000)

    async def _outlast(
        self, tail: Awaitable[Outcome], operation: Operation, claim: Claim, *, flight: Flight, held: Held | None
    ) -> None:
        try:
            await self._late(operation, claim, await tail, redactor=flight.redactor or self._redactor)
        except Exception as fault:  # noqa: BLE001 - nobody waits for this any more; the log is the last to hear of it
            report(log, "a late result could not be recorded", fault=fault, redactor=self._redactor)
        finally:
            if held is not None:
                held.release()

    def _keep(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tails.add(task)
        task.add_done_callback(self._tails.discard)

    async def credentials(self, operation: Operation, flight: Flight) -> Mapping[str, str] | Failed:
        """The credentials that the handler is given, known to the redactor before anything can show them."""
        names = operation.spec.secrets
        source = self._world.secrets
        try:
            async with asyncio.timeout_at(flight.deadline_s):
                found = {} if source is None else await source.fetch(names, operation.caller.principal)
        except Exception as fault:  # noqa: BLE001 - a host's source may raise anything; without credentials nothing runs
            report(log, f"credentials for {operation.spec.name} did not arrive", fault=fault, redactor=self._redactor)
            return Failed(Code.CONTEXT_MISSING, "The credentials could not be fetched.", nothing_happened=True)
        missing = [name for name in names if name not in found]
        if missing:
            return Failed(Code.CONTEXT_MISSING, f"The credential {missing[0]} is missing.", nothing_happened=True)
        try:
            flight.redactor = self._redactor.with_secrets(found.values())
        except RedactionInvalid:
            return Failed(Code.CONTEXT_MISSING, "A credential is too short to be kept secret.", nothing_happened=True)
        return found
