"""Settles claimed calls: what came of one is durable before it is told, in plain words where its own cannot be kept."""

from __future__ import annotations

import logging

from interlock.core.chain import Receipt
from interlock.core.errors import StoreError
from interlock.core.labels import NO_LABELS
from interlock.core.observation import Observation, from_bytes, released, to_bytes
from interlock.core.observe import Frame, observe, whole
from interlock.core.operation import Operation
from interlock.core.outcome import Outcome, Partial, Succeeded, Unknown
from interlock.core.redaction import Redactor
from interlock.core.settle import gone_on, plainly, repeated, settled_as, spent_on
from interlock.ports import Claim, Entry, RunNote, Settlement
from interlock.runtime.artifacts import kept_whole
from interlock.runtime.execute import Flight
from interlock.runtime.faults import report
from interlock.runtime.ongoing import Ongoing
from interlock.runtime.proposal import Claimed, Note
from interlock.runtime.queues import Queues
from interlock.runtime.records import Proposed, Records
from interlock.runtime.world import World

log = logging.getLogger("interlock.settling")


SETTLED_WITHIN_S = 60.0
"""How long a late result waits for its call to be settled, which its record comes after."""


async def ended_in_run(world: World, ending: Settlement | Entry, seen: Observation, *, note: Note) -> Receipt | None:
    """Settle or record a call, and write into its run what came of it, as it is released."""
    follows = RunNote(note.claim, lambda receipt: note.move(released(seen, receipt)))
    receipt, moved = await world.runs.settle_in_run(ending, follows)
    note.moved(moved)
    return receipt


class Settler:
    """Writes what came of executions. Owned by the gate."""

    def __init__(self, world: World, records: Records, *, queues: Queues, ongoing: Ongoing) -> None:
        self._world = world
        self._records = records
        self._queues = queues
        self._ongoing = ongoing

    async def settle(self, claimed: Claimed, outcome: Outcome, flight: Flight) -> Observation:
        """Write what came of it, then release the observation; the call is under way no more, however that ends.

        Raises only where the store cannot write at all.
        """
        allow = claimed.allow
        try:
            if allow.continues is not None:
                outcome = repeated(outcome) if allow.rest is None else gone_on(outcome, from_bytes(allow.rest))
            return await self._write(claimed, outcome, flight)
        except StoreError:
            raise
        except Exception as fault:  # noqa: BLE001 - whatever a tool handed back, its call must not stay claimed
            report(log, "what came of a call could not be put on record", fault=fault, redactor=self._records.redactor)
            return await self._write(claimed, plainly(outcome), flight)
        finally:
            self._ongoing.end(claimed.operation_id)

    async def late(
        self, operation: Operation, claim: Claim, outcome: Outcome, *, redactor: Redactor, redact: frozenset[str]
    ) -> None:
        """Record what came too late of work that went on and has ended now; the call stays as it is."""
        frame = Frame(claim.operation_id, self._world.clock.now_us(), redactor, redact)
        try:
            event = self._records.late(operation, observe(operation, outcome, frame), redact=redact)
        except Exception as fault:  # noqa: BLE001 - whatever a tool handed back, it has to be known that its work has ended
            report(log, "what came late could not be put on record", fault=fault, redactor=self._records.redactor)
            event = self._records.late(operation, observe(operation, plainly(outcome), frame), redact=redact)
        await self._world.recovery.work_ended(claim, event)

    async def _write(self, claimed: Claimed, outcome: Outcome, flight: Flight) -> Observation:
        operation, claim, clock, records = claimed.operation, claimed.claim, self._world.clock, self._records
        now_us = clock.now_us()
        spent = spent_on(operation, outcome, elapsed_ms=int((clock.monotonic_s() - claimed.started_s) * 1000))
        redactor = flight.redactor or records.redactor
        told, clean = self._told(claimed, outcome, redactor)
        frame = Frame(claim.operation_id, now_us, redactor, claimed.allow.verdict.redact, spent, clean)
        seen = observe(operation, outcome, frame)
        if seen.truncated is not None and isinstance(outcome, Succeeded | Partial):
            seen = await kept_whole(self._world, operation, seen, whole=whole(outcome, frame))
        settlement = Settlement(
            claim,
            settled_as(outcome),
            records.settled(told, claimed.allow, seen, outcome=outcome, spent=spent),
            now_us,
            to_bytes(seen) if operation.key is not None else None,
            spent,
            seen.labels or NO_LABELS,
            flight.goes_on,
        )
        if (note := claimed.note) is None:
            receipt = await self._world.calls.settle(settlement)
        else:
            receipt = await ended_in_run(self._world, settlement, seen, note=note)
        if self._queues.walkers:
            self._queues.released(claimed.taken)
        if receipt is not None:
            return released(seen, receipt)
        return await self._too_late(operation, seen, frame)

    def _told(self, claimed: Claimed, outcome: Outcome, redactor: Redactor) -> tuple[Proposed, bytes | None]:
        """What the record of the end says of the proposal; and the result, where one search of both finds nothing to
        hide in either. A call that was told of before its end is searched apart."""
        if claimed.told is not None:
            return claimed.told, None
        operation, verdict, records, clean = claimed.operation, claimed.allow.verdict, self._records, None
        if type(outcome) is Succeeded and redactor is records.redactor:
            clean = outcome.data if records.finds_nothing(operation, verdict, outcome.data) else None
        return records.proposed(operation, verdict, is_clean=clean is not None), clean

    async def _too_late(self, operation: Operation, seen: Observation, frame: Frame) -> Observation:
        """Another process has taken the call over: what came of it here is recorded, and settles nothing."""
        late = await self._world.calls.record(Entry(self._records.late(operation, seen, redact=frame.redact)))
        lost = Unknown("Another worker took this call over; its outcome is being established.")
        return released(observe(operation, lost, Frame(frame.operation_id, frame.at_us, frame.redactor)), late)
